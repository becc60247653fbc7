package planbench

import (
	"context"
	"hash/fnv"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// MeasureSet adds to a summary the pages of all products of a set, and the pages of walks through
// their lists.
func MeasureSet(ctx context.Context, products [][]comment.Comment, summary *Summary) error {
	set, atOnce := SetOf(products), runtime.GOMAXPROCS(0)
	for first := 0; first < len(products) && ctx.Err() == nil; first += atOnce {
		batch := products[first:min(first+atOnce, len(products))]
		walks := make([][][]Row, len(batch))
		var group errgroup.Group
		for i, comments := range batch {
			group.Go(func() (err error) {
				walks[i], err = measureAll(ctx, comments)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, rows := range slices.Concat(walks...) { // in the order of the products
			summary.Add(set, rows)
		}
	}
	return ctx.Err()
}

// SetOf returns the set of products with the given comments: one slice for each.
func SetOf(products [][]comment.Comment) Set {
	set := Set{Products: len(products)}
	for _, comments := range products {
		set.Comments += len(comments)
	}
	return set
}

// measureAll returns the pages of one product, for each walk.
func measureAll(ctx context.Context, comments []comment.Comment) ([][]Row, error) {
	p, err := NewProduct(comments)
	if err != nil {
		return nil, err
	}
	rows, err := p.measureAll(ctx, p.visits(PageSize), everyWay...)
	if err != nil {
		return nil, err
	}
	walk, err := p.measureAll(ctx, p.walks(PageSize), Narrowest, Cold, Planned)
	out := [][]Row{rows, walk}
	for walk := HighestRated; walk <= RareTrait && err == nil; walk++ {
		if p, err = forWalk(walk, comments); err == nil {
			var visits []visit // of all comments, and of some languages
			for _, languages := range p.languageSets() {
				filter := comment.Filter{Languages: languages}
				if verifiedOf[walk] > 0 {
					filter.Verified = new(true)
				}
				visits = append(visits, p.visitsOf(walk, filter, PageSize)...)
			}
			rows, err = p.measureAll(ctx, visits, Cold, Planned)
			out = append(out, rows)
		}
	}
	return out, err
}

// votedOf is the number of comments in a thousand with votes, for the walk MostHelpful.
const votedOf = 30

// verifiedOf has the number of verified comments in a thousand, for walks through lists of these.
var verifiedOf = map[Walk]int{CommonTrait: 800, RareTrait: 5}

// forWalk returns the product of comments for a walk through lists in another order, or through
// lists restricted to a trait.
func forWalk(walk Walk, comments []comment.Comment) (*Product, error) {
	comments = slices.Clone(comments)
	for i := range comments {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(comments[i].ID)) // Write of a hash never fails
		chance := hash.Sum32()
		comments[i].Verified = int(chance%1000) < verifiedOf[walk]
		if walk == MostHelpful && chance%1000 < votedOf {
			comments[i].Votes = comment.VoteCounts{Helpful: 1 + int(chance/1000%50), NotHelpful: int(chance / 50_000 % 10)}
			comments[i].ImportedVotes = comments[i].Votes
		}
	}
	return NewProduct(comments)
}
