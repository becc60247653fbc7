package dynamo

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// execution holds the readings that were executed for a page: those of each field in parallel, one
// field after the other.
type execution struct {
	skip   []*reading // of the comments before a page by number, if they are read apart
	page   []*reading // two for a page that is read from its middle, none if the list ends before it
	probes []*reading
}

// source is the list that a page is read from, with the meter of its cost.
type source struct {
	store   *Store
	query   comment.Query
	key     queryKey
	planner planner.Planner
	meter   *layout.Meter // adds up the cost of the page and its probes
}

// reading takes the comments of a stretch. It reads the links that the planner expects to need in
// parallel, or the whole list and sorts it in memory.
type reading struct {
	source
	stretch planner.Stretch
	request planner.Request // without the window and the Want of a single link
	units   float64         // what further attempts may cost, in read units

	steps [][]*run // the runs of a step are parallel
	links [][]*run // the runs of each link of the stretch, in its order
	all   bool     // whether the whole list was taken
}

// reading prepares to take comments of a stretch. Attempts may cost the given read units.
func (l source) reading(stretch planner.Stretch, request planner.Request, units float64) *reading {
	if len(stretch.Links) == 1 && request.Purpose == comment.ReadPage {
		request.Last = l.store.recent.of(l.key)
	}
	return &reading{source: l, stretch: stretch, request: request, units: units, links: make([][]*run, len(stretch.Links))}
}

// take takes as many comments as the request wants, in the direction of reading, or all of the
// stretch. If it takes the whole list, it may return more.
func (r *reading) take(ctx context.Context) ([]layout.Compressed, error) {
	list, chain := r.planner, r.planner.Chain(r.stretch, r.request.Want, planner.Seen{})
	for range 2 { // the first try may only sample the list
		whole, better := list.Whole(chain, r.units)
		if usedUp := whole.Units > 0 && whole.Units <= r.cost().ReadUnits; !better || usedUp || r.request.Purpose == comment.ReadProbe {
			break
		}
		seen, err := r.takeWhole(ctx, whole)
		if err != nil || r.all {
			return r.taken(), err
		}
		list.Known = r.store.knowledgeMeanwhile(r.query, list.Known)
		chain = list.Chain(r.stretch, r.request.Want, seen)
	}
	for {
		progress := make([]planner.Progress, len(r.links))
		for i, comments := range r.byLink() {
			runs := r.links[i]
			progress[i] = planner.Progress{Taken: len(comments), Ended: len(runs) > 0 && runs[len(runs)-1].ended()}
		}
		reads := chain.Next(progress)
		if len(reads) == 0 {
			return r.taken(), nil
		}
		runs := make([]*run, len(reads))
		for i, read := range reads {
			link, request := r.stretch.Links[read.Link], r.request
			request.Window, request.Want, request.Why = r.stretch.Window(link), read.Want, read.Why
			for _, earlier := range slices.Backward(r.links[read.Link]) { // begin where these ended
				if earlier.reached != nil {
					request.Window = request.Window.Past(*earlier.reached)
					break
				}
			}
			runs[i] = r.plan(ctx, link.Filter, request, r.units/float64(len(reads)))
			r.links[read.Link] = append(r.links[read.Link], runs[i])
		}
		if err := r.step(ctx, runs); err != nil {
			return nil, err
		}
	}
}

// takeWhole takes the whole list, unless it is longer than expected. Then it returns what it saw.
func (r *reading) takeWhole(ctx context.Context, whole planner.WholeRead) (seen planner.Seen, err error) {
	request := r.request
	request.Window, request.Want, request.Why = r.stretch.WholeWindow(), whole.Want, whole.Why
	one := r.plan(ctx, r.planner.Filter, request, r.units)
	one.once, one.within = whole.Once, max(0, whole.Units-r.cost().ReadUnits)
	if err := r.step(ctx, []*run{one}); err != nil {
		return seen, err
	}
	if r.all = one.ended(); r.all {
		return seen, nil
	}
	for i, c := range one.taken {
		seen.Add(c.Cell(), 1)
		if seen.Oldest = c.ID.Position(); i == 0 {
			seen.Newest = seen.Oldest
		}
	}
	dropTexts(ctx, one.taken, nil)
	one.taken, one.reached, one.stopped = nil, nil, true
	return seen, nil
}

