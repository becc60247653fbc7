package erasure_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/usage"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// Author IDs and names that nothing else in a table holds.
var (
	ada  = comment.Author{ID: "customer-ada", Name: "Ada-Name"}
	ida  = comment.Author{ID: "imported-ida", Name: "Ida-Name", Imported: true}
	none = func(comment.Erasure) {}
)

// table is a table with comments of authors and of others, and the items that belong to them.
type table struct {
	t      *testing.T
	client *dynamodb.Client
	name   string
	store  *dynamo.Store
	r      *rand.Rand
}

func newTable(t *testing.T) *table {
	t.Helper()
	client, name := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	return &table{t, client, name, dynamo.NewStore(client, name, dynamo.Options{}), commenttest.Rand(t)}
}

func (x *table) must(err error) {
	x.t.Helper()
	must.Do(x.t, err)
}

// comment returns a new approved comment of an author.
func (x *table) comment(author comment.Author) comment.Comment {
	c := commenttest.Random(x.r, "p")
	c.Author, c.Version, c.UpdatedAt, c.Status, c.Moderation, c.Reply = author, 1, nil, comment.Approved, nil, nil
	return c
}

func (x *table) add(author comment.Author, key string) comment.Comment {
	x.t.Helper()
	c := x.comment(author)
	must.Get(x.store.Add(x.t.Context(), c, key))(x.t)
	return c
}

// fill writes one of each kind of item that a table holds about an author, and comments of others.
func (x *table) fill(author comment.Author) {
	x.t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	other := x.add(comment.Author{ID: "bo", Name: "Bo"}, "a key")
	x.add(comment.Author{ID: "cy", Name: "Cy", Imported: true}, "")
	c, spam := x.add(author, "a key"), comment.Spam
	edited := c
	edited.Moderation = &comment.Moderation{
		HeldEdit: &comment.HeldEdit{Rating: 1, Language: "en", Text: "An edit of " + author.Name, At: now, Version: 2},
		Held:     []comment.HoldReason{comment.HeldEdited}, Since: now,
	}
	x.must(x.store.Replace(x.t.Context(), c, edited))
	x.must(x.store.SetReply(x.t.Context(), c, &comment.Reply{Text: "Thank you, " + author.Name, Name: "Shop", CreatedAt: now, Version: 1}))
	rejected := x.add(author, "")
	refused := rejected
	refused.Status, refused.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
	x.must(x.store.Decide(x.t.Context(), rejected, refused, comment.Decision{
		CommentID: rejected.ID, Position: comment.PositionAt(now, [10]byte{}), From: comment.Approved, To: comment.Rejected, Version: 1, Reason: &spam, Note: "A note about " + author.Name,
	}))
	x.report(x.add(author, ""), "bo", "A report of "+author.Name)
	if !author.Imported {
		x.report(other, author.ID, "A report by "+author.Name)
	}
}

func (x *table) report(c comment.Comment, by, note string) {
	x.t.Helper()
	after := c
	after.Moderation = &comment.Moderation{Reports: 1}
	x.must(x.store.Report(x.t.Context(), c, after, comment.Report{By: by, At: time.Now(), Reason: "SPAM", Note: note}))
}

func (x *table) items() []layout.Item {
	x.t.Helper()
	return must.Get(x.client.Scan(x.t.Context(), &dynamodb.ScanInput{TableName: &x.name, ConsistentRead: aws.Bool(true)}))(x.t).Items
}

// traces returns the keys of items that hold the id or the name of an author.
func (x *table) traces(author comment.Author) (keys []string) {
	x.t.Helper()
	for _, it := range x.items() {
		for _, value := range it {
			if text := textsIn(value); strings.Contains(text, author.ID) || strings.Contains(text, author.Name) {
				r := layout.NewReader(it)
				keys = append(keys, r.Text(layout.AttrPK)+"/"+r.Text(layout.AttrSK))
				break
			}
		}
	}
	return keys
}

