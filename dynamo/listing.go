package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// listing reads one page of a list: it plans, executes, cuts what was taken to the page, and probes
// for what lies beyond.
type listing struct {
	store   *Store
	query   comment.Query
	key     queryKey
	planner planner.Planner
	window  planner.Window
	size    int           // how many comments the page shows at most
	fromEnd bool          // whether the page is read backwards
	skipped int           // how many comments were read before the page
	meter   *layout.Meter // of the page and its probes together

	execution execution
	page      sharedPage
}

// pageCure is what to ask for instead of a page that met its bound.
const pageCure = "these comments are large: ask for a smaller page, or for fewer languages and ratings"

// begin sets the page that is to be read.
func (l *listing) begin(s *Store, q comment.Query, key queryKey, known planner.Knowledge) {
	l.store, l.query, l.key = s, q, key
	l.size, l.fromEnd = q.Slice.Size, q.Slice.FromEnd
	l.meter = layout.NewMeter(planner.PageEstimate(q), pageCure)
	q.Filter = s.settled(q)
	l.window = planner.WindowOf(q)
	l.planner.Product, l.planner.Filter, l.planner.Known = q.Product, q.Filter, known
}

// settled is the filter of a query. For a query of settled comments it leaves out those that are
// too young.
func (s *Store) settled(q comment.Query) comment.Filter {
	filter := q.Filter
	if !q.SettledOnly {
		return filter
	}
	if end := s.now().Add(-comment.SettleTime); filter.CreatedBefore == nil || end.Before(*filter.CreatedBefore) {
		filter.CreatedBefore = &end
	}
	return filter
}

// moveTo reads a slice instead of the one that the query names. It leaves out the first skip
// comments.
func (l *listing) moveTo(slice comment.Slice, skip int) {
	q := comment.Query{Product: l.query.Product, Filter: l.planner.Filter, Order: l.query.Order, Slice: slice}
	l.window = planner.WindowOf(q).Skipping(skip)
	l.size, l.fromEnd = slice.Size, slice.FromEnd
}

// read makes the page: it takes comments in the direction of reading, cuts them to the page, and
// probes at each end of it where they do not tell whether there are more.
func (l *listing) read(ctx context.Context) error {
	taken, ended, err := l.skipApart(ctx)
	size := 0
	if err == nil && !ended {
		size = l.size
		taken, l.execution.page, err = l.execute(ctx, attemptFactor*l.meter.Estimate, planner.Request{
			Window: l.window, Purpose: comment.ReadPage, Want: l.want(), Skip: l.window.Skip(), WithoutText: l.query.WithoutText,
			Last: l.store.recent.of(l.key),
		})
	}
	if err != nil {
		return call.Wrap(err, "comments of product %q", l.query.Product)
	}
	if !ended {
		l.skipped += min(l.window.Skip(), len(taken))
		l.learn(taken)
	}
	shown, around := l.window.Cut(taken, size)
	if around.Behind == planner.Unknown || around.Ahead == planner.Unknown {
		if around, err = l.probe(ctx, around); err != nil {
			return call.Wrap(err, "neighbours of a page of product %q", l.query.Product)
		}
	}
	l.page = makePage(l.fromEnd, shown, around)
	return nil
}

// skipApart reads the comments before the page without their texts if that costs less, and moves
// the window behind them. It reports whether the list ended before the page, and what there was of
// it.
func (l *listing) skipApart(ctx context.Context) (past []layout.Compressed, ended bool, err error) {
	if !planner.SkipApart(l.window.Skip(), l.planner.Known.Sizes) {
		return nil, false, nil
	}
	past, l.execution.skip, err = l.execute(ctx, planner.SkipUnits(l.query)/2, planner.Request{
		Window: l.window, Purpose: comment.ReadSkip, Want: l.window.WantSkipped(), Skip: l.window.WantSkipped(), WithoutText: true,
	})
	if err != nil {
		return nil, false, err
	}
	l.store.malformed.Report(l.execution.skip.improper()...)
	l.skipped = min(l.window.Skip(), len(past))
	behind, found := l.window.LastSkipped(past)
	if !found {
		return past, true, nil
	}
	l.window = l.window.From(behind)
	return nil, false, nil
}

// learn remembers what the page held and how large its comments are, and reports its malformed items.
func (l *listing) learn(taken []layout.Compressed) {
	r := l.execution.page
	l.store.malformed.Report(r.improper()...)
	l.store.sizes.learn(l.query.Product, r.sizes())
	if len(taken) > 0 && l.key.remembers() {
		l.store.recent.learn(l.key, r.held(taken), r.fromNewest(), taken)
	}
}

// want is how many comments to take for the page: the one beyond it only if it matters.
func (l *listing) want() int {
	if l.query.WithoutNeighbours {
		return max(0, l.window.Want(l.size)-1)
	}
	return l.window.Want(l.size)
}

