package dynamo

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// client is the part of the SDK's client that a Store works with.
type client interface {
	querier
	itemGetter
	dynamodb.DescribeTableAPIClient
	writer
}

// Store answers questions about comments from one table. It is safe for use by many goroutines.
type Store struct {
	client client
	table  string
	choose Chooser
	now    func() time.Time
}

// NewStore makes a store of a table, which must be as Definition says.
func NewStore(client client, table string) *Store {
	return &Store{client: client, table: table, choose: chooseNarrowest, now: time.Now}
}

// Comments returns one page of the comments of a product. The question's filter must be normalized. The page is full
// while comments remain, and both HasNext and HasPrevious are exact. Reads are eventually consistent, as all reads of an
// index are.
func (s *Store) Comments(ctx context.Context, q comment.Query) (comment.Page, error) {
	w := windowOf(q)
	plan := makePlan(q.Product, q.Filter, s.choose, w, comment.ReadPage, w.want(q.Slice.Size))
	taken, page, err := execute(ctx, s.client, s.table, plan)
	if err != nil {
		return comment.Page{}, wrap(err, "comments of product %q", q.Product)
	}
	shown, around := w.cut(taken, q.Slice.Size)
	runs, err := s.probe(ctx, q, w, &around)
	if err != nil {
		return comment.Page{}, wrap(err, "neighbours of a page of product %q", q.Product)
	}
	return makePage(q, shown, around, append([]*run{page}, runs...)), nil
}

// probe settles what is unknown of the neighbours: it looks for one comment beyond each cursor whose own comment did not
// come along.
func (s *Store) probe(ctx context.Context, q comment.Query, w window, around *neighbours) ([]*run, error) {
	var plans []Plan
	var answers []*knowledge
	add := func(known *knowledge, beyond func(comment.Filter) window) {
		if *known == unknown {
			plans = append(plans, makePlan(q.Product, q.Filter, s.choose, beyond(q.Filter), comment.ReadProbe, 1))
			answers = append(answers, known)
		}
	}
	add(&around.behind, w.behind)
	add(&around.ahead, w.ahead)

	runs := make([]*run, len(plans))
	group, ctx := errgroup.WithContext(ctx)
	for i, plan := range plans {
		group.Go(recovered(func() error {
			found, r, err := execute(ctx, s.client, s.table, plan)
			runs[i], *answers[i] = r, no
			if len(found) > 0 {
				*answers[i] = yes
			}
			return err
		}))
	}
	return runs, group.Wait()
}

// makePage turns what was read, in the direction of reading, into a page in the order of the list.
func makePage(q comment.Query, shown []comment.Comment, around neighbours, runs []*run) comment.Page {
	page := comment.Page{
		Comments:    shown,
		HasNext:     around.ahead == yes,
		HasPrevious: around.behind == yes,
		Plan:        explain(runs, len(shown)),
	}
	if q.Slice.FromEnd {
		slices.Reverse(page.Comments)
		page.HasNext, page.HasPrevious = page.HasPrevious, page.HasNext
	}
	return page
}

// Ready returns an error when the table cannot be used right now.
func (s *Store) Ready(ctx context.Context) error {
	return CheckTable(ctx, s.client, s.table)
}
