package dynamo

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
)

// What a read is expected to cost, by what is believed of a product. Believing wrongly costs reads, never comments.

// census is what a planner believes of a product.
type census struct {
	// stats are its counts, nil when nobody knows.
	stats comment.Stats
	// size is that of an item of an index.
	size itemSize
}

// itemSize is how large the items of an index are, in bytes.
type itemSize struct{ mean, deviation float64 }

// unknownSize is that of the items of a product of which none was read: 200 bytes of keys and short attributes, and a text
// of some 50 words.
var unknownSize = itemSize{mean: 512, deviation: 256}

// confidence is by how many standard deviations a first read is larger than expected, so that 97 of 100 reads suffice.
// Less saves items and costs further rounds; TestPlansAgainstForesight shows both.
const confidence = 1.9

// share is how a part of a cover stands to the whole list.
type share struct {
	// held is how many comments the partition holds, chosen how many of them the part is read for.
	held, chosen int
	// matches is how many comments are in the whole list.
	matches int
}

// look is how many items a first read of a part looks at, so that it most probably yields what belongs to the next want
// comments of the list: if comments of each kind lie spread evenly, those of the part that are in the list are a binomial
// sample of these, and those that are not come between them as failures do before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
func (s share) look(want int) int {
	n, matches := float64(want), float64(max(s.matches, 1))
	in, out := min(float64(s.chosen)/matches, 1), float64(s.held-s.chosen)/matches
	mean := n * (in + out)
	variance := n*in*(1-in) + n*out*(1+out)
	items := int(math.Ceil(mean + confidence*math.Sqrt(variance)))
	if s.held == s.chosen {
		items = min(items, want)
	}
	return max(items, 1)
}

// units is what looking at so many items is expected to cost, in read units.
func (s itemSize) units(items int) float64 {
	return math.Ceil(float64(items)*s.mean/unitBytes) / 2
}

// fill is how many items can be looked at for the same price, most probably: what a started unit has room for is paid for.
func (s itemSize) fill(items int) int {
	room := s.units(items) * 2 * unitBytes
	for {
		next := float64(items + 1)
		if next*s.mean+confidence*s.deviation*math.Sqrt(next) > room {
			return items
		}
		items++
	}
}

// share is what is believed of a part of a list.
func (c census) share(part Part, matches int) share {
	filter := comment.Filter{}
	if part.Index.splitsByLanguage() {
		filter.Languages = []comment.Language{part.Language}
	}
	if part.Index.splitsByRating() {
		filter.Ratings = []int{part.Rating}
	}
	held := c.stats.Counts(filter).Total()
	if part.Languages != nil {
		filter.Languages = part.Languages
	}
	if part.Ratings != nil {
		filter.Ratings = part.Ratings
	}
	return share{held: held, chosen: c.stats.Counts(filter).Total(), matches: matches}
}

// price is what the first reads of a cover are expected to cost, in read units.
func (c census) price(cover Cover, matches, want int) float64 {
	units := 0.0
	for _, part := range cover {
		units += c.size.units(c.share(part, matches).look(want))
	}
	return units
}

// cheapest is the cover with the least expected price, and of equals the one of fewest reads.
func (c census) cheapest(candidates []Candidate) Candidate {
	return slices.MinFunc(candidates, func(a, b Candidate) int {
		if a.Units != b.Units {
			if a.Units < b.Units {
				return -1
			}
			return 1
		}
		return len(a.Cover) - len(b.Cover)
	})
}
