package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/usage"
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
	// Reader reads statistics and leaderboards of the same table.
	*Reader

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
	improper *noted
}

// NewStore makes a store of a table, which must be as Definition says.
func NewStore(client client, table string) *Store {
	s := &Store{
		Reader: NewReader(client, table), client: client, table: table, now: time.Now,
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
		c, err := listed{Comment: c, packed: page.Packed[c.ID]}.expand()
		if err != nil {
			s.improper.note(improper(commentKey(c.ID), err.Error()))
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
func (s *Store) answer(ctx context.Context, q comment.Query, known Known) (comment.Page, error) {
	began := s.now()
	p := planner{product: q.Product, filter: q.Filter, known: known}
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
			counted, counting = tallied(ctx, s.client, s.table, p.count(q.Count), newMeter(countEstimate(q), countCure))
			return nil
		})
	}
	err := together(ctx, len(jobs), func(ctx context.Context, i int) error { return jobs[i](ctx) })
	if err != nil {
		return comment.Page{}, err
	}
	if counting != nil {
		counted.Err = wrap(counted.Err, "count of comments of product %q", q.Product)
		page.Counted = &counted
		runs = append(runs, counting)
	}
	page.Plan = explain(runs, len(page.Comments))
	page.Plan.Duration = s.now().Sub(began)
	return page, nil
}

// page reads a page, and whether there is more around it.
func (s *Store) page(ctx context.Context, p planner, q comment.Query) (comment.Page, []*run, error) {
	list := q
	list.Filter = s.settled(q)
	p.filter = list.Filter
	w := windowOf(list)
	p.before = s.recent.of(q)
	m := newMeter(pageEstimate(q), pageCure)
	read := reading{window: w, purpose: comment.ReadPage, want: w.want(q.Slice.Size), withoutText: q.WithoutText, attempt: attemptFactor * m.estimate}
	taken, runs, err := s.take(ctx, p, read, m)
	if err != nil {
		return comment.Page{}, nil, wrap(err, "comments of product %q", q.Product)
	}
	first := runs[len(runs)-1]
	s.noteImproper(first)
	s.sizes.learn(q.Product, first.sizes())
	s.recent.learn(q, first, taken)
	p.before = nil
	shown, around := w.cut(taken, q.Slice.Size)
	probes, err := s.probe(ctx, p, w, &around, m)
	if err != nil {
		return comment.Page{}, nil, wrap(err, "neighbours of a page of product %q", q.Product)
	}
	page := makePage(q, shown, around)
	page.Packed = first.packedOf(page.Comments)
	return page, append(runs, probes...), nil
}

// reading is what is to be read of a list.
type reading struct {
	window      window
	purpose     comment.ReadPurpose
	want        int
	withoutText bool
	attempt     float64 // what an attempt may cost, in read units
}

// take reads as the planner thinks best and, where that would cost more than an attempt may, from the partitions that hold
// nothing else; from these at once, if such an attempt was given up lately. The last of the runs is the one that succeeded.
func (s *Store) take(ctx context.Context, p planner, of reading, m *meter) ([]comment.Comment, []*run, error) {
	var runs []*run
	try := func(plan Plan, most float64) ([]comment.Comment, error) {
		plan.WithoutText = of.withoutText
		r := newRun(s.client, s.table, plan)
		r.meter, r.most = m, most
		runs = append(runs, r)
		return r.take(ctx)
	}
	plan, most := p.take(of.window, of.purpose, of.want), 0.0
	var key attemptKey
	if plan.residual() {
		plan, most, key = plan.limitedTo(of.attempt), of.attempt, attemptKeyOf(p, of.purpose)
		if s.attempts.failedLately(key) {
			plan, most = p.narrow(of.window, of.purpose, of.want), 0
		}
	}
	taken, err := try(plan, most)
	if errors.Is(err, errBound) {
		s.attempts.fail(key)
		taken, err = try(p.narrow(of.window, of.purpose, of.want), 0)
	}
	if err == nil {
		taken, err = s.withMoved(ctx, runs[len(runs)-1], taken, p.filter)
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
func (s *Store) probe(ctx context.Context, p planner, w window, around *neighbours, m *meter) ([]*run, error) {
	var windows []window
	var answers []*knowledge
	add := func(known *knowledge, beyond func(comment.Filter) window) {
		if *known == unknown {
			windows = append(windows, beyond(p.filter))
			answers = append(answers, known)
		}
	}
	add(&around.behind, w.behind)
	add(&around.ahead, w.ahead)

	runs := make([][]*run, len(windows))
	err := together(ctx, len(windows), func(ctx context.Context, i int) (err error) {
		var found []comment.Comment
		read := reading{window: windows[i], purpose: comment.ReadProbe, want: 1, withoutText: true, attempt: narrowUnits(p.filter, 1)}
		found, runs[i], err = s.take(ctx, p, read, m)
		*answers[i] = no
		if len(found) > 0 {
			*answers[i] = yes
		}
		return err
	})
	return slices.Concat(runs...), err
}

// makePage turns what was read, in the direction of reading, into a page in the order of the list.
func makePage(q comment.Query, shown []comment.Comment, around neighbours) comment.Page {
	page := comment.Page{
		Comments:    shown,
		HasNext:     around.ahead == yes,
		HasPrevious: around.behind == yes,
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
func (s *Store) OnImproper(tell func(Improper)) {
	s.improper = newNoted(tell)
	s.Reader.OnImproper(tell)
}

// noteImproper notes what a run passed over.
func (s *Store) noteImproper(r *run) {
	for i := range r.reads {
		s.improper.note(r.reads[i].improper...)
	}
}
