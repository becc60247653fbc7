package counts_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// cast changes the vote of a customer.
func (h *voteHistory) cast(c comment.Comment, name string, from, to comment.Vote) {
	h.Helper()
	before := comment.CastVote{}
	if from != comment.NoVote {
		before = comment.CastVote{By: name, Vote: from, At: c.CreatedAt()}
	}
	must.Do(h, h.store.SetVote(h.Context(), c.ID, before, comment.CastVote{By: name, Vote: to, At: c.CreatedAt()}))
}

// handOver hands records over to a process that keeps the counts of slices from few votes on, and
// reads no more at once. It returns those that wait or fail.
func (h *voteHistory) handOver(client counts.VoteWriter, few int, records ...stream.Record) stream.RecordErrors {
	failed := stream.RecordErrors{}
	counts.CountFewVotes(counts.NewVoteRecounter(client, h.table, 0), few).Handle(h.Context(), records, failed)
	return failed
}

// voted adds a comment with a number of helpful votes that nobody has counted.
func (h *voteHistory) voted(n int) comment.Comment {
	h.Helper()
	c := commenttest.Many(commenttest.Rand(h.T), "p", 1)[0]
	c.Author, c.Version, c.UpdatedAt = comment.Author{ID: "a", Name: "Ada"}, 1, nil
	must.Get(h.store.Add(h.Context(), c, ""))(h)
	for i := range n {
		h.cast(c, fmt.Sprint("customer ", i), comment.NoVote, comment.Helpful)
	}
	return c
}

func (h *voteHistory) recount(client counts.VoteWriter, c comment.Comment, few int) {
	h.Helper()
	must.Do(h, counts.CountFewVotes(counts.NewVoteRecounter(client, h.table, 0), few).Recount(h.Context(), c.ID))
}

// items returns how many items a comment has, with its own.
func (h *voteHistory) items(c comment.Comment) int {
	h.Helper()
	items, _, err := call.Partition(h.Context(), h.client, h.table, layout.CommentKey(c.ID)["PK"], "items of a comment")
	must.Do(h, err)
	return len(items)
}

// A vote may be withdrawn after it was counted, before the total is written. Another process then
// finds the old total right, so this one has to count again.
func TestVoteWithdrawnBeforeTheTotal(t *testing.T) {
	h := newVoteHistory(t, 1000)
	c := h.voted(1)
	h.recount(faulttest.Before(h.client, "UpdateItem", sync.OnceFunc(func() { h.withdraw(c) })), c, 1000)
	h.check(c.ID, comment.VoteCounts{})
}

// withdraw takes back the vote of customer 0, and counts.
func (h *voteHistory) withdraw(c comment.Comment) {
	h.Helper()
	h.cast(c, "customer 0", comment.Helpful, comment.NoVote)
	h.recount(h.client, c, 1000)
}

// The total of a process that was killed may arrive when others have counted the vote, and that it
// was withdrawn.
func TestTotalThatArrivesLate(t *testing.T) {
	h := newVoteHistory(t, 1000)
	c := h.voted(1)
	ctx, kill := context.WithCancel(t.Context())
	client, network := faulttest.Under(h.client, func(call int) faulttest.Fault {
		if call < 3 { // it reads the total and the votes
			return faulttest.None
		}
		kill()
		return faulttest.Late
	})
	if err := counts.NewVoteRecounter(client, h.table, 0).Recount(ctx, c.ID); err == nil {
		t.Fatal("the total was not written late")
	}
	h.recount(h.client, c, 1000)
	h.withdraw(c)
	must.Do(t, network.Flush())
	h.check(c.ID, comment.VoteCounts{})
}

// The first sums of slices may be stored after another process has deleted the comment's votes.
// They are deleted too.
func TestSumsStoredAfterTheDeletion(t *testing.T) {
	h := newVoteHistory(t, 2)
	c := h.voted(3)
	client := faulttest.Before(h.client, "PutItem", sync.OnceFunc(func() {
		if err := h.store.Delete(t.Context(), c); err != nil {
			t.Error(err)
		}
		h.recount(h.client, c, 2)
		if n := h.items(c); n != 1 {
			t.Errorf("the other process left %d items", n)
		}
	}))
	h.recount(client, c, 2)
	if n := h.items(c); n != 1 {
		t.Errorf("%d items are left of the comment", n)
	}
	must.Get(h.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &h.table, Item: layout.VoteSumsKey(c.ID)}))(t)
	h.recount(h.client, c, 2)
	if n := h.items(c); n != 1 {
		t.Errorf("%d items are left of the comment, with damaged sums", n)
	}
}

// The sums of slices are kept from a number of votes on, and not below.
func TestSumsAreKeptFromManyVotesOn(t *testing.T) {
	h := newVoteHistory(t, 3)
	for cast, want := range []int{1, 1 + 1, 1 + 2, 1 + 3 + 1, 1 + 4 + 1} {
		c := h.voted(cast)
		h.recount(h.client, c, 3)
		if got := h.items(c); got != want {
			t.Errorf("with %d votes a comment has %d items, want %d", cast, got, want)
		}
	}
}

