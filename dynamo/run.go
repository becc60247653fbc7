package dynamo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// run takes the comments of a stretch of a list. It makes the reads of a plan in parallel and
// merges their results, wave by wave. A read whose residual filter turns out to be expensive ends
// early. The reads of another plan, made with what is known by then, continue from there. Plans are
// immutable.
type run struct {
	store   *Store
	page    comment.Query    // the query whose page is read
	account *usage.Operation // the operation that the run is part of; nil if none
	meter   *layout.Meter    // the cost of the page or count
	most    float64          // what reads with a residual filter may cost, in read units

	plan   *planner.Plan   // the first plan
	plans  []*planner.Plan // all plans, the first included
	reads  []read          // the reads of all plans, in the order of the plans
	waves  int
	merger *merge.Merger[layout.Compressed]
	// attempt is the key under which the Store remembers that reads were replaced because they would
	// have cost more than most.
	attempt attemptKey
	// cut ends the run early: the rest is found by ranks. If away is set, the index of page numbers
	// did not answer, and the rest is read.
	cut, away bool
	// lookups is the cost of lookups in the index of page numbers.
	lookups pageindex.Cost
	// once ends the run after its first wave, even if comments are missing. stopped reports that
	// once or within ended it.
	once, stopped bool
	// within bounds the cost of the run in read units, as long as no comment has more than 1 KB, or
	// more than its known size. 0 bounds nothing.
	within float64
	// brought is the number of comments that the run took from partitions. reached is the place of
	// the last one, nil if there is none. taken holds these comments and those that were fetched by
	// id.
	brought int
	reached *comment.Place
	taken   []layout.Compressed
	// fetches adds up the cost of fetching comments by id: moved ones, or all that were found by
	// ranks.
	fetches struct {
		keys, calls, items int
		units              float64
	}
}

// read is the progress and the cost of one read of a plan.
type read struct {
	planner.Read
	plan     *planner.Plan
	replaced bool        // whether reads of a later plan continue from start on
	start    layout.Item // where the next call begins; nil for the beginning of the range
	limit    int         // the Limit of the next call or of the last one; 0 if the read counts
	queries  int
	scanned  int // items that the table read (ScannedCount)
	returned int // items that passed the residual filter (Count)
	units    float64
	sizes    sizeSums // the sizes of the items that passed
	// improper has malformed items, which the page leaves out.
	improper []layout.Improper
	// cells has the cells of the returned comments. It is filled only if the plan was made without
	// counts.
	cells []comment.Cell
}

// newRun returns a run of a plan, accounted to the operation of the context.
func (s *Store) newRun(ctx context.Context, meter *layout.Meter, plan planner.Plan) *run {
	r := &run{store: s, account: usage.From(ctx), meter: meter, plan: &plan}
	r.add(&plan)
	return r
}

func (r *run) add(plan *planner.Plan) {
	r.account.Keep(plan)
	r.plans = append(r.plans, plan)
	r.reads = slices.Grow(r.reads, len(plan.Reads))
	for _, one := range plan.Reads {
		r.reads = append(r.reads, read{Read: one, plan: plan, limit: one.Limit})
	}
}

// take takes as many comments as the plan wants: one wave of parallel reads, then further waves of
// the reads that ran dry. The first error cancels the other reads and fails the run, so a page is
// never short without an error.
func (r *run) take(ctx context.Context) ([]layout.Compressed, error) {
	r.merger = merge.New(len(r.reads), r.compare, r.wave)
	if r.plan.Likely {
		r.merger.ReadAhead(func(a, b *layout.Compressed) float64 { return b.CreatedAt().Sub(a.CreatedAt()).Abs().Seconds() })
	}
	return r.merger.Take(ctx, r.plan.Want)
}

