package erasure_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
)

// stoppedClient is the client of a process that stops after it has read the marks, at its first
// puts. It continues once their author was erased.
type stoppedClient struct {
	*dynamodb.Client
	stop func() // blocks until the author is erased
	once sync.Once
	how  string // what happens to the puts

	mu   sync.Mutex
	held []*dynamodb.PutItemInput
}

func (s *stoppedClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.once.Do(s.stop)
	if s.how == "arrive later" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = append(s.held, in)
		return nil, ctx.Err()
	}
	output, err := s.Client.PutItem(context.WithoutCancel(ctx), in, options...) // the put was under way
	if s.how == "lose their answers" {
		return nil, ctx.Err()
	}
	return output, err
}

// arrive makes the delayed puts.
func (s *stoppedClient) arrive() {
	for _, in := range s.held {
		_, _ = s.Client.PutItem(context.Background(), in, call.NoRetries) // refused, as it should be
	}
}

// An import or a restore stops between reading the marks and its puts, until one of its authors was
// erased. It brings back nothing of that author.
func TestImportIsStopped(t *testing.T) {
	for _, how := range []string{"are answered", "lose their answers", "arrive later"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel() // each waits for the puts of another table
			for _, author := range []comment.Author{ada, ida} {
				x := newTable(t)
				client := &stoppedClient{Client: x.client, how: how, stop: func() {
					must.Get(erasure.AwaitMarks(x.eraser(x.client)).Run(t.Context(), author, none))(x.t)
				}}
				loader := dynamo.NewLoader(client, x.name, 2)
				loader.Marks = erasure.HastenPuts(erasure.NewMarks(x.client, x.name))
				counts := must.Get(loader.Load(t.Context(), []comment.Comment{x.comment(author), x.comment(author)}))(x.t)
				client.arrive()
				if counts != (dynamo.LoadCounts{Erased: 2}) {
					t.Errorf("puts that %s: %+v", how, counts)
				}
				check.Equal(t, []string(nil), x.traces(author), "puts that", how, "bring items back")
			}
			if how == "arrive later" {
				return // a vote without a comment is deleted when it is counted
			}
			x := newTable(t)
			other, now := x.comment(comment.Author{ID: "bo", Name: "Bo"}), time.Now().UTC().Add(-time.Hour)
			client := &stoppedClient{Client: x.client, how: how, stop: func() {
				must.Get(erasure.AwaitMarks(x.eraser(x.client)).Run(t.Context(), ada, none))(x.t)
			}}
			loader := restore.NewLoader(client, x.name, 0)
			loader.Marks = erasure.HastenPuts(erasure.NewMarks(x.client, x.name))
			own := x.comment(ada)
			must.Get(loader.Load(t.Context(), []layout.Item{
				layout.Encode(own), layout.VoteItem(other.ID, "0f", comment.CastVote{By: ada.ID, Vote: comment.Helpful, At: now}),
				layout.ReportItem(other.ID, "0f", comment.Report{By: ada.ID, Reason: "SPAM", At: now}),
			}))(x.t)
			must.Get(loader.Load(t.Context(), []layout.Item{layout.ReportItem(own.ID, "0f", comment.Report{By: "bo", Reason: "SPAM", At: now, Note: "Of " + ada.Name})}))(x.t)
			check.Equal(t, []string(nil), x.traces(ada), "puts of a restore that", how, "bring items back")
		})
	}
}

// heldClient is the client of a process that stops after it has searched for the items of an
// author.
type heldClient struct {
	*dynamodb.Client
	looks   atomic.Int32  // left before it stops
	stopped chan struct{} // closed when it stops
	goOn    chan struct{} // closed when it continues
}

func (h *heldClient) looked() {
	if h.looks.Add(-1) == 0 {
		close(h.stopped)
	}
}

func (h *heldClient) wait() {
	if h.looks.Load() <= 0 {
		<-h.goOn
	}
}

