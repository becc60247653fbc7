package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

func newTable(t *testing.T) (*dynamodb.Client, string) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	return client, table
}

// eventsOf returns the events in all lanes of an outbox, lane by lane.
func eventsOf(t *testing.T, out *outbox.Outbox) (all []outbox.Event) {
	t.Helper()
	for lane := range outbox.Lanes {
		for after, more := uint64(0), true; more; {
			batch := must.Get(out.Read(t.Context(), lane, after, 7))(t)
			all = append(all, batch.Events...)
			after, more = batch.Last, batch.More
		}
	}
	return all
}

// The events of a record follow from its two images.
func TestOf(t *testing.T) {
	approved := commenttest.Random(rand.New(rand.NewPCG(1, 1)), "a product")
	approved.Status, approved.Moderation, approved.Reply, approved.ReplyDeletion, approved.Version, approved.Votes = comment.Approved, nil, nil, 0, 1, comment.VoteCounts{}
	with := func(change func(*comment.Comment)) layout.Item {
		c := approved
		change(&c)
		return layout.Encode(c)
	}
	status := func(s comment.Status) layout.Item { return with(func(c *comment.Comment) { c.Status = s }) }
	base, gone := layout.Encode(approved), layout.Tombstone(approved.ID, "mark", time.Now())
	marked := func(it layout.Item, mark string) layout.Item {
		it = maps.Clone(it)
		it[layout.AttrImport] = layout.Text(mark)
		return it
	}
	for name, row := range map[string]struct {
		old, now        layout.Item
		want            []outbox.Kind
		shown, wasShown bool
	}{
		"added":              {nil, base, []outbox.Kind{outbox.Added, outbox.StatisticsChanged}, true, false},
		"added and held":     {nil, status(comment.Pending), []outbox.Kind{outbox.Added}, false, false},
		"approved":           {status(comment.Pending), base, []outbox.Kind{outbox.Approved, outbox.StatisticsChanged}, true, false},
		"held":               {base, status(comment.Pending), []outbox.Kind{outbox.Held, outbox.StatisticsChanged}, false, true},
		"rejected":           {status(comment.Pending), status(comment.Rejected), []outbox.Kind{outbox.Rejected}, false, false},
		"taken back":         {base, status(comment.Withdrawn), []outbox.Kind{outbox.Deleted, outbox.StatisticsChanged}, false, true},
		"deleted":            {base, gone, []outbox.Kind{outbox.Deleted, outbox.StatisticsChanged}, false, true},
		"deleted by hand":    {status(comment.Rejected), nil, []outbox.Kind{outbox.Deleted}, false, false},
		"edited":             {base, with(func(c *comment.Comment) { c.Version = 2 }), []outbox.Kind{outbox.Edited}, true, true},
		"edited, and moved":  {base, with(func(c *comment.Comment) { c.Version, c.Rating = 2, c.Rating%5+1 }), []outbox.Kind{outbox.Edited, outbox.StatisticsChanged}, true, true},
		"purchase verified":  {base, with(func(c *comment.Comment) { c.Verified = !c.Verified }), []outbox.Kind{outbox.Edited, outbox.StatisticsChanged}, true, true},
		"voted":              {base, with(func(c *comment.Comment) { c.Votes = comment.VoteCounts{NotHelpful: 1} }), []outbox.Kind{outbox.Voted}, true, true},
		"reported":           {base, with(func(c *comment.Comment) { c.Moderation = &comment.Moderation{Reports: 1} }), []outbox.Kind{outbox.Reported}, true, true},
		"decided":            {with(func(c *comment.Comment) { c.Moderation = &comment.Moderation{Reports: 1} }), base, nil, false, false},
		"replied":            {base, with(func(c *comment.Comment) { c.Reply = &comment.Reply{Text: "Thanks", Version: 1} }), []outbox.Kind{outbox.Replied}, true, true},
		"imported":           {nil, marked(base, "7:1:0:"), []outbox.Kind{outbox.Imported, outbox.StatisticsChanged}, true, false},
		"mended":             {marked(base, "7:1:0:"), marked(status(comment.Rejected), "8:1:0:R"), []outbox.Kind{outbox.Imported, outbox.StatisticsChanged}, false, true},
		"text mended":        {marked(base, "7:1:0:"), marked(with(func(c *comment.Comment) { c.Version = 2 }), "8:2:0:"), []outbox.Kind{outbox.Imported}, true, true},
		"import taken back":  {marked(base, "7:1:0:"), marked(gone, "7:1:0:"), []outbox.Kind{outbox.Imported, outbox.StatisticsChanged}, false, true},
		"imported, rejected": {marked(base, "7:1:0:"), marked(status(comment.Rejected), "7:1:0:"), []outbox.Kind{outbox.Rejected, outbox.StatisticsChanged}, false, true},
		"of no comment":      {nil, layout.VoteSumsKey(approved.ID), nil, false, false},
		"nothing":            {gone, nil, nil, false, false},
	} {
		var got []outbox.Kind
		for _, e := range outbox.Of(stream.Record{Position: "l/1", Old: row.old, New: row.now}) {
			got = append(got, e.Kind)
			if e.Shown != row.shown || e.WasShown != row.wasShown || e.Product != "a product" || e.Comment != approved.ID {
				t.Errorf("%s: %+v", name, e)
			}
		}
		check.Equal(t, row.want, got, name)
	}
}