// wave makes one call for each dry read that goes on, and for each read that replaces one, in
// parallel. Before the calls it decides in this order: whether the run is over, which reads are
// replaced, and by within and the meter, how much each call may scan. If the run is over, all dry
// reads are done. It returns a comment.TooCostly error if the cost bound leaves no call. The first
// failed call cancels the others.
func (r *run) wave(ctx context.Context, dry []int, missing int) ([]merge.Batch[layout.Compressed], error) {
	first, ended := len(r.reads), 0
	if r.stopped = r.once && r.waves > 0; !r.stopped {
		for _, number := range dry {
			if r.reads[number].queries > 0 && !r.continueRead(number, len(dry), missing-r.merger.Before(number)) {
				ended++
			}
		}
		for number := first; number < len(r.reads) && !r.cut; number++ {
			dry = append(dry, number)
		}
		if r.within > 0 && !r.cut {
			most := r.plan.Known.Within(r.within-r.units(), len(dry))
			for _, number := range dry {
				r.reads[number].limit = min(r.reads[number].limit, most)
			}
			r.stopped = most < 1
		}
	}
	if r.stopped || r.cut {
		return slices.Repeat([]merge.Batch[layout.Compressed]{{Done: true}}, len(dry)), nil
	}
	mayBeFew := r.plan.Filter.MayMatchFew() // there may be no other plan: stay within the bound, together with parallel runs
	if mayBeFew {
		var limits []*int
		for _, number := range dry {
			if read := &r.reads[number]; !read.replaced {
				limits = append(limits, &read.limit)
			}
		}
		if err := r.meter.Reserve(limits); err != nil {
			return nil, err
		}
	}
	ctx, span := r.observe(ctx, len(dry)-ended)
	defer span.End()
	batches := make([]merge.Batch[layout.Compressed], len(dry))
	return batches, call.Parallel(ctx, len(dry), func(ctx context.Context, i int) error {
		read := &r.reads[dry[i]]
		if read.replaced {
			batches[i].Done = true
			return nil
		}
		if mayBeFew {
			defer r.meter.Release(read.limit)
		}
		output, err := r.query(ctx, read)
		if err != nil {
			return err
		}
		batches[i].Done, batches[i].Bound = len(output.LastEvaluatedKey) == 0, boundOf(output.LastEvaluatedKey)
		batches[i].Items, err = r.decode(output.Items, read)
		return err
	})
}

// observe counts a wave in the run and in the account of its operation, and begins its span.
func (r *run) observe(ctx context.Context, reads int) (context.Context, usage.Span) {
	r.waves++
	return r.account.Wave(ctx, string(r.plan.Purpose), reads)
}

// continueRead sets the limit of a read's next call, or replaces the read and returns false. dry is
// the number of dry reads, and missing is how many comments this read still has to bring. Only wide
// or sparse reads are replaced: always if the plan was made without counts, since their first calls
// tell more than it assumed; else if the rest of the budget covers only a small part (smallPart) of
// the next call.
func (r *run) continueRead(number, dry, missing int) bool {
	read, left := &r.reads[number], r.most-r.units()
	read.limit = read.plan.NextLimit(read.Read, read.limit, read.scanned, read.returned, missing)
	sparse := read.Unvoted() && planner.Few(read.returned, read.scanned)
	if !sparse && !read.plan.WideRead(read.Read) || read.plan.Narrowed || boundOf(read.start) == nil {
		return true
	}
	switch most := layout.ItemsWithin(left, dry); {
	case read.plan.Likely:
		r.replace(read, missing, left/float64(dry))
		return false
	case !read.plan.Narrows() || sparse && read.plan.Ranks == nil:
		return true // there is no other way
	case most == 0 || most < read.limit/smallPart:
		r.store.attempts.Add(r.attempt, time.Now())
		r.replace(read, missing, 0)
		return false
	default:
		read.limit = min(read.limit, most)
		return true
	}
}

// smallPart divides the limit of a read's next call: a budget for less than that is a small part.
// It would cover even less of each further wave.
const smallPart = 4

// replace ends a read. Another plan continues from there for the missing comments. If that plan has
// a residual filter too, it may cost the given units.
func (r *run) replace(old *read, missing int, units float64) {
	old.replaced = true
	list, request := old.plan.Rest(old.Read, boundOf(old.start).ID.Position(), old.scanned, old.cells, old.likelySizes(), missing)
	list.Known = r.store.knowledgeMeanwhile(r.page, list.Known)
	plan := list.Attempt(request, units)
	if r.cut = r.cut || plan.ByRank; !r.cut {
		r.add(&plan)
	}
}

// likelySizes returns the known sizes of the product's comments, or if there are none, an estimate
// from this read.
func (r *read) likelySizes() planner.Sizes {
	known := r.plan.Known.Sizes
	if seen := r.sizes[0]; known.Any.Mean == 0 && seen.count > 0 {
		likely := r.plan.Known.LikelySizes().Any
		all := sizeSum{count: likelyWeight, sum: likelyWeight * likely.Mean, squares: likelyWeight * (likely.Mean*likely.Mean + likely.Deviation*likely.Deviation)}
		all.add(seen)
		known.Any = all.size()
	}
	return known
}

// likelyWeight is the weight of the assumed sizes in the estimate of likelySizes, in comments.
const likelyWeight = 3

