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

// toRead are the numbers of comments that there may be left to read for a request, if the list has
// such a share of the product, and the partition of a sample another. A stretch behind a cursor, and
// one within a range of dates, may be any part of the product.
func (l likelySizes) toRead(r Request, filter comment.Filter, share, sampled float64) likelySizes {
	l = slices.Clone(l)
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