// After the folder of the local engine was put back, its stream gives numbers to other changes that
// it gave to changes before. Receivers of hooks drop events whose ids they have seen.
func TestNumbersThatRecur(t *testing.T) {
	all := commenttest.Many(commenttest.Rand(t), "espresso", 2)
	seen := map[string]int{}
	for i, c := range []comment.Comment{all[0], all[1], all[0]} {
		record := stream.Record{Position: "l/1", Created: time.Unix(int64(i/2), 0), New: layout.Encode(c)}
		for _, e := range outbox.Of(record) {
			if before, known := seen[e.ID]; known {
				t.Errorf("change %d has the id of %s, as change %d", i, e.Kind, before)
			}
			seen[e.ID] = i
		}
	}
}

// history is a series of changes of some comments, in shards.
type history struct {
	shards [][]stream.Record
	want   map[comment.ID][]outbox.Event
}

// newHistory makes edits of comments. Each comment is in one shard. If there are several, the
// table's stream is switched off and on again in between.
func newHistory(r *rand.Rand, shards, comments, changes int) history {
	h := history{shards: make([][]stream.Record, shards), want: map[comment.ID][]outbox.Event{}}
	items, all := map[comment.ID]layout.Item{}, commenttest.Many(r, "espresso", comments)
	for i := range changes {
		k := r.IntN(comments)
		c := all[k]
		c.Version = len(h.want[c.ID]) + 2 // so that each change is an event
		label := "2026-11-26T00:00:00.000"
		if shards > 1 && i > changes/2 {
			label = "2026-11-27T00:00:00.000"
		}
		record := stream.Record{
			Position: stream.PositionOf(label, fmt.Sprint(i+1)), Created: time.Unix(int64(i), 0), Keys: layout.CommentKey(c.ID),
			Old: items[c.ID], New: layout.Encode(c),
		}
		items[c.ID] = record.New
		h.want[c.ID] = append(h.want[c.ID], outbox.Of(record)...)
		h.shards[k%shards] = append(h.shards[k%shards], record)
	}
	return h
}

// lane returns the lane of the only comment.
func (h history) lane() int { return outbox.LaneOf(layout.IDOfKey(h.shards[0][0].Keys)) }

// counter is a handler that notes what it counts, if it has a map for that. With a source of random
// numbers, it sometimes fails as counting does.
type counter struct {
	*rand.Rand
	counted map[stream.Position]bool
}