// step executes runs in parallel. Then it adds comments that edits moved meanwhile, also between
// links.
func (r *reading) step(ctx context.Context, runs []*run) error {
	r.steps = append(r.steps, runs)
	if err := call.Parallel(ctx, len(runs), r.execute); err != nil {
		return err
	}
	for _, one := range runs {
		if one.plan.Wide() {
			r.units -= one.units()
		}
		if one.away {
			r.planner.Ranks = nil
		}
		if one.cut && !one.away {
			r.units = 0 // no other attempt
			r.planner.Sparse = one.plan.Filter.Helpful != nil && !*one.plan.Filter.Helpful
		}
	}
	for _, one := range r.runs() {
		if one.stopped || one.cut && one.reached == nil {
			continue // it is not shown, or took nothing
		}
		if err := r.store.addMoved(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// byLink returns the comments that were taken of each link, without duplicates. An edit may have
// moved a comment to another link during the reads: the later version is kept. A vote may also move
// it within a link.
func (r *reading) byLink() [][]layout.Compressed {
	if one := r.only(); one != nil {
		return [][]layout.Compressed{one.taken}
	}
	out := make([][]layout.Compressed, len(r.links))
	latest := map[comment.ID]int{}
	for i, runs := range r.links {
		for _, one := range runs {
			out[i] = append(out[i], one.taken...)
		}
		for _, c := range out[i] {
			latest[c.ID] = max(latest[c.ID], c.Version)
		}
	}
	for i := range out {
		out[i] = slices.DeleteFunc(out[i], func(c layout.Compressed) bool {
			outdated := c.Version < latest[c.ID]
			if !outdated {
				latest[c.ID] = c.Version + 1 // a later one of the same version is dropped
			}
			return outdated
		})
	}
	return out
}

// taken returns the comments that were taken, in the direction of reading.
func (r *reading) taken() []layout.Compressed {
	if r.all {
		whole := r.steps[len(r.steps)-1][0].taken
		r.stretch.Sort(whole)
		return whole
	}
	if one := r.only(); one != nil {
		return one.taken
	}
	return slices.Concat(r.byLink()...)
}

// only returns the single run of a list with one link; nil for another list.
func (r *reading) only() *run {
	if len(r.links) == 1 && len(r.links[0]) == 1 && !r.links[0][0].plan.ByVotes {
		return r.links[0][0]
	}
	return nil
}

// runs returns all runs, in the order in which they began.
func (r *reading) runs() []*run { return slices.Concat(r.steps...) }

// waves returns the number of waves that followed each other.
func (r *reading) waves() int {
	return wavesOf(r.steps, func(one *run) int { return one.waves })
}

// wavesOf adds up the waves of steps that follow each other, each of parallel parts.
func wavesOf[T any](steps [][]T, waves func(T) int) (sum int) {
	for _, step := range steps {
		most := 0
		for _, part := range step {
			most = max(most, waves(part))
		}
		sum += most
	}
	return sum
}

// cost returns the cost of the reading so far.
func (r *reading) cost() (cost pageindex.Cost) {
	for _, one := range r.runs() {
		for i := range one.reads {
			cost.Calls += one.reads[i].queries
		}
		cost.Add(one.lookups)
		cost.Calls, cost.ReadUnits = cost.Calls+one.fetches.calls, cost.ReadUnits+one.units()+one.fetches.units
	}
	cost.Waves = r.waves()
	return cost
}

// improper returns the malformed items that the runs passed over.
func (r *reading) improper() (out []layout.Improper) {
	for _, one := range r.runs() {
		for i := range one.reads {
			out = append(out, one.reads[i].improper...)
		}
	}
	return out
}

// plan returns a run of the best plan for a list. Reads with a residual filter are an attempt.
// Narrow plans read the rest once these would cost more than attemptUnits, or everything if such an
// attempt was recently given up.
func (l source) plan(ctx context.Context, filter comment.Filter, request planner.Request, attemptUnits float64) *run {
	list := l.planner
	list.Filter = filter
	attempt := l.key.attempt(request.Purpose)
	// A link has fewer ratings than the list, or a condition on votes of its own: comment.Order.Links
	// makes a new pointer for it.
	if len(filter.Ratings) != len(l.planner.Filter.Ratings) || filter.Helpful != l.planner.Filter.Helpful {
		attempt.conditions, _ = conditionsKey(filter)
	}
	if l.store.attempts.failedLately(attempt) && (!list.RanksHelp() || list.Known.Trusted) {
		attemptUnits = 0 // if ranks help and counts are not trusted, the index may lack the latest writes
	}
	r := l.store.newRun(ctx, l.meter, list.Attempt(request, attemptUnits))
	r.page, r.most, r.attempt = l.query, attemptUnits, attempt
	return r
}

// execute executes the run of the given number of the last step.
func (r *reading) execute(ctx context.Context, number int) (err error) {
	one := r.steps[len(r.steps)-1][number]
	if one.plan.ByRank {
		err = r.store.takeByRank(ctx, one)
	} else {
		one.taken, err = one.take(ctx)
	}
	if one.brought = len(one.taken); one.brought > 0 {
		one.reached = new(one.plan.PlaceOf(one.taken[one.brought-1].Comment))
	}
	if one.cut && !one.plan.ByRank {
		// The run ends at the first place where one of its reads ended. Its successor reads again what
		// lies beyond.
		var first *comment.Position
		for i := range one.reads {
			at := boundOf(one.reads[i].start)
			if at != nil && (first == nil || one.plan.Direction(at.ID.Position(), *first) < 0) {
				first = new(at.ID.Position())
			}
		}
		one.taken = slices.DeleteFunc(one.taken, func(c layout.Compressed) bool {
			return one.plan.Direction(c.ID.Position(), *first) > 0
		})
		one.brought, one.reached = len(one.taken), comment.At(*first)
	}
	return err
}

// addMoved adds comments of the list that moved between partitions while a run read them.
func (s *Store) addMoved(ctx context.Context, r *run) error {
	moved := s.moves.of(r.plan.Product, s.now())
	if len(moved) == 0 || r.plan.Want == 0 {
		return nil
	}
	last := r.reached
	if r.ended() {
		last = nil
	}
	absent := missing(r.plan, r.readAt, moved, r.taken, last)
	absent = absent[:r.meter.Fetch(len(absent))]
	if len(absent) == 0 {
		return nil
	}
	found, err := s.fetchByID(ctx, r, absent, true)
	if err != nil {
		return call.Wrap(err, "comments that were just edited")
	}
	found = slices.DeleteFunc(found, func(c layout.Compressed) bool {
		return !r.plan.Filter.Allows(c.Comment) || !r.plan.Within(r.plan.PlaceOf(c.Comment), last)
	})
	r.taken = append(r.taken, found...)
	slices.SortFunc(r.taken, func(a, b layout.Compressed) int { return r.compare(&a, &b) })
	return nil
}

// dropTexts drops the texts of taken comments that are not among shown, and gives their memory back
// to the caller's operation.
func dropTexts(ctx context.Context, taken, shown []layout.Compressed) {
	dropped, first := 0, len(taken)
	if len(shown) > 0 {
		first = slices.IndexFunc(taken, func(c layout.Compressed) bool { return c.ID == shown[0].ID })
	}
	for i := range taken {
		if c := &taken[i]; i < first || i >= first+len(shown) {
			dropped += c.Bytes
			c.Text, c.CompressedText = "", nil
		}
	}
	usage.From(ctx).Drop(dropped)
}
