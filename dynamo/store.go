package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
)

// Cures for those whose question met its bound.
const (
	pageCure  = "these comments are large: ask for a smaller page, or for fewer languages and ratings"
	countCure = "choose a shorter range of dates, or leave out totalCount and stats"
)

// client is the part of the SDK's client that a Store works with.
type client interface {
	call.Querier
	call.BatchGetter
	dynamodb.DescribeTableAPIClient
	writer
}

// Store answers questions about comments from one table. It is safe for use by many goroutines.
type Store struct {
	// Reader reads statistics and leaderboards of the same table.
	*counts.Reader

	client client
	table  string
	now    func() time.Time
	memory *memory // of statistics; nil before UseStatistics
	sizes  *sizes
	recent *recent // pages, by what they held
	// attempts are those that were given up lately.
	attempts *attempts
	// changes are those of products that this Store wrote, or was told of.
	changes *changes
	// moves are comments that edits moved between partitions.
	moves *moves
	// flights are the pages that are being read.
	flights flights
	// pages are those kept for a moment; nil for none.
	pages *pages
	// improper is told of items that reads pass over; nil for nobody.
	improper *layout.Reporter
}

// NewStore makes a store of a table, which must be as Definition says.
func NewStore(client client, table string) *Store {
	s := &Store{
		Reader: counts.NewReader(client, table), client: client, table: table, now: time.Now,
		sizes: newSizes(), recent: newRecent(), attempts: newAttempts(), changes: newChanges(), moves: newMoves(),
	}
	s.Reader.OnRead(func(product string, stats comment.Stats) { s.memory.shown(product, stats) })
	return s
}

// Comments returns one page of the comments of a product, and counts the whole list beside if the question wants it. Its
// filter must be normalized. The page is full while comments remain, and both HasNext and HasPrevious are exact. Reads are
// eventually consistent, as all reads of an index are. A count that fails leaves the page as it is. The page may be shared
// with others who asked for the same at the same time, and must not be changed.
func (s *Store) Comments(ctx context.Context, q comment.Query) (comment.Page, error) {
	page, err := s.shared(ctx, q)
	if err != nil {
		return comment.Page{}, err
	}
	return s.expanded(ctx, page)
}

// shared is a page as it is kept, or read by others, or read, its texts compressed still.
func (s *Store) shared(ctx context.Context, q comment.Query) (comment.Page, error) {
	if page, found := s.pages.find(q, s.changes.last(q.Product)); found {
		return page, nil
	}
	return s.flights.join(ctx, flightKeyOf(q, s.changes.number(q.Product)), func(ctx context.Context) (comment.Page, error) {
		began := s.now() // not before: whoever joins a read gets what is as old as the read
		known := s.memory.recall(q)
		known.Sizes = s.sizes.of(q.Product)
		page, err := s.answer(ctx, q, known)
		if err == nil {
			s.pages.keep(q, page, began)
		}
		return page, err
	})
}

// expanded is a page with its texts, which count as held by the caller's operation. The shared page stays compressed.
// Comments whose texts are damaged are left out.
func (s *Store) expanded(ctx context.Context, page comment.Page) (comment.Page, error) {
	if page.Packed == nil {
		return page, nil
	}
	comments := make([]comment.Comment, 0, len(page.Comments))
	for _, c := range page.Comments {
		c, err := layout.Packed{Comment: c, PackedText: page.Packed[c.ID]}.Expand()
		if err != nil {
			s.improper.Report(layout.NewImproper(layout.CommentKey(c.ID), err.Error()))
			continue
		}
		if err := usage.From(ctx).Hold(len(c.Text)); err != nil {
			return comment.Page{}, err
		}
		comments = append(comments, c)
	}
	page.Comments, page.Packed = comments, nil
	return page, nil
}

// answer answers a question, of whose product so much is known.
func (s *Store) answer(ctx context.Context, q comment.Query, known planner.Known) (comment.Page, error) {
	began := s.now()
	p := planner.Planner{Product: q.Product, Filter: q.Filter, Known: known}
	var page comment.Page
	var runs []*run
	var counted comment.Counted
	var counting *run
	jobs := []func(context.Context) error{func(ctx context.Context) (err error) {
		page, runs, err = s.page(ctx, p, q)
		return err
	}}
	if q.Count != comment.CountNothing {
		jobs = append(jobs, func(ctx context.Context) error {
			counted, counting = tallied(ctx, s.client, s.table, p.Count(q.Count), capacity.NewMeter(planner.CountEstimate(q), countCure))
			return nil
		})
	}
	err := call.Parallel(ctx, len(jobs), func(ctx context.Context, i int) error { return jobs[i](ctx) })
	if err != nil {
		return comment.Page{}, err
	}
	if counting != nil {
		counted.Err = call.Wrap(counted.Err, "count of comments of product %q", q.Product)
		page.Counted = &counted
		runs = append(runs, counting)
	}
	page.Plan = explain(runs, len(page.Comments))
	page.Plan.Duration = s.now().Sub(began)
	return page, nil
}

