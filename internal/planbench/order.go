package planbench

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// inOrder does a work for each product, some at the same time, and hands over the results in the
// order of the products.
func inOrder[T any](ctx context.Context, products [][]comment.Comment, work func(i int, comments []comment.Comment) (T, error), done func(T)) error {
	atOnce := runtime.GOMAXPROCS(0)
	for first := 0; first < len(products) && ctx.Err() == nil; first += atOnce {
		batch := products[first:min(first+atOnce, len(products))]
		results := make([]T, len(batch))
		var group errgroup.Group
		for i, comments := range batch {
			group.Go(func() (err error) {
				results[i], err = work(first+i, comments)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, result := range results {
			done(result)
		}
	}
	return ctx.Err()
}
