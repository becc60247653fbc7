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

// run is the execution of one plan: how far each of its reads has come. The plan itself does not
// change.
type run struct {
	client call.Querier
	table  string
	plan   planner.Plan
	reads  []readState
	waves  int
	// lookups are the calls that fetched moved comments by id, fetched is what these returned.
	lookups metered
	fetched readState
	packed  map[comment.ID][]byte // compressed texts of the taken comments, nil for none
	meter   *capacity.Meter       // of the page or the count; nil bounds nothing
	most    float64               // what an attempt may cost in read units; 0 when this is no attempt
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
}

func newRun(client call.Querier, table string, plan planner.Plan) *run {
	return &run{client: client, table: table, plan: plan, reads: make([]readState, len(plan.Reads))}
}

// take executes a plan: one wave of parallel reads, then further waves of the reads that ran dry
// before the plan had all it wants. The first error cancels the others and fails the plan, so a
// page is never short without an error.
func (r *run) take(ctx context.Context) ([]comment.Comment, error) {
	compare := func(a, b layout.Compressed) int { return r.compare(a.Comment, b.Comment) }
	taken, err := merge.New(len(r.plan.Reads), compare, r.wave).Take(ctx, r.plan.Want)
	r.skip(ctx, taken)
	return r.unpack(taken), err
}

// skip forgets the texts of the comments that are left out again. The caller's operation holds them
// no longer.
func (r *run) skip(ctx context.Context, taken []layout.Compressed) {
	dropped := 0
	for i := range taken[:min(r.plan.Skip, len(taken))] {
		l := &taken[i]
		dropped += l.Bytes
		l.Text, l.CompressedText = "", nil
	}
	usage.From(ctx).Drop(dropped)
}

// unpack returns the taken comments and keeps their compressed texts. When two reads find two
// versions of a comment, it keeps the text of the version that was taken.
func (r *run) unpack(taken []layout.Compressed) (out []comment.Comment) {
	out = slices.Grow(out, len(taken))
	for _, l := range taken {
		out = append(out, l.Comment)
		if l.CompressedText == nil {
			continue
		}
		if r.packed == nil {
			r.packed = make(map[comment.ID][]byte, len(taken))
		}
		r.packed[l.ID] = l.CompressedText
	}
	return out
}

// packedOf are the compressed texts of some of the taken comments, nil for none.
func (r *run) compressedOf(shown []comment.Comment) map[comment.ID][]byte {
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

// compare orders comments in the direction of reading.
func (r *run) compare(a, b comment.Comment) int {
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
	batches := make([]merge.Batch[layout.Compressed], len(dry))
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) (err error) {
		batches[i], err = r.call(ctx, dry[i])
		return err
	})
	return batches, err
}

// begin sets the limits of the next calls. It ends an attempt when its remaining budget covers only
// a small part of what it wants.
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
			state.limit = r.plan.NextLimit(read, state.limit, state.scanned, state.returned, missing)
		}
		if most < state.limit/smallPart || most == 0 {
			return capacity.ErrBound
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
	for _, state := range r.reads {
		units += state.units
	}
	return units
}

// call makes the next call of one read.
func (r *run) call(ctx context.Context, number int) (merge.Batch[layout.Compressed], error) {
	state := &r.reads[number]
	found := listed{run: r}
	output, err := r.query(ctx, number, &found)
	if err != nil {
		return merge.Batch[layout.Compressed]{}, err
	}
	items, err := r.decode(ctx, &found, state)
	return merge.Batch[layout.Compressed]{Items: items, Done: len(output.LastEvaluatedKey) == 0, Bound: boundOf(output.LastEvaluatedKey)}, err
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
func (r *run) query(ctx context.Context, number int, found *listed) (*dynamodb.QueryOutput, error) {
	read, state := r.plan.Reads[number], &r.reads[number]
	if err := r.meter.Check(); err != nil {
		return nil, err
	}
	output, err := call.Query(ctx, r.client, queryInput(r.table, r.plan, read, state.limit, state.start), found)
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
	s.scanned += int(output.ScannedCount)
	s.returned += int(output.Count)
	s.units += call.UnitsOf(output.ConsumedCapacity)
}

// listed are the comments of one answer, and the items that are none.
type listed struct {
	run      *run
	comments []layout.Compressed
	improper []layout.Improper
}

// Begin implements [call.Taker].
func (l *listed) Begin(items int) { l.comments, l.improper = make([]layout.Compressed, 0, items), nil }

// Take implements [call.Taker].
func (l *listed) Take(item *layout.Reader) {
	c, err := item.Compressed(l.run.plan.Product, !l.run.plan.WithoutText)
	if err != nil {
		l.improper = append(l.improper, item.Improper(err.Error()))
		return
	}
	l.comments = append(l.comments, c)
}

// decode measures the comments of an answer, unless they came without texts. The caller's operation
// holds them from now on. Items that are no comments are noted and left out.
func (r *run) decode(ctx context.Context, found *listed, state *readState) ([]layout.Compressed, error) {
	held := 0
	for i := range found.comments {
		c := &found.comments[i]
		held += c.Bytes
		if !r.plan.WithoutText {
			state.sizes.add(c.Rating, entryBytes(c.Comment, c.Bytes))
		}
	}
	state.improper = append(state.improper, found.improper...)
	return found.comments, usage.From(ctx).Hold(held)
}

// sizes are the sizes of all items that the run has read.
func (r *run) sizes() measured {
	var all measured
	for _, read := range r.reads {
		for i := range all {
			all[i].add(read.sizes[i])
		}
	}
	return all
}

// held describes the page for which the run took these comments, at least one.
func (r *run) held(taken []comment.Comment) *planner.LastPage {
	held := planner.NewLastPage(taken, len(taken) == r.plan.Want)
	for i, read := range r.plan.Reads {
		held.NoteScan(read.Part, r.reads[i].scanned, r.reads[i].returned)
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
