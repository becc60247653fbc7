package counts

import (
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// standingsPerRound is how many comments of one product are looked up at once: the most that can
// fit into one transaction.
const standingsPerRound = maxItemsPerTransaction - 2

// productComment is a comment of a product.
type productComment struct {
	product string
	id      comment.ID
}

// refusals maps comments that cannot be counted to the reasons.
type refusals map[productComment]error

// workload is the standings still to be counted, by product.
type workload map[string][]standing

// add adds a standing, which replaces an earlier one of the same comment.
func (w workload) add(product string, s standing) {
	if i := slices.IndexFunc(w[product], func(there standing) bool { return there.ID == s.ID }); i >= 0 {
		earlier := w[product][i]
		if earlier.position > s.position { // from a reader that fell behind
			earlier, s = s, earlier
		}
		s.moved = s.moved || earlier.moved || !sameCell(earlier.Cell, s.Cell)
		w[product][i] = s
		return
	}
	w[product] = append(w[product], s)
}

// halves splits standings into two workloads, by product if there are several. The second is empty
// if there is only one standing.
func (w workload) halves() (first, second workload) {
	first, second = workload{}, workload{}
	products := slices.Sorted(maps.Keys(w))
	for i, product := range products {
		switch standings := w[product]; {
		case len(products) > 1 && i < len(products)/2 || len(products) == 1 && len(standings) == 1:
			first[product] = standings
		case len(products) > 1:
			second[product] = standings
		default:
			first[product], second[product] = standings[:len(standings)/2], standings[len(standings)/2:]
		}
	}
	return first, second
}

// sift checks the first standings of a product. It moves those that the ledger objects to into
// refused, and returns the others.
func (w workload) sift(l ledger, first int, refused refusals) (left []standing) {
	standings := w[l.product]
	if l.broken != nil {
		first = len(standings)
	}
	for _, s := range standings[:first] {
		if err := l.objection(s); err != nil {
			refused[productComment{l.product, s.ID}] = err
			continue
		}
		left = append(left, s)
	}
	if len(left) < first {
		w[l.product] = slices.Concat(left, standings[first:])
		w.done(l.product, 0)
	}
	return left
}

// done drops the first standings of a product.
func (w workload) done(product string, standings int) {
	if w[product] = w[product][standings:]; len(w[product]) == 0 {
		delete(w, product)
	}
}