func (h *heldClient) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	h.wait()
	output, err := h.Client.Query(ctx, in, options...)
	if in.IndexName != nil {
		h.looked()
	}
	return output, err
}

func (h *heldClient) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	output, err := h.Client.Scan(ctx, in, options...)
	h.looked()
	return output, err
}

func (h *heldClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	h.wait()
	return h.Client.PutItem(ctx, in, options...)
}

// A process was stopped in the middle of an erasure that another process has since completed. It
// changes nothing more: neither later items of the author, nor the time up to which imports leave
// the author out.
func TestErasureIsStopped(t *testing.T) {
	for author, looks := range map[comment.Author]int32{ada: 2, ida: 1} {
		x := newTable(t)
		held := &heldClient{Client: x.client, stopped: make(chan struct{}), goOn: make(chan struct{})}
		held.looks.Store(looks)
		stopped := erasure.WithoutHeartbeats(erasure.Hasten(erasure.New(held, x.name, "the one that is stopped", "another run")))
		ended := make(chan error)
		go func() {
			_, err := stopped.Run(t.Context(), author, none)
			ended <- err
		}()
		<-held.stopped
		other := x.eraser(x.client)
		must.Get(other.Run(t.Context(), author, none))(x.t)
		done, _, err := other.Status(t.Context(), author)
		x.must(err)
		vote := layout.VoteItem(x.comment(ada).ID, "0f", comment.CastVote{By: ada.ID, Vote: comment.Helpful, At: time.Now().UTC()})
		x.put(vote)
		close(held.goOn)
		if err := <-ended; comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s: the process that was stopped ended with %v", author.Name, err)
		}
		again, _, err := other.Status(t.Context(), author)
		x.must(err)
		check.Equal(t, done, again, author.Name, "the mark was written again")
		if kinds := x.kinds(); kinds["C/V"] != 1 {
			t.Errorf("%s: a vote that was cast since is gone: %v", author.Name, kinds)
		}
	}
}

// recordingClient keeps all puts and deletes that are made by it, and the puts of marks apart.
type recordingClient struct {
	*dynamodb.Client
	mu            sync.Mutex
	writes, marks []func(context.Context)
}

func (r *recordingClient) note(write func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, write)
}

func (r *recordingClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	again := func(ctx context.Context) { _, _ = r.Client.PutItem(ctx, in, call.NoRetries) }
	if r.note(again); layout.NewReader(in.Item).Text(layout.AttrPK) == "ERASED" {
		r.marks = append(r.marks, again)
	}
	return r.Client.PutItem(ctx, in, options...)
}

func (r *recordingClient) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	r.note(func(ctx context.Context) { _, _ = r.Client.DeleteItem(ctx, in, call.NoRetries) })
	return r.Client.DeleteItem(ctx, in, options...)
}

// Each write of an erasure takes effect once more when that has ended, and so does each of an
// earlier one; its marks do so during it, too. What the author wrote since stays, and so does the
// time up to which imports leave the author out.
func TestErasureThatArrivesLate(t *testing.T) {
	for _, author := range []comment.Author{ada, ida} {
		x := newTable(t)
		x.add(author, "")
		earlier, client := &recordingClient{Client: x.client}, &recordingClient{Client: x.client}
		must.Get(x.eraser(earlier).Start(t.Context(), author))(x.t)
		must.Get(x.eraser(earlier).Run(t.Context(), author, none))(x.t)
		x.fill(author)
		must.Get(x.eraser(client).Start(t.Context(), author))(x.t)
		done := must.Get(x.eraser(client).Run(t.Context(), author, func(comment.Erasure) {
			for _, again := range earlier.marks {
				again(t.Context())
			}
		}))(x.t)
		x.add(author, "")
		before, writes := x.items(), slices.Concat(client.writes, earlier.writes)
		for n, again := range writes {
			again(t.Context())
			if server := x.eraser(x.client); x.kinds()["ERASING/"] > 0 {
				x.serve(server, author, func(state comment.ErasureState, _ string) bool { return state == comment.ErasureDone })
				now, _, err := server.Status(t.Context(), author)
				if x.must(err); !reflect.DeepEqual(now, done) {
					t.Errorf("%s, write %d: %+v; want %+v", author.Name, n+1, now, done)
				}
			}
			if after := x.items(); !reflect.DeepEqual(before, after) {
				t.Fatalf("%s, write %d of %d leaves %v, want %d items as they were", author.Name, n+1, len(writes), x.kinds(), len(before))
			}
		}
	}
}

