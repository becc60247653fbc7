package prior

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// Size is how large comments of a product are that were read: their number, the sum of their sizes
// in bytes as entries of an index, and the sum of the squares.
type Size struct{ Count, Sum, Squares float64 }

// Sizes are sizes of comments: at 0 of any rating, then of each rating.
type Sizes [1 + comment.MaxRating]Size

// lengths are how large comments of all products are: at 0 of any rating, then of each rating.
type lengths [1 + comment.MaxRating]length

// length is sums over products, each of at most one vote.
type length struct {
	// Votes is the sum of the votes, Mean that of votes times mean sizes, Square that of votes times
	// mean squares.
	Votes  float64 `json:"votes"`
	Mean   float64 `json:"mean"`
	Square float64 `json:"square"`
}

// A product whose comments are smaller or larger on average votes as if they were so large. Larger
// ones are rare, and one of 300 KB would outweigh a thousand others.
const (
	leastMean = 64
	mostMean  = 4096
)

// vote adds the vote of a product whose comments are so large. voted is as in mixture.vote.
func (l *lengths) vote(sizes Sizes, voted *int) {
	comments := min(int(sizes[0].Count), fullVote)
	if comments <= *voted {
		return
	}
	part := float64(comments-*voted) / float64(comments)
	*voted = comments
	for i, size := range sizes {
		if size.Count > 0 {
			mean := min(max(size.Sum/size.Count, leastMean), mostMean)
			square := min(max(size.Squares/size.Count, mean*mean), 2*mostMean*mostMean)
			l[i] = l[i].plus(length{1, mean, square}.scaled(part * min(size.Count, fullVote) / fullVote))
		}
	}
}

// size returns the mean and the deviation, zero without votes.
func (l length) size() planner.ItemSize {
	if l.Votes == 0 {
		return planner.ItemSize{}
	}
	mean := l.Mean / l.Votes
	return planner.ItemSize{Mean: mean, Deviation: math.Sqrt(max(0, l.Square/l.Votes-mean*mean))}
}

// lengthOf returns what so many products would show whose comments are so large.
func lengthOf(size planner.ItemSize, products float64) length {
	return length{1, size.Mean, size.Mean*size.Mean + size.Deviation*size.Deviation}.scaled(products)
}

func (l lengths) plus(other lengths) lengths {
	for i := range l {
		l[i] = l[i].plus(other[i])
	}
	return l
}

func (l length) plus(other length) length {
	return length{l.Votes + other.Votes, l.Mean + other.Mean, l.Square + other.Square}
}

func (l length) scaled(by float64) length {
	return length{l.Votes * by, l.Mean * by, l.Square * by}
}
