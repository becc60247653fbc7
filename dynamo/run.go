package dynamo

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/telemetry/spans"
)

// run is the execution of one plan: how far each of its reads has come. The plan itself does not
// change.
type run struct {
	client call.Querier
	table  string
	plan   planner.Plan
	reads  []readState
	waves  int
	merger *merge.Merger[layout.Compressed]
	// lookups are the calls that fetched moved comments by id, fetched is what these returned.
	lookups  metered
	fetched  readState
	account  *usage.Operation // that the run is part of; nil for none
	meter    *layout.Meter    // of the page or the count; nil bounds nothing
	most     float64          // what an attempt may cost in read units; 0 when this is no attempt
	bulkhead *bulkhead        // of all products; nil bounds nothing
	// meanwhile returns the knowledge of the product by now; nil if that is the plan's.
	meanwhile func(planner.Known) planner.Known
}

// readState is how far one read of a plan has come, and what it has cost.
type readState struct {
	start    layout.Item // where the next call continues, nil at the beginning
	limit    int         // of the last call, 0 to count
	queries  int
	scanned  int // items that the table read (ScannedCount)
	returned int // items that passed the residual filter (Count)
	units    float64
	sizes    measured // of the items that passed
	// improper are items that are no comments. The page leaves them out.
	improper []layout.Improper
	rest     rest
}

func newRun(client call.Querier, table string, plan planner.Plan) *run {
	return &run{client: client, table: table, plan: plan, reads: make([]readState, len(plan.Reads))}
}

// take executes a plan: one wave of parallel reads, then further waves of the reads that ran dry
// before the plan had all it wants. The first error cancels the others and fails the plan, so a
// page is never short without an error.
func (r *run) take(ctx context.Context) ([]layout.Compressed, error) {
	r.merger = merge.New(len(r.plan.Reads), r.compare, r.wave)
	if r.plan.Likely {
		r.merger.ReadAhead(secondsBetween)
	}
	return r.merger.Take(ctx, r.plan.Want)
}

// secondsBetween is how far two comments are apart.
func secondsBetween(a, b *layout.Compressed) float64 {
	return math.Abs(b.CreatedAt().Sub(a.CreatedAt()).Seconds())
}

// skip forgets the texts of the comments that are left out again. The caller's operation holds them
// no longer.
func (r *run) skip(taken []layout.Compressed) {
	dropped := 0
	for i := range taken[:min(r.plan.Skip, len(taken))] {
		l := &taken[i]
		dropped += l.Bytes
		l.Text, l.CompressedText = "", nil
	}
	r.account.Drop(dropped)
}

// compare orders comments in the direction of reading.
func (r *run) compare(a, b *layout.Compressed) int {
	if r.plan.Descending {
		a, b = b, a
	}
	return strings.Compare(string(a.ID), string(b.ID)) // as their positions
}

// wave makes one call for each dry read, in parallel.
func (r *run) wave(ctx context.Context, dry []int, missing int) ([]merge.Batch[layout.Compressed], error) {
	if err := r.begin(dry, missing); err != nil {
		return nil, err
	}
	ctx, span := r.observe(ctx, len(dry))
	defer span.End()
	batches := make([]merge.Batch[layout.Compressed], len(dry))
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) (err error) {
		if r.replans(dry[i]) {
			batches[i], err = r.readRest(ctx, dry[i], missing-r.merger.Before(dry[i]))
			return err
		}
		output, err := r.query(ctx, dry[i])
		if err == nil {
			batches[i], err = r.batch(output, dry[i])
		}
		return err
	})
	r.waves += r.furtherWaves(dry)
	return batches, err
}

// observe tells the account of the operation, and its trace, that a wave begins.
func (r *run) observe(ctx context.Context, reads int) (context.Context, spans.Span) {
	r.account.Wave(&r.plan)
	return spans.Wave(ctx, string(r.plan.Purpose), reads)
}

// begin sets the limits of the next calls. It ends an attempt when its remaining budget covers only
// a small part of what it wants.
func (r *run) begin(dry []int, missing int) error {
	most := planner.MaxLimit
	if r.most > 0 && r.waves > 0 {
		most = layout.ItemsWithin(r.most-r.units(), len(dry))
	}
	for _, number := range dry {
		read, state := r.plan.Reads[number], &r.reads[number]
		if r.replans(number) {
			state.rest.most = (r.most - r.units()) / float64(len(dry))
			continue
		}
		if state.queries == 0 {
			state.limit = read.Limit
		} else {
			state.limit = r.plan.NextLimit(read, state.limit, state.scanned, state.returned, missing-r.merger.Before(number))
		}
		if most < state.limit/smallPart || most == 0 {
			return layout.ErrBound
		}
		state.limit = min(state.limit, most)
	}
	r.waves++
	return nil
}

// smallPart is the part of the wanted items below which an attempt ends: each further wave would
// bring less.
const smallPart = 4

