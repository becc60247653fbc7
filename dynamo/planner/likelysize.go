package planner

import (
	"cmp"
	"slices"

	"github.com/talkback/talkback/comment"
)

// likelySize is a number of comments, and how likely it is.
type likelySize struct{ comments, probability float64 }

// likelySizes are numbers of comments, ascending, whose probabilities have the sum 1.
type likelySizes []likelySize

// sizesOf are the numbers of comments that a product may have: about in the middle of each class of
// a Prior, or around what a Hint says.
func sizesOf(prior *Prior, hint Hint) likelySizes {
	if hint.Comments > 0 {
		return likelySizes{{hint.Comments * 0.7, 0.3}, {hint.Comments, 0.4}, {hint.Comments * 1.4, 0.3}}
	}
	out := make(likelySizes, 0, SizeClasses)
	least := 1
	for i, share := range prior.Products {
		most := 2 * least
		if i < len(SizeBounds) {
			most = SizeBounds[i]
		}
		if share > 0 {
			out = append(out, likelySize{float64(least+most) / 2, share})
		}
		least = most + 1
	}
	return out
}

// toRead are the numbers of comments that there may be left to read for a request, if the list has
// such a share of the product, and the partition of a sample another. A stretch behind a cursor, and
// one within a range of dates, may be any part of the product.
func (l likelySizes) toRead(r Request, filter comment.Filter, share, sampled float64) likelySizes {
	if before := r.before(); before > 0 {
		l = l.above(float64(before) / max(share, 0.1)) // of a smaller share, more is likely to be in the list
	}
	if r.partial(filter) {
		l = l.parts()
	}
	if r.Sample != nil {
		l = l.after(float64(r.Sample.scanned) / sampled)
	}
	return l.normal()
}

// after are what is left of the sizes after so many comments.
func (l likelySizes) after(read float64) likelySizes {
	l = l.above(read)
	for i := range l {
		l[i].comments -= read
	}
	return l
}

// above are those sizes that are above a number; if there are none, twice that number.
func (l likelySizes) above(least float64) likelySizes {
	out := make(likelySizes, 0, len(l))
	for _, size := range l {
		if size.comments > least {
			out = append(out, size)
		}
	}
	if len(out) == 0 {
		return likelySizes{{2*least + 1, 1}}
	}
	return out
}

// parts are the sizes of parts: a quarter of each size, or three quarters.
func (l likelySizes) parts() likelySizes {
	out := make(likelySizes, 0, 2*len(l))
	for _, size := range l {
		out = append(out, likelySize{size.comments / 4, size.probability / 2}, likelySize{size.comments * 3 / 4, size.probability / 2})
	}
	slices.SortFunc(out, func(a, b likelySize) int { return cmp.Compare(a.comments, b.comments) })
	return out
}

// normal makes the probabilities add up to 1.
func (l likelySizes) normal() likelySizes {
	total := 0.0
	for _, size := range l {
		total += size.probability
	}
	for i := range l {
		l[i].probability /= total
	}
	return l
}