func (c counter) handle(_ context.Context, records []stream.Record) error {
	failed := stream.RecordErrors{}
	if c.Rand != nil {
		switch c.IntN(6) {
		case 0:
			return comment.Errorf(comment.Throttled, "busy")
		case 1:
			failed[c.IntN(len(records))] = comment.Errorf(comment.Throttled, "busy")
		}
	}
	for i, record := range records {
		if c.counted != nil && failed[i] == nil {
			c.counted[record.Position] = true
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// process handles a shard's records as a reader of the stream does. Sometimes it starts again from
// an earlier checkpoint, like another process that takes the shard over.
func process(t *testing.T, r *rand.Rand, open func() *outbox.Outbox, shard []stream.Record) {
	count := counter{r, map[stream.Position]bool{}}
	handler := open().After(count.handle)
	for next := 0; next < len(shard) && t.Context().Err() == nil; {
		batch := shard[next:min(next+1+r.IntN(30), len(shard))]
		done, _ := stream.Deliver(t.Context(), handler, batch, nil)
		next += done // waiting records come again, and so do those done after them
		if r.IntN(5) == 0 {
			handler, next = open().After(count.handle), max(0, next-r.IntN(40))
		}
	}
	if len(count.counted) != len(shard) {
		t.Errorf("%d of %d records are counted", len(count.counted), len(shard))
	}
}

// A record that can never be counted has no events, and later ones of its comment have theirs. A
// record that has to wait makes those wait too.
func TestFailedRecords(t *testing.T) {
	client, table := newTable(t)
	out, h := outbox.New(client, table), newHistory(commenttest.Rand(t), 1, 1, 3)
	must.Do(t, out.Want(t.Context(), "test", 0))
	for _, row := range []struct {
		kind           comment.Kind
		failed, events int
	}{{comment.Throttled, 3, 0}, {comment.BadInput, 1, 2}} {
		var failed stream.RecordErrors
		err := out.After(func(context.Context, []stream.Record) error {
			return stream.RecordErrors{0: comment.Errorf(row.kind, "no")}
		})(t.Context(), h.shards[0])
		if !errors.As(err, &failed) || len(failed) != row.failed {
			t.Errorf("%v: %v", row.kind, err)
		}
		changes := map[time.Time]bool{}
		for _, e := range eventsOf(t, out) {
			changes[e.At] = true
		}
		if len(changes) != row.events {
			t.Errorf("%v: events of %d changes, want %d", row.kind, len(changes), row.events)
		}
	}
}

// Processes append under faults, kills and replays. Each comment's events are in the log once and
// in order, and event numbers have no gap.
func TestNothingIsLost(t *testing.T) {
	client, table := newTable(t)
	r := commenttest.Rand(t)
	must.Do(t, outbox.New(client, table).Want(t.Context(), "test", 0))
	h := newHistory(r, 3, 12, commenttest.Times(300, 3000))
	var running sync.WaitGroup
	for _, shard := range h.shards {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		running.Go(func() {
			process(t, own, func() *outbox.Outbox {
				bad, _ := faulttest.Under(client, faulttest.OneIn(own, 8))
				return outbox.New(bad, table)
			}, shard)
		})
	}
	running.Wait()
	got := map[comment.ID][]outbox.Event{}
	for _, e := range eventsOf(t, outbox.New(client, table)) {
		e.Number = 0
		got[e.Comment] = append(got[e.Comment], e)
	}
	check.Equal(t, h.want, got)
}

// A reader can continue from any event. It gets an error if the events after it are gone, or if its
// position is invalid.
func TestPositions(t *testing.T) {
	client, table := newTable(t)
	out, r := outbox.New(client, table), commenttest.Rand(t)
	must.Do(t, out.Want(t.Context(), "test", 0))
	began := must.Get(out.Ends(t.Context()))(t)
	h := newHistory(r, 1, 1, 35)
	must.Do(t, out.After(counter{}.handle)(t.Context(), h.shards[0]))
	var all []outbox.Event
	lane := h.lane()
	batch, err := out.Read(t.Context(), lane, began[lane], 100)
	if all = batch.Events; err != nil || batch.Missing || len(all) != 36 {
		t.Fatal(len(all), batch, err)
	}
	for i, e := range all {
		rest, err := out.Read(t.Context(), lane, e.Number, 100)
		if diff := cmp.Diff(all[i+1:], rest.Events, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
	late := outbox.New(lagging{client}, table)
	if rest, err := late.Read(t.Context(), lane, all[34].Number, 100); err != nil || len(rest.Events) != 1 {
		t.Errorf("behind an event that a replica lacks: %+v, %v", rest.Events, err)
	}
	at := began
	if at[lane] = batch.Last; late.Check(t.Context(), at) != nil {
		t.Error("a position that a replica lacks is refused")
	}
	if at[lane] = all[7].Number; out.Check(t.Context(), at) != nil {
		t.Error("a position in the log is refused")
	}
	if at[lane] = batch.Last + 1; comment.KindOf(out.Check(t.Context(), at)) != comment.BadInput {
		t.Error("a position ahead of the log is taken")
	}
	if again, err := outbox.ParsePosition(at.String()); again != at || err != nil {
		t.Error(again, err)
	}
	for _, text := range []string{"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.-4", "01.2.3.4", "1.2.3.99999999999999999999", "a.b.c.d"} {
		if _, err := outbox.ParsePosition(text); comment.KindOf(err) != comment.BadInput {
			t.Errorf("%q is taken", text)
		}
	}
	// The first events expire.
	first := all[0].Number >> 7
	for number := first; number < first+2; number++ {
		key := layout.Item{"PK": layout.OutboxLanePK(lane), "SK": layout.Text(layout.OutboxSK(number))}
		must.Get(client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key}))(t)
	}
	for _, e := range []outbox.Event{all[0], all[5], all[9]} {
		if _, err := out.Read(t.Context(), lane, e.Number, 1); !errors.Is(err, outbox.ErrGone) {
			t.Errorf("from an event that is gone: %v", err)
		}
	}
	if rest, err := out.Read(t.Context(), lane, 0, 100); err != nil || len(rest.Events) == 0 {
		t.Error("the first kept event cannot be read", err)
	}
}

// lagging answers eventually consistent reads of lanes without the newest item.
type lagging struct{ outbox.Client }

func (l lagging) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := l.Client.Query(ctx, in, o...)
	if err != nil || *in.ConsistentRead || len(out.Items) == 0 {
		return out, err
	}
	if *in.ScanIndexForward {
		out.Items = out.Items[:len(out.Items)-1]
	} else {
		out.Items = out.Items[1:]
	}
	return out, nil
}

// writes counts the reads and writes of a client.
type writes struct {
	outbox.Client
	mu            sync.Mutex // lanes write in parallel
	reads, writes int
	lanes         int     // reads of lanes
	units         float64 // of writes
}

func (w *writes) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	w.mu.Lock()
	if w.reads++; in.ExpressionAttributeValues[":lane"] != nil {
		w.lanes++
	}
	w.mu.Unlock()
	return w.Client.Query(ctx, in, o...)
}

func (w *writes) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	w.units += math.Ceil(float64(layout.SizeOf(in.Item, nil)) / layout.WriteUnitBytes)
	return w.Client.PutItem(ctx, in, o...)
}