// units are the read units that the run has consumed.
func (r *run) units() float64 {
	units := 0.0
	r.each(func(one *run) {
		for i := range one.reads {
			units += one.reads[i].units
		}
	})
	return units
}

// batch is what a call of one read returned.
func (r *run) batch(output *dynamodb.QueryOutput, number int) (merge.Batch[layout.Compressed], error) {
	items, err := r.decode(output.Items, &r.reads[number])
	batch := merge.Batch[layout.Compressed]{Items: items, Done: len(output.LastEvaluatedKey) == 0}
	if len(r.reads) > 1 { // else nothing is compared with it
		batch.Bound = boundOf(output.LastEvaluatedKey)
	}
	return batch, err
}

// boundOf is where a call stopped. All that follows lies beyond it, also when the residual filter
// dropped the last items.
func boundOf(last layout.Item) *layout.Compressed {
	r := layout.NewReader(last)
	position, err := layout.PositionOfKey(r.Text(layout.AttrPK))
	if err != nil {
		return nil
	}
	return &layout.Compressed{Comment: comment.Comment{ID: comment.IDOf(position)}}
}

// query makes the next Query of one read.
func (r *run) query(ctx context.Context, number int) (*dynamodb.QueryOutput, error) {
	read, state := &r.plan.Reads[number], &r.reads[number]
	if err := r.meter.Check(); err != nil {
		return nil, err
	}
	leave, err := r.bulkhead.enter(r.plan.Product, r.operation())
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx = call.WithPurpose(ctx, string(r.plan.Purpose))
	output, err := r.client.Query(ctx, queryInput(r.table, &r.plan, read, state.limit, state.start))
	if err != nil {
		return nil, call.Wrap(err, "Query %s %s", read.Partition.Index, read.Partition.Key(r.plan.Product))
	}
	state.account(output)
	r.meter.Add(call.UnitsOf(output.ConsumedCapacity))
	r.account.Consume(1, call.UnitsOf(output.ConsumedCapacity))
	return output, nil
}

// operation returns what calls of one operation have in common. Calls outside of any have nothing.
func (r *run) operation() any {
	if r.account != nil {
		return r.account
	}
	return new(byte)
}

func (s *readState) account(output *dynamodb.QueryOutput) {
	s.start = output.LastEvaluatedKey
	s.queries++
	s.scanned += int(output.ScannedCount)
	s.returned += int(output.Count)
	s.units += call.UnitsOf(output.ConsumedCapacity)
}

// decode reads the comments of an answer and measures them, unless they came without texts. The
// caller's operation holds them from now on. Items that are no comments are noted and left out.
func (r *run) decode(items []layout.Item, state *readState) ([]layout.Compressed, error) {
	held, comments := 0, make([]layout.Compressed, 0, len(items))
	for _, item := range items {
		c, err := layout.DecodeCompressed(item, r.plan.Product, !r.plan.WithoutText)
		if err != nil {
			state.improper = append(state.improper, layout.NewImproper(item, err.Error()))
			continue
		}
		comments = append(comments, c)
		held += c.Bytes
		if r.plan.Likely {
			state.rest.note(c.Comment)
		}
		if !r.plan.WithoutText {
			state.sizes.add(c.Rating, entryBytes(c.Comment, c.Bytes))
		}
	}
	return comments, r.account.Hold(held)
}

// execution is what was executed for a page.
type execution struct {
	skips  []*run // to the page, if its number is skipped to by reads of their own
	page   []*run // the last one brought the page; those before it were given up
	probes []*run
}

// metered is a client that counts what fetching items by their keys costs.
type metered struct {
	call.BatchGetter
	keys, calls, items int
	units              float64
}

// BatchGetItem implements itemGetter.
func (m *metered) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := m.BatchGetter.BatchGetItem(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	m.calls++
	for _, items := range out.Responses {
		m.items += len(items)
	}
	for _, consumed := range out.ConsumedCapacity {
		m.units += aws.ToFloat64(consumed.CapacityUnits)
	}
	return out, nil
}

// A plan that is made by what is likely of products may be wrong about this one. Its first calls
// tell more. So what is left of a read with a residual filter is read by a plan of its own, made
// from what the first call told: often from partitions that hold nothing but wanted comments.

// rest is the remainder of one read after its first call.
type rest struct {
	cells []comment.Cell   // of the comments that the first call returned
	past  comment.Position // up to which the rest was read, zero for nothing
	most  float64          // what an attempt for the rest may cost in read units
	runs  []*run           // for the rest, and attempts for it that were given up
	waves int              // of those that were made the last time that something was missing
}

// note notes a comment that the first call returned.
func (r *rest) note(c comment.Comment) {
	if len(r.runs) == 0 {
		r.cells = append(r.cells, c.Cell())
	}
}