// compare orders comments in the direction of reading.
func (r *run) compare(a, b *layout.Compressed) int {
	if r.plan.Descending {
		a, b = b, a
	}
	if r.plan.ByVotes {
		return r.plan.PlaceOf(a.Comment).Compare(r.plan.PlaceOf(b.Comment))
	}
	return strings.Compare(string(a.ID), string(b.ID)) // as their positions
}

// units returns the read units that the run's reads have consumed.
func (r *run) units() float64 {
	units := 0.0
	for i := range r.reads {
		units += r.reads[i].units
	}
	return units
}

// boundOf returns where a call stopped, nil at the end of the range. All that follows lies beyond
// it, also if the residual filter dropped the last items.
func boundOf(last layout.Item) *layout.Compressed {
	r := layout.NewReader(last)
	position, err := layout.PositionOfKey(r.Text(layout.AttrPK))
	if err != nil {
		return nil
	}
	return &layout.Compressed{Comment: comment.Comment{ID: comment.IDOf(position)}}
}

// query makes the next Query of one read.
func (r *run) query(ctx context.Context, read *read) (*dynamodb.QueryOutput, error) {
	if err := r.meter.Check(); err != nil {
		return nil, err
	}
	var operation any = r.account // the calls of an operation share it; a call outside of any counts alone
	if r.account == nil {
		operation = new(byte)
	}
	leave, err := r.store.bulkhead.enter(r.plan.Product, operation)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx = call.WithPurpose(ctx, string(r.plan.Purpose))
	output, err := r.store.client.Query(ctx, queryInput(r.store.table, read.plan, &read.Read, read.limit, read.start))
	if err != nil {
		return nil, call.Wrap(err, "Query %s %s", read.Partition.Index, read.Partition.Key(r.plan.Product))
	}
	units := call.UnitsOf(output.ConsumedCapacity)
	read.start = output.LastEvaluatedKey
	read.queries++
	read.scanned += int(output.ScannedCount)
	read.returned += int(output.Count)
	read.units += units
	r.meter.Add(units)
	r.account.Consume(1, units)
	return output, nil
}

// decode decodes the comments of an answer, and measures them if they came with texts. They count
// as memory held by the caller's operation. Malformed items are noted and left out.
func (r *run) decode(items []layout.Item, to *read) ([]layout.Compressed, error) {
	held, comments := 0, make([]layout.Compressed, 0, len(items))
	for _, item := range items {
		c, err := layout.DecodeCompressed(item, r.plan.Product, !r.plan.WithoutText)
		if err == nil && r.plan.ByVotes && item[layout.AttrAll] == nil { // of the index, not fetched
			err = layout.CheckHelpful(item, c.Comment)
		}
		if err != nil {
			to.improper = append(to.improper, layout.NewImproper(item, err.Error()))
			continue
		}
		comments = append(comments, c)
		held += c.Bytes
		if r.plan.Likely {
			to.cells = append(to.cells, c.Cell())
		}
		if !r.plan.WithoutText {
			to.sizes.add(c.Rating, entryBytes(c.Comment, c.Bytes))
		}
	}
	return comments, r.account.Hold(held)
}

// sizes adds up the sizes of all items that the run has read.
func (r *run) sizes() sizeSums {
	var all sizeSums
	for i := range r.reads {
		for rating, sizes := range r.reads[i].sizes {
			all[rating].add(sizes)
		}
	}
	return all
}

// held describes the page that the run took; taken has at least one comment.
func (r *run) held(taken []layout.Compressed) *planner.LastPage {
	held := planner.NewLastPage(taken, len(taken) >= r.plan.Want)
	for i := range r.reads {
		held.NoteScan(r.reads[i].Part, r.reads[i].scanned, r.reads[i].returned)
	}
	return held
}

// fromNewest reports whether the run began with the newest comment of the list.
func (r *run) fromNewest() bool {
	return r.plan.Descending && !r.plan.ByVotes && r.plan.High.Position == comment.MaxPosition
}

// readAt returns the parts whose reads covered a position.
func (r *run) readAt(position comment.Position) []planner.Part {
	var out []planner.Part
	for i := range r.reads {
		read := &r.reads[i]
		beyond := read.replaced && read.plan.Direction(position, boundOf(read.start).ID.Position()) > 0
		if read.plan.Spans(position) && !beyond {
			out = append(out, read.Part)
		}
	}
	return out
}

// ended reports whether the run reached the end of its range.
func (r *run) ended() bool { return !r.stopped && !r.cut && r.brought < r.plan.Want }