// An event alone takes one write unit, an event of a burst a tenth. Reading them for a client is
// charged to that client.
func TestCost(t *testing.T) {
	client, table := newTable(t)
	counted := &writes{Client: client}
	out, h := outbox.New(counted, table), newHistory(commenttest.Rand(t), 1, 1, 102)
	last := h.shards[0][101:]
	h.shards[0] = h.shards[0][:101]
	must.Do(t, out.Want(t.Context(), "test", 0))
	handler, begun := out.After(counter{}.handle), counted.lanes
	for _, row := range []struct {
		records []stream.Record
		want    float64
	}{{h.shards[0][:1], 1}, {h.shards[0][1:], 10}, {h.shards[0], 0}} {
		counted.units = 0
		if err := handler(t.Context(), row.records); err != nil || counted.units != row.want {
			t.Errorf("%d records: %v write units, want %v; %v", len(row.records), counted.units, row.want, err)
		}
	}
	if counted.lanes > begun {
		t.Errorf("a process that knows the ends of lanes read %d times", counted.lanes-begun)
	}
	counted.units = 0 // of a process that continues where another ended
	if err := outbox.New(counted, table).After(counter{}.handle)(t.Context(), last); err != nil || counted.units != 1 {
		t.Errorf("%v write units of a process that begins, want 1; %v", counted.units, err)
	}
	c := commenttest.Random(commenttest.Rand(t), strings.Repeat("p", comment.MaxIDBytes)) // of a product with a long name
	encoded, records := layout.Encode(c), []stream.Record(nil)
	for n := 0; len(records) < 5600; n++ { // more than one of its maps remembers
		key := layout.CommentKey(comment.IDOf(comment.PositionAt(c.CreatedAt(), [10]byte{byte(n >> 8), byte(n)})))
		if outbox.LaneOf(layout.IDOfKey(key)) == 0 {
			now := maps.Clone(encoded)
			maps.Copy(now, key)
			records = append(records, stream.Record{Position: stream.PositionOf("2026-11-28T00:00:00.000", fmt.Sprint(n+1)), Created: time.Now(), Keys: key, New: now})
		}
	}
	counted.units, counted.writes = 0, 0
	if err := handler(t.Context(), records); err != nil || counted.units == 0 || counted.units != float64(counted.writes) {
		t.Errorf("%d items take %v write units; %v", counted.writes, counted.units, err)
	}
	counted.units = 0
	if err := handler(t.Context(), records[len(records)-4500:]); err != nil || counted.units > 0 {
		t.Errorf("%v write units of records that come again; %v", counted.units, err)
	}
	account := usage.NewPool(1).Open(1)
	for lane := range outbox.Lanes {
		must.Get(out.Read(usage.With(t.Context(), account), lane, 0, 100))(t)
	}
	if read := account.Reads(); read.Calls != outbox.Lanes || read.Units < outbox.Lanes*.5 {
		t.Errorf("a client that resumes pays for %+v", read)
	}
}

