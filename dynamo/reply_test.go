package dynamo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// Merchants edit one reply over a bad network, beside its author who edits the comment. What each is
// told is true: the version of the reply is the number of successes, and of some of those whose outcome
// is unknown. The author, whose answers are lost too, never conflicts with a reply.
func TestRepliesBesideEditsThroughFaults(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	if err := CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	r, healthy := commenttest.Rand(t), NewStore(client, table, Options{})
	for range 4 {
		c := commenttest.Random(r, "p")
		c.Version, c.UpdatedAt, c.Reply = 1, nil, nil
		if _, err := healthy.Add(t.Context(), c, ""); err != nil {
			t.Fatal(err)
		}
		var networks []*faulttest.Network
		bad := func() *Store {
			client, network := faulttest.Under(client, faulttest.OneIn(r, 4))
			networks = append(networks, network)
			return NewStore(client, table, Options{})
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[string]int{}
		for merchant := range 3 {
			store, random := bad(), rand.New(rand.NewPCG(r.Uint64(), 1))
			all.Go(func() {
				for round := range 8 {
					said := replyOnce(t.Context(), healthy, store, c.ID, fmt.Sprint(merchant, ".", round), random)
					mu.Lock()
					told[said]++
					mu.Unlock()
				}
			})
		}
		lossy, _ := faulttest.Under(client, func(call int) faulttest.Fault {
			return []faulttest.Fault{faulttest.AnswerLost, faulttest.None}[call%2]
		})
		all.Go(func() { editOften(t, healthy, NewStore(lossy, table, Options{}), c.ID) })
		all.Wait()
		for _, network := range networks {
			if err := network.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		now, err := healthy.Comment(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := now.Reply.Version; got < told["success"] || got > told["success"]+told["unknown"] {
			t.Errorf("the reply has version %d after %v", got, told)
		}
	}
}

// replyOnce edits the reply that a comment has, and returns what the caller is told.
func replyOnce(ctx context.Context, healthy, store *Store, id comment.ID, text string, r *rand.Rand) string {
	c, err := healthy.Comment(ctx, id)
	if err != nil {
		return err.Error()
	}
	reply := comment.Reply{Text: text, Name: "Shop", CreatedAt: time.UnixMilli(r.Int64N(1e12)).UTC(), Version: c.ReplyDeletion + 1}
	if c.Reply != nil {
		at := c.Reply.CreatedAt
		reply.CreatedAt, reply.UpdatedAt, reply.Version = at, &at, c.Reply.Version+1
	}
	switch err := store.SetReply(ctx, c, &reply); {
	case err == nil:
		return "success"
	case comment.KindOf(err) == comment.Conflict, comment.KindOf(err) == comment.Throttled:
		return "refused"
	}
	return "unknown"
}

// editOften edits a comment as its only author.
func editOften(t *testing.T, healthy, store *Store, id comment.ID) {
	for round := range 12 {
		before, err := healthy.Comment(t.Context(), id)
		if err != nil {
			t.Error(err)
			return
		}
		after, at := before, time.UnixMilli(int64(round)).UTC()
		after.Text, after.Version, after.UpdatedAt = fmt.Sprint("edit ", round), before.Version+1, &at
		if err := store.Replace(t.Context(), before, after); err != nil || before.Version != 1+round {
			t.Errorf("edit of version %d in round %d: %v", before.Version, round, err)
		}
	}
}

// A reply is written under conditions: it does not revive a deleted comment, and neither replaces nor
// removes a reply that its writer did not read.
func TestReplyIsWrittenInPlaceOfTheOneRead(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
		if err := CreateTable(t.Context(), client, table); err != nil {
			t.Fatal(err)
		}
		store, at := NewStore(client, table, Options{}), time.UnixMilli(1_700_000_000_000).UTC()
		first := &comment.Reply{Text: "first", Name: "Shop", CreatedAt: at, Version: 1}
		second := &comment.Reply{Text: "second", Name: "Shop", CreatedAt: at, UpdatedAt: &at, Version: 2}
		anew := &comment.Reply{Text: "anew", Name: "Shop", CreatedAt: at.Add(time.Second), Version: 4}
		c := commenttest.Random(commenttest.Rand(t), "p")
		c.Version, c.UpdatedAt, c.Reply = 1, nil, nil
		if _, err := store.Add(t.Context(), c, ""); err != nil {
			t.Fatal(err)
		}
		for _, row := range []struct {
			why         string
			read, write *comment.Reply
			deletion    int // that was read
			conflict    bool
			there       *comment.Reply
		}{
			{"an edit of a reply that is not there", first, second, 0, true, nil},
			{"a first reply", nil, first, 0, false, first},
			{"a first reply where one is", nil, anew, 0, true, first},
			{"an edit", first, second, 0, false, second},
			{"an edit of an older version", first, second, 0, true, second},
			{"a deletion of an older version", first, nil, 0, true, second},
			{"a deletion", second, nil, 0, false, nil},
			{"a deletion of what is gone", second, nil, 0, false, nil},
			{"a first reply that arrives after the deletion", nil, first, 0, true, nil},
			{"an edit that arrives after the deletion", first, second, 0, true, nil},
			{"a reply after an earlier deletion", nil, anew, 2, true, nil},
			{"a reply after the deletion", nil, anew, 3, false, anew},
			{"an edit of the one before it", first, second, 0, true, anew},
			{"a reply after the deletion, late", nil, anew, 3, true, anew},
		} {
			c.Reply, c.ReplyDeletion = row.read, row.deletion
			err := store.SetReply(t.Context(), c, row.write)
			if (comment.KindOf(err) == comment.Conflict) != row.conflict || (err == nil) == row.conflict {
				t.Errorf("%s: %v", row.why, err)
			}
			now, err := store.Comment(t.Context(), c.ID)
			if err != nil || !sameReply(now.Reply, row.there) {
				t.Errorf("%s: %v, %v is there, want %v", row.why, err, now.Reply, row.there)
			}
		}
		c.Reply, c.ReplyDeletion = anew, 0
		if err := store.Delete(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, read := range []*comment.Reply{nil, anew} {
			c.Reply = read
			if err := store.SetReply(t.Context(), c, first); comment.KindOf(err) != comment.NotFound {
				t.Errorf("a reply to a deleted comment: %v", err)
			}
		}
	})
}

func sameReply(a, b *comment.Reply) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Text == b.Text && a.Version == b.Version && a.CreatedAt.Equal(b.CreatedAt)
}

// A writer whose answers are lost recognizes its own reply, its edits and its deletion.
func TestReplyWhoseAnswerIsLost(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	if err := CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	lossy, _ := faulttest.Under(client, func(call int) faulttest.Fault {
		return []faulttest.Fault{faulttest.None, faulttest.AnswerLost}[call%2]
	})
	healthy, store, r := NewStore(client, table, Options{}), NewStore(lossy, table, Options{}), commenttest.Rand(t)
	c := commenttest.Random(r, "p")
	c.Version, c.UpdatedAt, c.Reply = 1, nil, nil
	if _, err := healthy.Add(t.Context(), c, ""); err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		if said := replyOnce(t.Context(), healthy, store, c.ID, fmt.Sprint(round), rand.New(rand.NewPCG(r.Uint64(), 1))); said != "success" {
			t.Errorf("round %d: %s", round, said)
		}
	}
	now, err := healthy.Comment(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SetReply(t.Context(), now, nil); err != nil {
		t.Errorf("deletion: %v", err)
	}
}