// textsIn returns the texts in a value, including nested values.
func textsIn(value types.AttributeValue) string {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberB:
		return string(value.Value)
	case *types.AttributeValueMemberM:
		text := ""
		for _, inner := range value.Value {
			text += textsIn(inner) + " "
		}
		return text
	case *types.AttributeValueMemberL:
		return fmt.Sprint(reflect.ValueOf(value.Value).Len())
	}
	return ""
}

// kinds counts the items of a table by the prefixes of their keys.
func (x *table) kinds() map[string]int {
	out := map[string]int{}
	for _, it := range x.items() {
		r := layout.NewReader(it)
		kind, _, _ := strings.Cut(r.Text(layout.AttrPK), "#")
		beside, _, _ := strings.Cut(r.Text(layout.AttrSK), "#")
		if kind == "ERASED" || kind == "ERASING" {
			beside = ""
		}
		if it[layout.AttrDeleted] != nil {
			beside = "tombstone"
		}
		out[kind+"/"+beside]++
	}
	delete(out, "SETTINGS/LAYOUT")
	return out
}

// eraser returns an eraser that takes over at once from an earlier one, because each claims to use
// another run of the engine.
func (x *table) eraser(client erasure.Client) *erasure.Eraser {
	return erasure.Hasten(erasure.New(client, x.name, "a test", fmt.Sprint(x.r.Uint64())))
}

// lagging finds nothing by an eventually consistent scan.
type lagging struct{ *dynamodb.Client }

func (l lagging) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if !aws.ToBool(in.ConsistentRead) {
		return &dynamodb.ScanOutput{}, nil
	}
	return l.Client.Scan(ctx, in, options...)
}

// An erasure leaves tombstones and the mark, reports what it erased, and changes nothing when it is
// repeated. Other authors' items stay.
func TestErasure(t *testing.T) {
	for name, author := range map[string]comment.Author{"a customer": ada, "an imported author": ida} {
		t.Run(name, func(t *testing.T) {
			x := newTable(t)
			x.fill(author)
			before := x.kinds()
			got := must.Get(x.eraser(lagging{x.client}).Run(t.Context(), author, none))(x.t)
			check.Equal(t, []string(nil), x.traces(author), "items are left")
			want := comment.Erasure{
				State: comment.ErasureDone, Comments: 3, HeldEdits: 1, Replies: 1, Decisions: 1, ReportsAbout: 1, Reports: 1, Keys: 1,
			}
			left := map[string]int{"C/C": 2, "C/tombstone": 3, "KEY/K": 1, "ERASED/": 1}
			if author.Imported {
				want.Reports = 0 // only customers report
			}
			if got.ReadUnits == 0 || got.WriteUnits == 0 || got.FinishedAt == nil {
				t.Errorf("the report lacks its cost, or its end: %+v", got)
			}
			status, found, err := x.eraser(x.client).Status(t.Context(), author)
			x.must(err)
			if diff := cmp.Diff(got, status); !found || diff != "" {
				t.Error(found, diff)
			}
			want.RequestedAt, want.FinishedAt, want.ReadUnits, want.WriteUnits = got.RequestedAt, got.FinishedAt, got.ReadUnits, got.WriteUnits
			check.Equal(t, want, got)
			check.Equal(t, left, x.kinds(), "of", before, "is left")
			again, err := x.eraser(x.client).Run(t.Context(), author, none)
			if err != nil || again.Comments+again.Reports+again.Keys > 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
			check.Equal(t, left, x.kinds())
		})
	}
}

// The cost of an erasure for each comment: the tombstone takes the comment out of its item, four
// lists and the index of customers.
func TestErasureCost(t *testing.T) {
	x := newTable(t)
	for range 10 {
		c := x.comment(ada)
		c.Text, c.Media, c.Verified = "It pours well.", nil, false
		must.Get(x.store.Add(t.Context(), c, ""))(x.t)
	}
	got := must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t)
	if got.Comments != 10 || got.WriteUnits != 60 || got.ReadUnits > 36 {
		t.Errorf("%+v, want 6 write units and some 3 read units for each comment", got)
	}
}