// The record of a deletion is handed over until all votes are deleted, a bounded number at a time.
func TestVotesAreDeletedInParts(t *testing.T) {
	h := newVoteHistory(t, 32)
	c := h.voted(5)
	h.recount(h.client, c, 32)
	old := must.Get(h.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(h.table), Key: layout.CommentKey(c.ID)}))(t)
	records := []stream.Record{{Keys: layout.CommentKey(c.ID), Old: old.Item}, {Keys: voteKeyOf(t, h, c.ID, "customer 0")}}
	must.Do(t, h.store.Delete(t.Context(), c))
	for _, want := range []int{1 + 3, 1 + 1, 1} {
		failed := h.handOver(h.client, 32, records...)
		if got := h.items(c); got != want || (len(failed) > 0) != (want > 1) {
			t.Errorf("%d items are left, want %d; %v", got, want, failed)
		}
		if why := failed[0]; why != nil && comment.KindOf(why) != comment.Throttled {
			t.Errorf("the record waits because of %v", why)
		}
	}
	if failed := h.handOver(unwritten{h.client}, 1000, records...); len(failed) > 0 {
		t.Errorf("without votes: %v", failed)
	}
}

// unwritten is a client that deletes nothing.
type unwritten struct{ *dynamodb.Client }

func (unwritten) BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return nil, errors.New("nothing is to be deleted")
}

// inTwoSlices casts votes until two are in different slices. It then turns both around, and returns
// the records of that.
func (h *voteHistory) inTwoSlices(c comment.Comment, few int) (records []stream.Record, want comment.VoteCounts) {
	h.Helper()
	var names []string
	var slices []int
	for n := 0; len(names) < 2; n++ {
		name := fmt.Sprint("voter ", n)
		h.cast(c, name, comment.NoVote, comment.Helpful)
		want.Helpful++
		key := voteKeyOf(h.T, h, c.ID, name)
		if slice, _ := layout.VoteSlice(key); len(slices) == 0 || slice != slices[0] {
			names, slices, records = append(names, name), append(slices, slice), append(records, stream.Record{Keys: key})
		}
	}
	h.recount(h.client, c, few)
	for _, name := range names {
		h.cast(c, name, comment.Helpful, comment.NotHelpful)
	}
	return records, comment.VoteCounts{Helpful: want.Helpful - 2, NotHelpful: 2}
}

// Another process may store the counts of another slice first. Then this one counts its slice
// again.
func TestSliceOfAnotherIsStoredFirst(t *testing.T) {
	h := newVoteHistory(t, 1)
	c := h.voted(0)
	records, want := h.inTwoSlices(c, 1)
	handle := func(client counts.VoteWriter, record stream.Record) {
		if failed := h.handOver(client, 1, record); len(failed) > 0 {
			t.Error(failed)
		}
	}
	handle(faulttest.Before(h.client, "PutItem", sync.OnceFunc(func() { handle(h.client, records[1]) })), records[0])
	h.check(c.ID, want)
}

// Votes of a slice for which too many others were read wait, and so do their records. A slice with
// several records is counted once.
func TestFurtherSlicesWait(t *testing.T) {
	h := newVoteHistory(t, 1)
	c := h.voted(0)
	records, want := h.inTwoSlices(c, 1)
	if failed := h.handOver(h.client, 1, records...); len(failed) != 1 || comment.KindOf(failed[1]) != comment.Throttled {
		t.Errorf("%v", failed)
	}
	if failed := h.handOver(h.client, 1, records[1], records[1]); len(failed) > 0 {
		t.Error(failed)
	}
	h.check(c.ID, want)
	before := h.changes(c)
	if failed := h.handOver(h.client, want.Helpful+want.NotHelpful, records...); len(failed) > 0 || h.changes(c) != before+1 {
		t.Errorf("votes that may just be read at once take %d writes: %v", h.changes(c)-before, failed)
	}
}

// changes returns how often the sums of a comment's votes were written.
func (h *voteHistory) changes(c comment.Comment) int64 {
	h.Helper()
	it, err := call.Item(h.Context(), h.client, h.table, layout.VoteSumsKey(c.ID), "sums of votes")
	sums, unreadable := layout.DecodeVoteSums(it)
	if err != nil || unreadable != nil {
		h.Fatal(err, unreadable)
	}
	return sums.Changes
}

// A deletion of a comment without votes costs nothing, and neither does a record whose key names no
// comment.
func TestRecordsOfNoVotes(t *testing.T) {
	h := newVoteHistory(t, 1)
	c := h.voted(0)
	failed := h.handOver(&troubled{Client: h.client, fails: errors.New("it reads")}, 1,
		stream.Record{Keys: layout.CommentKey(c.ID), Old: layout.Encode(c), New: layout.Tombstone(c.ID, "m", c.CreatedAt())},
		stream.Record{Keys: layout.VoteKey("c_none", "0")})
	if len(failed) > 0 {
		t.Error(failed)
	}
}