// page reads a page, and whether there is more around it.
func (s *Store) page(ctx context.Context, p planner.Planner, q comment.Query) (comment.Page, []*run, error) {
	list := q
	list.Filter = s.settled(q)
	p.Filter = list.Filter
	w := planner.WindowOf(list)
	m := capacity.NewMeter(planner.PageEstimate(q), pageCure)
	request := planner.Request{Window: w, Purpose: comment.ReadPage, Want: w.Want(q.Slice.Size), WithoutText: q.WithoutText, Last: s.recent.of(q)}
	taken, runs, err := s.take(ctx, p, request, attemptFactor*m.Estimate, m)
	if err != nil {
		return comment.Page{}, nil, call.Wrap(err, "comments of product %q", q.Product)
	}
	first := runs[len(runs)-1]
	s.noteImproper(first)
	s.sizes.learn(q.Product, first.sizes())
	s.recent.learn(q, first, taken)
	shown, around := w.Cut(taken, q.Slice.Size)
	probes, err := s.probe(ctx, p, w, &around, m)
	if err != nil {
		return comment.Page{}, nil, call.Wrap(err, "neighbours of a page of product %q", q.Product)
	}
	page := makePage(q, shown, around)
	page.Packed = first.packedOf(page.Comments)
	return page, append(runs, probes...), nil
}

// take reads as the planner thinks best and, where that would cost more than an attempt may, from the partitions that hold
// nothing else; from these at once, if such an attempt was given up lately. attempt is what an attempt may cost, in read
// units. The last of the runs is the one that succeeded.
func (s *Store) take(ctx context.Context, p planner.Planner, of planner.Request, attempt float64, m *capacity.Meter) ([]comment.Comment, []*run, error) {
	var runs []*run
	try := func(plan planner.Plan, most float64) ([]comment.Comment, error) {
		r := newRun(s.client, s.table, plan)
		r.meter, r.most = m, most
		runs = append(runs, r)
		return r.take(ctx)
	}
	plan, most := p.Take(of), 0.0
	var key attemptKey
	if plan.Residual() {
		plan, most, key = plan.LimitedTo(attempt), attempt, attemptKeyOf(p, of.Purpose)
		if s.attempts.failedLately(key) {
			plan, most = p.Narrow(of), 0
		}
	}
	taken, err := try(plan, most)
	if errors.Is(err, capacity.ErrBound) {
		s.attempts.fail(key)
		taken, err = try(p.Narrow(of), 0)
	}
	if err == nil {
		taken, err = s.withMoved(ctx, runs[len(runs)-1], taken, p.Filter)
	}
	return taken, runs, err
}

// settled is the filter of a question, without comments that are too young for it.
func (s *Store) settled(q comment.Query) comment.Filter {
	filter := q.Filter
	if end := s.now().Add(-comment.SettleTime); q.SettledOnly && (filter.CreatedBefore == nil || end.Before(*filter.CreatedBefore)) {
		filter.CreatedBefore = &end
	}
	return filter
}

// probe settles what is unknown of the neighbours: it looks for one comment beyond each cursor whose own comment did not
// come along.
func (s *Store) probe(ctx context.Context, p planner.Planner, w planner.Window, around *planner.Neighbours, m *capacity.Meter) ([]*run, error) {
	var windows []planner.Window
	var answers []*planner.Answer
	add := func(known *planner.Answer, beyond func(comment.Filter) planner.Window) {
		if *known == planner.Unknown {
			windows = append(windows, beyond(p.Filter))
			answers = append(answers, known)
		}
	}
	add(&around.Behind, w.Behind)
	add(&around.Ahead, w.Ahead)

	runs := make([][]*run, len(windows))
	err := call.Parallel(ctx, len(windows), func(ctx context.Context, i int) (err error) {
		var found []comment.Comment
		request := planner.Request{Window: windows[i], Purpose: comment.ReadProbe, Want: 1, WithoutText: true}
		found, runs[i], err = s.take(ctx, p, request, planner.NarrowUnits(p.Filter, 1), m)
		*answers[i] = planner.No
		if len(found) > 0 {
			*answers[i] = planner.Yes
		}
		return err
	})
	return slices.Concat(runs...), err
}

// makePage turns what was read, in the direction of reading, into a page in the order of the list.
func makePage(q comment.Query, shown []comment.Comment, around planner.Neighbours) comment.Page {
	page := comment.Page{
		Comments:    shown,
		HasNext:     around.Ahead == planner.Yes,
		HasPrevious: around.Behind == planner.Yes,
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

// attemptFactor is how many times its estimate an attempt may cost.
const attemptFactor = 2

// OnImproper has each item that a list or a leaderboard passes over told of once, while they are not too many. It is to be
// called before the first query.
func (s *Store) OnImproper(tell func(layout.Improper)) {
	s.improper = layout.NewReporter(tell)
	s.Reader.OnImproper(tell)
}

// noteImproper notes what a run passed over.
func (s *Store) noteImproper(r *run) {
	for i := range r.reads {
		s.improper.Report(r.reads[i].improper...)
	}
}