// Reads of the progress of an erasure count for the operation that needs it: one unit for an
// erasure under way, else two.
func TestStatusIsCharged(t *testing.T) {
	x := newTable(t)
	e := x.eraser(x.client)
	must.Get(e.Start(t.Context(), ada))(t)
	for author, units := range map[comment.Author]float64{ada: 1, {ID: "bo", Name: "Bo"}: 2} {
		operation := usage.NewPool(1).Open(1)
		_, _, err := e.Status(usage.With(t.Context(), operation), author)
		x.must(err)
		if reads := operation.Reads(); reads.Units != units || reads.Calls != int(units) {
			t.Errorf("charged %+v for %s, want %v units", reads, author.Name, units)
		}
	}
}

// An erasure is killed at each of its calls, and in its answer. Another process takes it over and
// completes it.
func TestErasureKilledAtEachCall(t *testing.T) {
	r := commenttest.Rand(t)
	for _, fault := range []faulttest.Fault{faulttest.Refused, faulttest.AnswerLost} {
		for n, ended := commenttest.Stride(r, 8), false; !ended; n += commenttest.Stride(r, 8) {
			x := newTable(t)
			x.fill(ada)
			ctx, kill := context.WithCancel(t.Context())
			dead := false
			client, network := faulttest.Under(x.client, func(call int) faulttest.Fault {
				if call >= n && !dead {
					dead = true
					kill()
					return fault
				}
				if dead {
					return faulttest.Refused
				}
				return faulttest.None
			})
			_, err := x.eraser(client).Run(ctx, ada, none)
			ended = err == nil || n > network.Calls()
			x.must(network.Flush())
			kill()
			done := must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t)
			if keys := x.traces(ada); len(keys) > 0 {
				t.Fatalf("killed at call %d (%s), it leaves %v", n, fault, keys)
			}
			want := map[string]int{"C/C": 2, "C/tombstone": 3, "KEY/K": 1, "ERASED/": 1}
			if diff := cmp.Diff(want, x.kinds()); diff != "" {
				t.Fatalf("killed at call %d (%s): %s", n, fault, diff)
			}
			if done.Comments > 3 {
				t.Fatalf("killed at call %d: %d comments are counted", n, done.Comments)
			}
		}
	}
}

// An erasure over a bad network ends complete.
func TestErasureThroughFaults(t *testing.T) {
	for range commenttest.Times(2, 20) {
		x := newTable(t)
		x.fill(ada)
		client, network := faulttest.Under(x.client, faulttest.OneIn(x.r, 4))
		for try := 0; ; try++ {
			_, err := x.eraser(client).Run(t.Context(), ada, none)
			if err == nil {
				break
			}
			if try == 20 {
				t.Fatal(err)
			}
		}
		x.must(network.Flush())
		if keys := x.traces(ada); len(keys) > 0 {
			t.Fatalf("left: %v", keys)
		}
	}
}