// lastWrite ends its process as it writes that it wants events.
type lastWrite struct {
	outbox.Client
	die func()
}

func (l lastWrite) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := l.Client.PutItem(ctx, in, o...)
	if reflect.DeepEqual(in.Item["SK"], layout.OutboxKey(layout.OutboxWantPrefix + "a")["SK"]) {
		l.die()
		return nil, context.Canceled
	}
	return out, err
}

// While nothing wants events, nothing is written, and a process checks every few seconds whether
// that changed. After the outbox was off, a reader learns that events are missing, even if the
// first process that wanted them ended at once.
func TestOff(t *testing.T) {
	client, table := newTable(t)
	counted := &writes{Client: client}
	out, h := outbox.New(counted, table), newHistory(commenttest.Rand(t), 1, 5, 50)
	handler := out.After(counter{}.handle)
	for _, record := range h.shards[0] {
		must.Do(t, handler(t.Context(), []stream.Record{record, {Keys: layout.VoteSumsKey("c_1")}}))
	}
	must.Do(t, out.Lost(t.Context()))
	if counted.writes > 0 || counted.reads >= len(h.shards[0]) {
		t.Errorf("%d reads and %d writes of an outbox that nobody wants", counted.reads, counted.writes)
	}
	dying, die := context.WithCancel(t.Context())
	if err := outbox.New(lastWrite{client, die}, table).Want(dying, "a", time.Hour); err == nil {
		t.Error("Want reports no error, though its process ended")
	}
	for range 2 { // they may find it on
		must.Do(t, out.Want(t.Context(), "a", time.Hour))
	}
	must.Do(t, handler(t.Context(), h.shards[0]))
	missing := 0
	for lane := range outbox.Lanes {
		batch := must.Get(out.Read(t.Context(), lane, 0, 100))(t)
		if batch.Missing {
			missing++
		}
		if again, err := out.Read(t.Context(), lane, batch.Last, 100); err != nil || again.Missing || again.Last != batch.Last {
			t.Error(again, err)
		}
	}
	if wanted, err := out.Wanted(t.Context()); missing != outbox.Lanes || len(wanted) != 1 || err != nil {
		t.Error(missing, wanted, err)
	}
	outbox.SetClock(out, func() time.Time { return faulttest.Suspended(time.Now(), 2*time.Hour) })
	if wanted, err := out.Wanted(t.Context()); len(wanted) > 0 || err != nil { // before the table deletes the item
		t.Error(wanted, err)
	}
	must.Do(t, out.Unwant(t.Context(), "a"))
}

// A request of Unwant that arrives after events are wanted again has no effect.
func TestUnwantThatArrivesLate(t *testing.T) {
	client, table := newTable(t)
	out := outbox.New(client, table)
	must.Do(t, out.Want(t.Context(), "a", 0))
	ctx, end := context.WithCancel(t.Context())
	late, network := faulttest.Under(client, func(call int) faulttest.Fault {
		if call == 1 { // the read before
			return faulttest.None
		}
		end()
		return faulttest.Late
	})
	if err := outbox.New(late, table).Unwant(ctx, "a"); err == nil {
		t.Error("Unwant reports no error, though its process ended")
	}
	must.Do(t, out.Want(t.Context(), "a", 0))
	must.Do(t, network.Flush())
	if wanted, err := out.Wanted(t.Context()); err != nil || len(wanted) == 0 {
		t.Errorf("nobody wants events any more: %v, %v", wanted, err)
	}
	for range 2 { // the second finds nothing to do
		must.Do(t, out.Unwant(t.Context(), "a"))
	}
	if wanted, err := outbox.New(client, table).Wanted(t.Context()); err != nil || len(wanted) > 0 {
		t.Errorf("wanted are %v, %v", wanted, err)
	}
}

