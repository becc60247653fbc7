package dynamo

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
)

// run is a plan on its way: what each read has done so far. The plan itself stays as it was made.
type run struct {
	client call.Querier
	table  string
	plan   planner.Plan
	reads  []readState
	waves  int
	// lookups are what fetching comments that moved meanwhile took, and fetched what came of it.
	lookups metered
	fetched readState
	packed  map[comment.ID][]byte // compressed texts of the comments that were taken, nil for none
	meter   *capacity.Meter       // of the page or the count that it is for; nil bounds nothing
	most    float64               // what an attempt may cost, in read units; 0 for no attempt
}

// readState is how far one read of a plan has come, and what that took.
type readState struct {
	start   layout.Item // where the next call goes on, nil at the beginning
	limit   int         // of the last call, 0 to count
	queries int
	looked  int // items that the table looked at
	kept    int // items that passed the residual filter
	units   float64
	sizes   measured // of the items that passed
	// improper are items that are no comments, which the page leaves out.
	improper []layout.Improper
}

func newRun(client call.Querier, table string, plan planner.Plan) *run {
	return &run{client: client, table: table, plan: plan, reads: make([]readState, len(plan.Reads))}
}

// take runs a plan: one parallel wave of reads, then further waves of those reads alone that ran dry before the plan
// had what it wants. The first failure cancels its siblings and fails the plan: a page is never short without saying so.
func (r *run) take(ctx context.Context) ([]comment.Comment, error) {
	compare := func(a, b layout.Packed) int { return r.compare(a.Comment, b.Comment) }
	taken, err := merge.New(len(r.plan.Reads), compare, r.wave).Take(ctx, r.plan.Want)
	return r.unpack(taken), err
}

// unpack returns the comments that were taken and keeps their compressed texts. Two reads may find two versions of one
// comment; the text kept is that of the version taken.
func (r *run) unpack(taken []layout.Packed) (out []comment.Comment) {
	out = slices.Grow(out, len(taken))
	for _, l := range taken {
		out = append(out, l.Comment)
		if l.PackedText == nil {
			continue
		}
		if r.packed == nil {
			r.packed = make(map[comment.ID][]byte, len(taken))
		}
		r.packed[l.ID] = l.PackedText
	}
	return out
}

// packedOf are the compressed texts of some of the comments that were taken, nil for none.
func (r *run) packedOf(shown []comment.Comment) map[comment.ID][]byte {
	if r.packed == nil {
		return nil
	}
	out := make(map[comment.ID][]byte, len(shown))
	for _, c := range shown {
		if text, found := r.packed[c.ID]; found {
			out[c.ID] = text
		}
	}
	return out
}

// compare puts comments into the direction of reading.
func (r *run) compare(a, b comment.Comment) int {
	if r.plan.Descending {
		a, b = b, a
	}
	return strings.Compare(string(a.ID), string(b.ID)) // as their positions
}

// wave makes one call for each of the dry reads, in parallel.
func (r *run) wave(ctx context.Context, dry []int, missing int) ([]merge.Batch[layout.Packed], error) {
	if err := r.begin(dry, missing); err != nil {
		return nil, err
	}
	batches := make([]merge.Batch[layout.Packed], len(dry))
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) (err error) {
		batches[i], err = r.call(ctx, dry[i])
		return err
	})
	return batches, err
}

// begin sets the limits of the next calls. An attempt ends here when what it may still cost is a small part of what it wants.
func (r *run) begin(dry []int, missing int) error {
	most := planner.MaxLimit
	if r.most > 0 && r.waves > 0 {
		most = capacity.ItemsWithin(r.most-r.units(), len(dry))
	}
	for _, number := range dry {
		read, state := r.plan.Reads[number], &r.reads[number]
		if state.queries == 0 {
			state.limit = read.Limit
		} else {
			state.limit = r.plan.NextLimit(read, state.limit, state.looked, state.kept, missing)
		}
		if most < state.limit/smallPart || most == 0 {
			return capacity.ErrBound
		}
		state.limit = min(state.limit, most)
	}
	r.waves++
	return nil
}