// An erasure beside imports of new files, edits, decisions, replies, reports and rebuilds ends
// complete.
func TestErasureBesideWriters(t *testing.T) {
	for _, author := range []comment.Author{ada, ida} {
		x := newTable(t)
		x.fill(author)
		var comments []comment.Comment
		for range 20 {
			comments = append(comments, x.add(author, ""))
		}
		files := make([][]comment.Comment, 400)
		for i := range files {
			files[i] = []comment.Comment{x.comment(author), x.comment(author)}
		}
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		writers.Go(func() {
			loader := dynamo.NewLoader(x.client, x.name, 2)
			loader.Marks = erasure.HastenMarks(erasure.NewMarks(x.client, x.name))
			for _, file := range files {
				if ctx.Err() == nil {
					_, _ = loader.Load(ctx, file)
				}
			}
		})
		writers.Go(func() {
			rebuilder := counts.NewRebuilder(x.client, x.name, counts.RebuildOptions{Calls: 1})
			for ctx.Err() == nil {
				_, _ = rebuilder.Run(ctx, func(counts.RebuildProgress) {}) // stopped when the erasure ends
			}
		})
		spam := comment.Spam
		for i, c := range comments {
			writers.Go(func() {
				for version := 1; ctx.Err() == nil && version < 1000; version++ {
					now, err := x.store.Comment(ctx, c.ID)
					if err != nil {
						return
					}
					after := now
					switch i % 4 {
					case 0:
						after.Version, after.Text = now.Version+1, "An edit."
						_ = x.store.Replace(ctx, now, after)
					case 1:
						after.Status, after.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
						if now.Status == comment.Rejected {
							after.Status, after.Moderation = comment.Approved, nil
						}
						_ = x.store.Decide(ctx, now, after, comment.Decision{CommentID: c.ID, Position: comment.PositionAt(time.Now(), [10]byte{byte(version), byte(version >> 8)}), From: now.Status, To: after.Status, Version: 1, Note: author.Name})
					case 2:
						reply := comment.Reply{Text: author.Name, Name: "Shop", CreatedAt: time.UnixMilli(1e12).UTC(), Version: 1}
						if now.Reply != nil {
							reply.Version = now.Reply.Version + 1
						}
						_ = x.store.SetReply(ctx, now, &reply)
					case 3:
						after.Moderation = &comment.Moderation{Reports: version}
						_ = x.store.Report(ctx, now, after, comment.Report{By: fmt.Sprint("customer ", version), At: time.Now(), Reason: "SPAM", Note: author.Name})
					}
				}
			})
		}
		done, err := erasure.AwaitMarks(x.eraser(x.client)).Run(ctx, author, none)
		stop()
		writers.Wait()
		x.must(err)
		check.Equal(t, []string(nil), x.traces(author), "items are left of", x.kinds())
		if done.Comments < 23 {
			t.Errorf("%+v", done)
		}
	}
}

// From any file, an import leaves out the comments that an erased author wrote up to the
// millisecond in which the erasure ended, and imports later ones. An erased customer is also left
// out as an imported author.
func TestMarks(t *testing.T) {
	x := newTable(t)
	must.Get(x.eraser(x.client).Run(t.Context(), ida, none))(x.t)
	ended := *must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t).FinishedAt
	for i, row := range []struct {
		why     string
		author  comment.Author
		written time.Duration // after the end
		erased  int
	}{
		{"the customer, from a restored file", ada, -time.Hour, 1},
		{"an imported author with the customer's id", comment.Author{ID: ada.ID, Name: "A", Imported: true}, -time.Hour, 1},
		{"the imported author", ida, -time.Hour, 1},
		{"a customer with the imported author's id, who is somebody else", comment.Author{ID: ida.ID, Name: "I"}, -time.Hour, 0},
		{"the customer, at the end", ada, 0, 1},
		{"the customer, who wrote anew", ada, time.Millisecond, 0},
		{"somebody else", comment.Author{ID: "bo", Name: "Bo"}, -time.Hour, 0},
	} {
		c := x.comment(row.author)
		c.ID = comment.IDOf(comment.PositionAt(ended.Add(row.written), [10]byte{byte(i)}))
		loader := dynamo.NewLoader(x.client, x.name, 1)
		loader.Marks = erasure.NewMarks(x.client, x.name)
		counts, err := loader.Load(t.Context(), []comment.Comment{c})
		if want := (dynamo.LoadCounts{Erased: row.erased, Written: 1 - row.erased}); err != nil || counts != want {
			t.Errorf("%s: %+v, %v", row.why, counts, err)
		}
	}
}