// Two processes that begin a lane at once continue each other's numbers.
func TestTwoBegin(t *testing.T) {
	client, table := newTable(t)
	// The other does so just before this one puts the first start of a lane.
	late := outbox.New(faulttest.Before(client, "PutItem", sync.OnceFunc(func() {
		if err := outbox.New(client, table).Want(t.Context(), "other", 0); err != nil {
			t.Error(err)
		}
	})), table)
	outbox.SetClock(late, func() time.Time { return time.Now().Add(time.Minute) })
	must.Do(t, late.Want(t.Context(), "late", 0))
	for lane := range outbox.Lanes {
		first := must.Get(late.Read(t.Context(), lane, 0, 1))(t)
		if _, err := late.Read(t.Context(), lane, first.Last, 10); err != nil {
			t.Errorf("lane %d: %v", lane, err)
		}
	}
}

// An import is one event for each product that it changed. Other events stay.
func TestImports(t *testing.T) {
	client, table := newTable(t)
	r, out := commenttest.Rand(t), outbox.New(client, table)
	must.Do(t, out.Want(t.Context(), "a test", 0))
	var records []stream.Record
	want := map[string][]outbox.Kind{}
	for _, product := range []string{"espresso", "teapot", "hidden"} {
		for i, c := range commenttest.Many(r, product, 20) {
			c.Status, c.Moderation = comment.Approved, nil
			now := layout.Encode(c)
			if i == 19 || product == "hidden" { // these comments are in no list
				c.Status = comment.Rejected
				now = layout.Encode(c)
			}
			if i > 0 {
				now[layout.AttrImport] = layout.Text("7:1:0:")
			}
			records = append(records, stream.Record{Position: stream.PositionOf("l", fmt.Sprint(len(records)+1)), Keys: layout.CommentKey(c.ID), New: now})
		}
		want[product] = []outbox.Kind{outbox.Added, outbox.Imported, outbox.StatisticsChanged, outbox.StatisticsChanged}
	}
	want["hidden"] = []outbox.Kind{outbox.Added, outbox.Imported}
	// One comment moves to another cell, the last change of one that is shown changes no count, and
	// one is nowhere; or an import is undone.
	for product, all := range map[string][]comment.Comment{"mended": commenttest.Many(r, "mended", 3), "undone": commenttest.Many(r, "undone", 2)} {
		for i, c := range all {
			c.Status, c.Moderation = comment.Approved, nil
			if i == len(all)-1 {
				c.Status = comment.Rejected
			}
			old := layout.Encode(c)
			old[layout.AttrImport] = layout.Text("7:1:0:")
			now := layout.Tombstone(c.ID, "mark", time.Now())
			if product == "mended" {
				if i == 0 {
					c.Rating = c.Rating%5 + 1
				}
				now = layout.Encode(c)
				now[layout.AttrImport] = layout.Text("8:1:0:")
			} else {
				now[layout.AttrImport] = layout.Text("7:1:0:")
			}
			records = append(records, stream.Record{Position: stream.PositionOf("l", fmt.Sprint(len(records)+1)), Keys: layout.CommentKey(c.ID), Old: old, New: now})
		}
		want[product] = []outbox.Kind{outbox.Imported, outbox.StatisticsChanged}
	}
	must.Do(t, out.After(counter{}.handle)(t.Context(), records))
	got := map[string][]outbox.Kind{}
	for _, e := range eventsOf(t, out) {
		got[e.Product] = append(got[e.Product], e.Kind)
		if (e.Shown || e.WasShown) == (e.Product == "hidden") {
			t.Errorf("%+v is of a comment that is in lists: %v", e, e.Shown)
		}
	}
	for product := range got {
		slices.Sort(got[product])
	}
	check.Equal(t, want, got, "events")
}