// Marks that were read too slowly are not used.
func TestMarksReadSlowly(t *testing.T) {
	x := newTable(t)
	slow := faulttest.Before(x.client, "Query", func() { time.Sleep(60 * time.Millisecond) })
	_, err := erasure.HastenMarks(erasure.NewMarks(slow, x.name)).Erased(t.Context(), x.comment(ada))
	if comment.KindOf(err) != comment.Unavailable {
		t.Error(err)
	}
}

// A write has a deadline. If its author was erased meanwhile, it is taken back, even if its caller
// has left.
func TestWriteTakesTooLong(t *testing.T) {
	x := newTable(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	takenBack := false
	err := erasure.HastenPuts(erasure.NewMarks(x.client, x.name)).Write(ctx, x.comment(ada), func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Fatal("the write has no deadline")
		}
		must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t)
		<-ctx.Done()
		leave()
		return ctx.Err()
	}, func(ctx context.Context) error {
		takenBack = ctx.Err() == nil
		return ctx.Err()
	})
	if !errors.Is(err, erasure.ErrErased) || !takenBack {
		t.Errorf("taken back is %v: %v", takenBack, err)
	}
}

// Bury leaves a comment that is another author's by now.
func TestBuryCommentOfAnotherAuthor(t *testing.T) {
	x := newTable(t)
	c := x.add(comment.Author{ID: "bo", Name: "Bo"}, "")
	c.Author = ada
	x.must(erasure.NewMarks(x.client, x.name).Bury(t.Context(), c))
	if kinds := x.kinds(); kinds["C/C"] != 1 {
		t.Error(kinds)
	}
}

// restore loads the items of a copy: comments first, then the others.
func (x *table) restore(loader *restore.Loader, items []layout.Item) {
	x.t.Helper()
	for _, kind := range []restore.Kind{restore.Comment, restore.Beside} {
		others := func(it layout.Item) bool { return restore.KindOf(it) != kind }
		must.Get(loader.Load(x.t.Context(), slices.DeleteFunc(slices.Clone(items), others)))(x.t)
	}
}

// Restoring a copy from before an erasure brings back nothing that the erasure deleted with the
// author's comments, also if someone had damaged it by hand.
func TestRestoreAfterErasure(t *testing.T) {
	for _, way := range []struct{ replace, damaged bool }{{false, false}, {true, false}, {true, true}} {
		x := newTable(t)
		x.fill(ada)
		copied := x.items()
		ofAda := map[string]bool{} // partition keys and IDs of the comments
		for _, it := range copied {
			if c, err := layout.Decode(it); err == nil && c.Author == ada {
				ofAda[string(c.ID)], ofAda[layout.NewReader(it).Text(layout.AttrPK)] = true, true
			}
			if way.damaged {
				delete(it, layout.AttrRating)
				delete(it, "reason")
			}
		}
		must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t)
		loader := restore.NewLoader(x.client, x.name, 0)
		loader.Replace, loader.Marks = way.replace, erasure.NewMarks(x.client, x.name)
		x.restore(loader, copied)
		check.Equal(t, []string(nil), x.traces(ada), way, "brings items back")
		for _, it := range x.items() {
			r := layout.NewReader(it)
			if restore.KindOf(it) == restore.Beside && (ofAda[r.Text(layout.AttrPK)] || ofAda[r.OptionalText(layout.AttrFirst)]) {
				t.Errorf("%+v: came back: %s/%s", way, r.Text(layout.AttrPK), r.Text(layout.AttrSK))
			}
		}
	}
}