// serve runs a server until its log and the state of an author's erasure are as they should be, and
// returns the log.
func (x *table) serve(server *erasure.Eraser, author comment.Author, enough func(state comment.ErasureState, log string) bool) string {
	x.t.Helper()
	var log commenttest.Transcript
	ctx, stop := context.WithCancel(x.t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(ctx, slog.New(slog.NewTextHandler(&log, nil))) })
	for {
		now, found, err := server.Status(x.t.Context(), author)
		if x.must(err); !found {
			x.t.Fatal("the erasure is unknown")
		}
		if enough(now.State, log.String()) {
			break
		}
		if strings.Count(log.String(), "stopped") > 20 {
			x.t.Fatal(log.String())
		}
	}
	stop()
	serving.Wait()
	return log.String()
}

// A server carries out requested erasures, including those that a killed process left, and its log
// names no author.
func TestServe(t *testing.T) {
	x := newTable(t)
	x.fill(ada)
	asked := must.Get(x.eraser(x.client).Start(t.Context(), ada))(x.t)
	if asked.State != comment.ErasureWaiting || asked.RequestedAt.IsZero() {
		t.Errorf("it begins as %+v", asked)
	}
	if again, err := x.eraser(x.client).Start(t.Context(), ada); err != nil || !again.RequestedAt.Equal(asked.RequestedAt) {
		t.Errorf("asked for again, it is %+v, %v", again, err)
	}
	text := x.serve(x.eraser(x.client), ada, func(state comment.ErasureState, log string) bool {
		if strings.Contains(log, "stopped") {
			t.Fatal(log)
		}
		return state == comment.ErasureDone && strings.Contains(log, "erased")
	})
	check.Equal(t, []string(nil), x.traces(ada), "items are left")
	if strings.Contains(text, ada.ID) || !strings.Contains(text, "an author is erased") {
		t.Errorf("the log says %s", text)
	}
}

// A damaged erasure item delays no other erasure and erases nobody. An erasure whose process was
// killed is taken over even if that process's clock was ahead.
func TestServeBesideADamagedItem(t *testing.T) {
	x := newTable(t)
	x.fill(ada)
	bob := comment.Author{ID: "customer-bob", Name: "Bob-Name"}
	x.add(bob, "")
	misfiled := layout.Key("ERASING", "1")
	misfiled["id"] = layout.Text(bob.ID)
	for _, it := range []layout.Item{layout.Key("ERASING", "0"), misfiled} {
		x.put(it)
	}
	held := x.traces(bob)
	server := x.eraser(x.client)
	must.Get(server.Start(t.Context(), ada))(x.t)
	for _, it := range x.items() {
		if textsIn(it["id"]) == ada.ID {
			it["ow"], it["bt"], it["sv"] = layout.Text("killed"), layout.Number(1), layout.Number(time.Now().Add(time.Hour).Unix())
			x.put(it)
		}
	}
	text := x.serve(server, ada, func(state comment.ErasureState, log string) bool {
		return state == comment.ErasureDone && strings.Contains(log, "stopped")
	})
	if left := x.traces(bob); !slices.Equal(left, held) {
		t.Errorf("of another author, %q are left of %q", left, held)
	}
	for _, key := range []string{"0", "1"} {
		if !strings.Contains(text, "ERASING / "+key+" names no author, or another one: delete the item") || strings.Contains(text, bob.ID) {
			t.Error(text)
		}
	}
}

// Copies of comments that were made by hand under other keys are erased too, and an erasure whose
// item was damaged by hand does not get stuck.
func TestErasureOfWhatSomeoneEdited(t *testing.T) {
	for _, author := range []comment.Author{ada, ida} {
		x := newTable(t)
		x.fill(author)
		asked := must.Get(x.eraser(x.client).Start(t.Context(), author))(x.t)
		for _, it := range x.items() {
			switch r := layout.NewReader(it); {
			case r.Text(layout.AttrPK) == "ERASING":
				it["id"] = layout.Number(1)
			case r.Text(layout.AttrSK) == layout.CommentSK:
				it[layout.AttrPK] = layout.Text("COPY OF " + r.Text(layout.AttrPK))
			}
			x.put(it)
		}
		if now, found, err := x.eraser(x.client).Status(t.Context(), author); !found || err != nil || now.State != comment.ErasureWaiting {
			t.Errorf("%s: its state is %v, %v, %v", author.Name, now.State, found, err)
		}
		done := must.Get(x.eraser(x.client).Run(t.Context(), author, none))(x.t)
		if !done.RequestedAt.Equal(asked.RequestedAt) || done.Comments == 0 {
			t.Errorf("%s: erased are %+v", author.Name, done)
		}
		check.Equal(t, []string(nil), x.traces(author), author.Name, "leaves items")
		if left := x.kinds()["ERASING/"]; left > 0 {
			t.Errorf("%s: the item of the erasure stays", author.Name)
		}
	}
}