// smallPart is the part of the wanted items for which an attempt does not go on: it would take ever more waves for ever less.
const smallPart = 4

// units are the read units that the run consumed so far.
func (r *run) units() float64 {
	units := 0.0
	for _, state := range r.reads {
		units += state.units
	}
	return units
}

// call makes the next call of one read.
func (r *run) call(ctx context.Context, number int) (merge.Batch[layout.Packed], error) {
	state := &r.reads[number]
	output, err := r.query(ctx, number)
	if err != nil {
		return merge.Batch[layout.Packed]{}, err
	}
	items, err := r.decode(ctx, output.Items, state)
	return merge.Batch[layout.Packed]{Items: items, Done: len(output.LastEvaluatedKey) == 0, Bound: boundOf(output.LastEvaluatedKey)}, err
}

// boundOf is where a read stopped: whatever comes next lies beyond, also when the last items that it looked at were not kept.
func boundOf(last layout.Item) *layout.Packed {
	r := layout.NewReader(last)
	position, err := layout.PositionOfKey(r.Text(layout.AttrPK))
	if err != nil {
		return nil
	}
	return &layout.Packed{Comment: comment.Comment{ID: comment.IDOf(position)}}
}

// query asks the table for what follows in one read.
func (r *run) query(ctx context.Context, number int) (*dynamodb.QueryOutput, error) {
	read, state := r.plan.Reads[number], &r.reads[number]
	if err := r.meter.Check(); err != nil {
		return nil, err
	}
	output, err := r.client.Query(ctx, queryInput(r.table, r.plan, read, state.limit, state.start))
	if err != nil {
		return nil, call.Wrap(err, "Query %s %s", read.Partition.Index, read.Partition.Key(r.plan.Product))
	}
	state.account(output)
	r.meter.Add(call.UnitsOf(output.ConsumedCapacity))
	usage.From(ctx).Consume(call.UnitsOf(output.ConsumedCapacity))
	return output, nil
}

func (s *readState) account(output *dynamodb.QueryOutput) {
	s.start = output.LastEvaluatedKey
	s.queries++
	s.looked += int(output.ScannedCount)
	s.kept += int(output.Count)
	s.units += call.UnitsOf(output.ConsumedCapacity)
}

// decode reads the comments of items of an index, and notes how large these are, unless they came without their texts. They
// count as held by whoever asked. Items that are no comments are left out.
func (r *run) decode(ctx context.Context, items []layout.Item, state *readState) ([]layout.Packed, error) {
	out, held := make([]layout.Packed, 0, len(items)), 0
	for _, it := range items {
		l, err := layout.DecodePacked(it, r.plan.Product, !r.plan.WithoutText)
		if err != nil {
			state.improper = append(state.improper, layout.NewImproper(it, err.Error()))
			continue
		}
		out = append(out, l)
		held += l.Bytes
		if !r.plan.WithoutText {
			state.sizes.add(l.Rating, entryBytes(l.Comment, l.Bytes))
		}
	}
	return out, usage.From(ctx).Hold(held)
}

// sizes are those of all that a run has read.
func (r *run) sizes() measured {
	var all measured
	for _, read := range r.reads {
		for i := range all {
			all[i].add(read.sizes[i])
		}
	}
	return all
}

// held is what the page held of which the run took these comments, at least one.
func (r *run) held(taken []comment.Comment) *planner.LastPage {
	held := planner.NewLastPage(taken, len(taken) == r.plan.Want)
	for i, read := range r.plan.Reads {
		held.NoteScan(read.Part, r.reads[i].looked, r.reads[i].kept)
	}
	return held
}

// fromNewest tells whether the run began with the newest comment of the list.
func (r *run) fromNewest() bool { return r.plan.Descending && r.plan.High == comment.MaxPosition }

// improper are the items that the run passed over.
func (r *run) improper() []layout.Improper {
	var out []layout.Improper
	for i := range r.reads {
		out = append(out, r.reads[i].improper...)
	}
	return out
}

// execution is what was executed for a page.
type execution struct {
	page   []*run // the last one brought the page; those before it were given up
	probes []*run
}

// metered counts what fetching items by their keys takes.
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