// replans tells whether a read goes on by another plan.
func (r *run) replans(number int) bool {
	state := &r.reads[number]
	return r.plan.Likely && state.queries > 0 && r.plan.Reads[number].Residual() && boundOf(state.start) != nil
}

// readRest reads the remainder of a read, as far as comments are missing.
func (r *run) readRest(ctx context.Context, number, missing int) (merge.Batch[layout.Compressed], error) {
	state := &r.reads[number]
	past := state.rest.past
	if past == (comment.Position{}) {
		past = boundOf(state.start).ID.Position()
	}
	list, request := r.plan.Rest(r.plan.Reads[number], past, state.scanned, state.rest.cells, r.sizesOf(state), missing)
	if r.meanwhile != nil {
		list.Known = r.meanwhile(list.Known)
	}
	items, err := r.takeRest(ctx, &state.rest, list, request)
	if len(items) > 0 {
		state.rest.past = items[len(items)-1].ID.Position()
	}
	return merge.Batch[layout.Compressed]{Items: items, Done: len(items) < missing}, err
}

// sizesOf are the sizes of the comments of a product: those that are known, or what a read of it
// tells.
func (r *run) sizesOf(read *readState) planner.Sizes {
	known := r.plan.Known.Sizes
	if seen := read.sizes[0]; known.Any.Mean == 0 && seen.count > 0 {
		likely := r.plan.Known.LikelySizes().Any
		all := measurements{count: likelyWeight, sum: likelyWeight * likely.Mean, squares: likelyWeight * (likely.Mean*likely.Mean + likely.Deviation*likely.Deviation)}
		all.add(seen)
		known.Any = all.moments().size()
	}
	return known
}

// likelyWeight is how many comments count as much as what is likely of their sizes.
const likelyWeight = 3

// takeRest takes comments in runs within this one: by the best plan, and by the narrow one if the
// best has a residual filter and would cost more than it may.
func (r *run) takeRest(ctx context.Context, rest *rest, list planner.Planner, request planner.Request) ([]layout.Compressed, error) {
	rest.waves = 0
	plan, most := list.Take(request), 0.0
	if plan.Residual() && r.most > 0 {
		if rest.most >= plan.LeastUnits() {
			plan, most = plan.LimitedTo(rest.most), rest.most
		} else {
			plan = list.Narrow(request)
		}
	}
	for {
		one := newRun(r.client, r.table, plan)
		one.account, one.meter, one.most = r.account, r.meter, most
		rest.runs = append(rest.runs, one)
		items, err := one.take(ctx)
		rest.waves += one.waves
		if most == 0 || !errors.Is(err, layout.ErrBound) {
			return items, err
		}
		plan, most = list.Narrow(request), 0
	}
}

// furtherWaves is how many waves the rests of some reads took beyond the one that they are part of.
func (r *run) furtherWaves(numbers []int) int {
	most := 1
	for _, number := range numbers {
		most = max(most, r.reads[number].rest.waves)
	}
	return most - 1
}

// each calls visit for the run and those within it.
func (r *run) each(visit func(*run)) {
	visit(r)
	for i := range r.reads {
		for _, one := range r.reads[i].rest.runs {
			one.each(visit)
		}
	}
}

// sizes are the sizes of all items that the run has read.
func (r *run) sizes() measured {
	var all measured
	r.each(func(one *run) {
		for i := range one.reads {
			for rating, sizes := range one.reads[i].sizes {
				all[rating].add(sizes)
			}
		}
	})
	return all
}

// held describes the page for which the run took these comments, at least one.
func (r *run) held(taken []layout.Compressed) *planner.LastPage {
	held := planner.NewLastPage(taken, len(taken) == r.plan.Want)
	r.each(func(one *run) {
		for i, read := range one.plan.Reads {
			held.NoteScan(read.Part, one.reads[i].scanned, one.reads[i].returned)
		}
	})
	return held
}

// fromNewest tells whether the run began with the newest comment of the list.
func (r *run) fromNewest() bool { return r.plan.Descending && r.plan.High == comment.MaxPosition }

// improper are the items that the run passed over.
func (r *run) improper() []layout.Improper {
	var out []layout.Improper
	r.each(func(one *run) {
		for i := range one.reads {
			out = append(out, one.reads[i].improper...)
		}
	})
	return out
}

// readAt are the parts that were read where a position is. It leaves out those of an attempt that
// was given up, and of what followed it.
func (r *run) readAt(position comment.Position) []planner.Part {
	var out []planner.Part
	for i, read := range r.plan.Reads {
		state := &r.reads[i]
		switch {
		case len(state.rest.runs) == 0 || r.plan.Direction(position, boundOf(state.start).ID.Position()) <= 0:
			out = append(out, read.Part)
		case len(state.rest.runs) == 1:
			out = append(out, state.rest.runs[0].readAt(position)...)
		}
	}
	return out
}