// An erasure that was asked for is never answered as if nothing had been written, also if the table
// is too busy for whatever comes next.
func TestStartOfABusyTable(t *testing.T) {
	for first, want := range map[faulttest.Fault]comment.Kind{faulttest.None: 0, faulttest.AnswerLost: comment.Unavailable} {
		x := newTable(t)
		client, _ := faulttest.Under(x.client, func(call int) faulttest.Fault {
			switch call {
			case 1: // it reads the mark
				return faulttest.None
			case 2:
				return first
			}
			return faulttest.Throttled
		})
		got, err := x.eraser(client).Start(t.Context(), ada)
		if want == 0 && (err != nil || got.State != comment.ErasureWaiting) || want != 0 && comment.KindOf(err) != want {
			t.Errorf("%q, then throttled: %+v, %v", first, got, err)
		}
		if now, found, err := x.eraser(x.client).Status(t.Context(), ada); !found || err != nil || now.State != comment.ErasureWaiting {
			t.Errorf("%q: %+v, %v, %v", first, now, found, err)
		}
	}
}

// A request about an erasure is refused as long as the table is too busy to read, and before its
// time is up.
func TestErasureOfATableThatStaysBusy(t *testing.T) {
	x := newTable(t)
	client, _ := faulttest.Under(x.client, faulttest.From(1, faulttest.Throttled))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := x.eraser(client).Start(ctx, ada)
	_, _, failed := x.eraser(client).Status(ctx, ada)
	if comment.KindOf(err) != comment.Throttled || comment.KindOf(failed) != comment.Throttled {
		t.Errorf("%v; %v", err, failed)
	}
}

// An erasure itself waits until the table is less busy.
func TestErasureOfABusyTable(t *testing.T) {
	x := newTable(t)
	x.add(ada, "")
	client, _ := faulttest.Under(x.client, func(call int) faulttest.Fault {
		if call <= 6 { // more than the SDK tries
			return faulttest.Throttled
		}
		return faulttest.None
	})
	if done, err := x.eraser(client).Run(t.Context(), ada, none); err != nil || done.Comments != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// deletesFirst is a client that deletes an item before its second put.
type deletesFirst struct {
	*dynamodb.Client
	puts   atomic.Int32
	delete func()
}

func (d *deletesFirst) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if d.puts.Add(1) == 2 {
		d.delete()
	}
	return d.Client.PutItem(ctx, in, options...)
}

// An erasure that has ended deletes its item while the next one is asked for, which is not lost.
func TestStartWhileTheLastOneLeaves(t *testing.T) {
	x := newTable(t)
	must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
	job := x.items()[0]
	must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t)
	x.put(job)
	client := &deletesFirst{Client: x.client, delete: func() {
		must.Get(x.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &x.name, Key: layout.KeyOf(job)}))(t)
	}}
	asked, err := x.eraser(client).Start(t.Context(), ada)
	now, _, failed := x.eraser(x.client).Status(t.Context(), ada)
	if err != nil || failed != nil || client.puts.Load() < 2 || asked.State != comment.ErasureWaiting || now.State != comment.ErasureWaiting {
		t.Errorf("%+v, %v; then %+v, %v", asked, err, now, failed)
	}
}