// An erasure that a copy has under way is done in the table that it is restored to, whose scan has
// another order. The position of its scan in the old one would pass comments over.
func TestErasureInACopy(t *testing.T) {
	x := newTable(t)
	x.fill(ida)
	must.Get(x.eraser(x.client).Start(t.Context(), ida))(t)
	items := x.items()
	for _, it := range items {
		if it["PK"].(*types.AttributeValueMemberS).Value == "ERASING" {
			it["st"] = &types.AttributeValueMemberM{Value: layout.KeyOf(items[len(items)-1])}
		}
	}
	y := newTable(t)
	y.restore(restore.NewLoader(y.client, y.name, 0), items)
	must.Get(y.eraser(y.client).Run(t.Context(), ida, none))(t)
	check.Equal(t, []string(nil), y.traces(ida), "items are left")
}

// keepsBeside is a client that deletes no items beside comments.
type keepsBeside struct{ *dynamodb.Client }

func (k keepsBeside) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if strings.HasPrefix(layout.NewReader(in.Key).Text(layout.AttrPK), layout.CommentPKPrefix) {
		return nil, &types.ResourceNotFoundException{}
	}
	return k.Client.DeleteItem(ctx, in, options...)
}

// A copy may have an erasure under way that has come further in the table. With --replace too, that
// one still knows which comments it was erasing: nothing else says that the items beside their
// tombstones are about the author.
func TestErasureOutlastsThatOfACopy(t *testing.T) {
	x := newTable(t)
	x.fill(ada)
	must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
	copied := x.items()
	if _, err := x.eraser(keepsBeside{x.client}).Run(t.Context(), ada, none); err == nil {
		t.Fatal("it was not interrupted")
	}
	if left := x.kinds()["C/tombstone"]; left == 0 {
		t.Fatal("it was interrupted before it wrote a tombstone")
	}
	loader := restore.NewLoader(x.client, x.name, 0)
	loader.Replace, loader.Marks = true, erasure.NewMarks(x.client, x.name)
	x.restore(loader, copied)
	must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t)
	check.Equal(t, []string(nil), x.traces(ada), "items are left")
}

// A server may do an erasure that a copy has under way before the mark in the copy is restored,
// which says that it is under way. With --replace too, the erasure has ended: else restores would
// leave out for ever what the author writes.
func TestErasureEndsDuringItsRestore(t *testing.T) {
	x, y := newTable(t), newTable(t)
	x.fill(ada)
	if _, err := x.eraser(keepsBeside{x.client}).Run(t.Context(), ada, none); err == nil {
		t.Fatal("it was not interrupted")
	}
	var marks, copied []layout.Item
	for _, it := range x.items() {
		if layout.NewReader(it).Text(layout.AttrPK) == "ERASED" {
			marks = append(marks, it)
		} else {
			copied = append(copied, it)
		}
	}
	loader := restore.NewLoader(y.client, y.name, 0)
	loader.Replace = true
	y.restore(loader, copied)
	done := must.Get(y.eraser(y.client).Run(t.Context(), ada, none))(t)
	must.Get(loader.Load(t.Context(), marks))(t)
	if now, found, err := y.eraser(y.client).Status(t.Context(), ada); err != nil || len(marks) != 1 || !found {
		t.Errorf("after %d marks: %+v, found: %v, %v", len(marks), now, found, err)
	}
	later := comment.Comment{ID: comment.IDOf(comment.FirstAt(done.FinishedAt.Add(time.Hour))), Author: ada}
	if out, err := erasure.NewMarks(y.client, y.name).Erased(t.Context(), later); err != nil || out {
		t.Errorf("a later comment is left out: %v, %v", out, err)
	}
}