// probe looks for one comment beyond each end of the page at which the page does not tell whether
// there are more.
func (l *listing) probe(ctx context.Context, around planner.Neighbours) (planner.Neighbours, error) {
	var windows []planner.Window
	var answers []*planner.Answer
	if around.Behind == planner.Unknown {
		windows, answers = append(windows, l.window.Behind(l.planner.Filter)), append(answers, &around.Behind)
	}
	if around.Ahead == planner.Unknown {
		windows, answers = append(windows, l.window.Ahead(l.planner.Filter)), append(answers, &around.Ahead)
	}
	l.execution.probes = make([]*run, len(windows))
	err := call.Parallel(ctx, len(windows), func(ctx context.Context, i int) error {
		found, r, err := l.execute(ctx, planner.NarrowUnits(l.planner.Filter, 1), planner.Request{
			Window: windows[i], Purpose: comment.ReadProbe, Want: 1, WithoutText: true,
		})
		l.execution.probes[i], *answers[i] = r, planner.AnswerOf(len(found) > 0)
		return err
	})
	return around, err
}

// attemptFactor is how many times the estimate of a page an attempt may cost.
const attemptFactor = 2

// execute takes comments by the best plan, and adds those that edits moved meanwhile. Reads with a
// residual filter are an attempt: once they would cost more than attemptUnits, or when such an attempt
// was given up lately, narrow plans read the rest.
func (l *listing) execute(ctx context.Context, attemptUnits float64, request planner.Request) (taken []layout.Compressed, r *run, err error) {
	attempt := l.key.attempt(request.Purpose)
	if l.store.attempts.failedLately(attempt) {
		attemptUnits = 0
	}
	r = l.store.newRun(ctx, l.meter, l.planner.Attempt(request, attemptUnits))
	r.most = attemptUnits
	r.meanwhile = func(known planner.Knowledge) planner.Knowledge { return l.store.knowledgeMeanwhile(l.query, known) }
	taken, err = r.take(ctx)
	if r.failed {
		l.store.attempts.fail(attempt)
	}
	if err == nil {
		taken, err = l.store.withMoved(ctx, r, l.planner.Filter, taken)
	}
	r.skip(taken) // not before: what is added may push comments out of those left out
	return taken, r, err
}

// makePage puts what was read, in the direction of reading, into the order of the list.
func makePage(fromEnd bool, shown []layout.Compressed, around planner.Neighbours) sharedPage {
	page := sharedPage{comments: shown}
	page.HasNext, page.HasPrevious = around.Ahead == planner.Yes, around.Behind == planner.Yes
	if fromEnd {
		slices.Reverse(page.comments)
		page.HasNext, page.HasPrevious = page.HasPrevious, page.HasNext
	}
	return page
}

// withMoved adds comments of the filter that moved between partitions while a run read them.
func (s *Store) withMoved(ctx context.Context, r *run, filter comment.Filter, taken []layout.Compressed) ([]layout.Compressed, error) {
	moved := s.moves.of(r.plan.Product, s.now())
	if len(moved) == 0 {
		return taken, nil
	}
	absent := missing(r.plan, r.readAt, moved, filter, taken)
	if len(absent) == 0 {
		return taken, nil
	}
	found, err := s.fetchByID(ctx, r, absent[:min(len(absent), maxLookups)])
	if err != nil {
		return nil, call.Wrap(err, "comments that were just edited")
	}
	found = slices.DeleteFunc(found, func(c layout.Compressed) bool { return !filter.Allows(c.Comment) })
	taken = append(taken, found...)
	slices.SortFunc(taken, func(a, b layout.Compressed) int { return r.compare(&a, &b) })
	return taken[:min(len(taken), r.plan.Want)], nil
}

// fetchByID fetches comments by their positions, consistently. Those that are in no list are left
// out.
func (s *Store) fetchByID(ctx context.Context, r *run, positions []comment.Position) ([]layout.Compressed, error) {
	r.waves++
	keys := make([]layout.Item, len(positions))
	for i, position := range positions {
		keys[i] = layout.CommentKey(comment.IDOf(position))
	}
	got, err := call.GetItems(ctx, s.client, s.table, types.KeysAndAttributes{
		Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(projectionOf(r.plan) + "," + layout.AttrAll),
	})
	if err != nil {
		return nil, call.Wrap(err, "BatchGetItem of %d comments", len(keys))
	}
	if len(got.Left) > 0 {
		return nil, call.ErrBusy
	}
	r.fetches = fetches{keys: len(keys), calls: got.Calls, items: len(got.Items), units: got.Units}
	return r.decode(slices.DeleteFunc(got.Items, func(it layout.Item) bool { return !layout.Listed(it) }), new(read))
}