// An item that was damaged by hand keeps no process from appending, and hides no event of another
// item from a reader. The reader learns where events are missing.
func TestDamagedItems(t *testing.T) {
	client, table := newTable(t)
	out := outbox.New(client, table)
	must.Do(t, out.Want(t.Context(), "test", 0))
	began := must.Get(out.Ends(t.Context()))(t)
	h := newHistory(commenttest.Rand(t), 1, 1, 60)
	lane := h.lane()
	must.Do(t, out.After(counter{}.handle)(t.Context(), h.shards[0][:40]))
	batch := must.Get(out.Read(t.Context(), lane, began[lane], 100))(t)
	damages := []layout.Item{{}, {"e": layout.Text("ada@shop.example")}, {"l": layout.Number(1)}, {"e": &types.AttributeValueMemberL{Value: []types.AttributeValue{layout.Text("ada@shop.example")}}}}
	first, items := batch.Events[0].Number>>7, batch.Last>>7-batch.Events[0].Number>>7+1
	if int(items) != len(damages) {
		t.Fatalf("%d items", items)
	}
	for i, damage := range damages {
		if i == 0 {
			continue
		}
		it := layout.OutboxItem(lane, layout.Outbox{Number: first + uint64(i), Label: "l"})
		maps.Copy(it, damage)
		must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
	}
	must.Do(t, outbox.New(client, table).After(counter{}.handle)(t.Context(), h.shards[0][40:]))
	rest := must.Get(out.Read(t.Context(), lane, began[lane], 100))(t)
	if !rest.Missing || len(rest.Improper) != len(damages)-1 || strings.Contains(fmt.Sprint(rest.Improper), "ada@") {
		t.Errorf("missing is %v: %v", rest.Missing, rest.Improper)
	}
	if got := len(rest.Events); got < 10+20 || rest.Events[0].ID != batch.Events[0].ID {
		t.Errorf("%d events are left", got)
	}
	if text := fmt.Sprint(rest.Improper[0]); !strings.HasPrefix(text, fmt.Sprintf("item OUT#%d/%s: ", lane, layout.OutboxSK(first+1))) {
		t.Error(text)
	}
}

// A lane starts anew whatever its start item was changed to by hand.
func TestDamagedStart(t *testing.T) {
	for _, damage := range []layout.Item{{}, {"n": layout.Text("x")}, {"n": &types.AttributeValueMemberN{Value: "1.5"}}} {
		client, table := newTable(t)
		for lane := range outbox.Lanes {
			it := layout.OutboxKey(layout.OutboxStartPrefix + strconv.Itoa(lane))
			maps.Copy(it, damage)
			must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if err := outbox.New(client, table).Want(ctx, "test", 0); err != nil {
			t.Errorf("%v: %v", damage, err)
		}
	}
}

// A process that appended long ago appends after all others when events are wanted again, though
// everything that it knew has expired.
func TestAppendAfterAllHasExpired(t *testing.T) {
	client, table := newTable(t)
	old, h := outbox.New(client, table), newHistory(commenttest.Rand(t), 1, 1, 3)
	outbox.SetClock(old, func() time.Time { return time.Now().Add(-outbox.Keep - 24*time.Hour) })
	must.Do(t, old.Want(t.Context(), "test", 0))
	appends := func(out *outbox.Outbox, change int) {
		t.Helper()
		must.Do(t, out.After(counter{}.handle)(t.Context(), h.shards[0][change:change+1]))
	}
	appends(old, 0)
	lane := h.lane()
	ends, want := must.Get(old.Ends(t.Context()))(t), outbox.Of(h.shards[0][2])
	for number := ends[lane] >> 7; number > ends[lane]>>7-2; number-- { // the change, and the mark before it
		key := layout.Item{"PK": layout.OutboxLanePK(lane), "SK": layout.Text(layout.OutboxSK(number))}
		must.Get(client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key}))(t)
	}
	gone := ends[lane]
	if _, err := old.Read(t.Context(), lane, gone-1, 10); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("in an item that is gone, and no other is left: %v", err)
	}
	appends(outbox.New(client, table), 1)
	if _, err := old.Read(t.Context(), lane, gone, 10); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("behind all events of a lane that began anew: %v", err)
	}
	ends = must.Get(old.Ends(t.Context()))(t)
	outbox.SetClock(old, time.Now)
	appends(old, 2)
	batch, err := old.Read(t.Context(), lane, ends[lane], 10)
	if err != nil || len(batch.Events) != len(want) || batch.Events[0].ID != want[0].ID {
		t.Errorf("behind the second change are %+v; %v", batch.Events, err)
	}
}
