package counts_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// voteHistory is a test in which customers vote and two processes count, all at once over a bad
// network.
type voteHistory struct {
	*testing.T
	client *dynamodb.Client
	table  string
	store  *dynamo.Store
	few    int // number of votes from which the counts of slices are kept

	mu       sync.Mutex
	networks []*faulttest.Network
	records  []stream.Record
	counted  int // records that a process has handled
	voting   int // customers who are still voting
}

func newVoteHistory(t *testing.T, few int) *voteHistory {
	h := &voteHistory{T: t, client: call.NewLocalClient(dynamotest.Dynoxide(t)), table: dynamotest.TableName(t), few: few}
	must.Do(t, dynamo.CreateTable(t.Context(), h.client, h.table))
	h.store = dynamo.NewStore(h.client, h.table, dynamo.Options{})
	return h
}

// bad returns a client whose calls fail now and then.
func (h *voteHistory) bad(r *rand.Rand) *dynamodb.Client {
	client, network := faulttest.Under(h.client, faulttest.OneIn(r, 5))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.networks = append(h.networks, network)
	return client
}

func (h *voteHistory) record(r stream.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
}

// vote makes a customer vote at random, and retries each vote until it is known to be written. It
// returns the last votes.
func (h *voteHistory) vote(r *rand.Rand, name string, about []comment.Comment) map[comment.ID]comment.Vote {
	voter := &auth.Service{Store: dynamo.NewStore(h.bad(r), h.table, dynamo.Options{}), Authorizer: commenttest.Customer(name)}
	last := map[comment.ID]comment.Vote{}
	for range 8 {
		c := about[r.IntN(len(about))]
		want := []comment.Vote{comment.Helpful, comment.Helpful, comment.NotHelpful, comment.NoVote}[r.IntN(4)]
		for h.Context().Err() == nil {
			_, problems, err := voter.Vote(h.Context(), string(c.ID), want)
			h.record(stream.Record{Keys: voteKeyOf(h.T, h, c.ID, name)}) // even of a failed try, which may have had an effect
			if err == nil && len(problems) == 0 {
				break
			}
			if len(problems) > 0 {
				h.Errorf("%v", problems)
				return nil
			}
		}
		last[c.ID] = want
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.voting--
	return last
}

// voteKeyOf returns the key of a customer's vote, nil if there is none.
func voteKeyOf(t *testing.T, h *voteHistory, id comment.ID, name string) layout.Item {
	output, err := h.client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(h.table), KeyConditionExpression: aws.String("PK = :c AND begins_with(SK, :v)"), FilterExpression: aws.String("U = :u"),
		ExpressionAttributeValues: layout.Item{":c": layout.CommentKey(id)["PK"], ":v": layout.Text("V#"), ":u": layout.WriterOfReport(name)},
	})
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, it := range output.Items {
		return layout.Item{"PK": it["PK"], "SK": it["SK"]}
	}
	return nil
}

// count hands over records like a process that may be killed at any call, and that starts again at
// its last place or before.
func (h *voteHistory) count(r *rand.Rand) {
	for h.Context().Err() == nil {
		h.mu.Lock()
		begin := h.counted
		if r.IntN(4) == 0 {
			begin = r.IntN(begin + 1)
		}
		batch := h.records[begin:min(len(h.records), begin+1+r.IntN(20))]
		done := h.voting == 0 && h.counted == len(h.records)
		h.mu.Unlock()
		if done {
			return
		}
		h.handle(r, batch, begin)
	}
}

func (h *voteHistory) handle(r *rand.Rand, batch []stream.Record, begin int) {
	ctx, kill := context.WithCancel(h.Context())
	defer kill()
	client, network := faulttest.Under(h.client, func(n int) faulttest.Fault {
		if r.IntN(30) == 0 {
			kill()
		}
		return faulttest.OneIn(r, 8)(n)
	})
	recounter := counts.CountFewVotes(counts.NewVoteRecounter(client, h.table, 0), h.few)
	left, failed := batch, stream.RecordErrors{}
	for tries := 0; tries < len(batch) && len(left) > 0; tries++ { // waiting records are handed over again
		clear(failed)
		recounter.Handle(ctx, left, failed)
		var again []stream.Record
		for _, i := range slices.Sorted(maps.Keys(failed)) {
			again = append(again, left[i])
		}
		left = again
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.networks = append(h.networks, network)
	if len(left) == 0 {
		h.counted = max(h.counted, begin+len(batch))
	}
}

// Totals equal the customers' last votes, however calls fail, records are repeated and processes
// are killed, with and without counts of slices.
func TestHistoriesOfVotes(t *testing.T) {
	for _, few := range []int{1000, 6} {
		for range commenttest.Times(2, 40) {
			newVoteHistory(t, few).run(commenttest.Rand(t))
		}
	}
}

func (h *voteHistory) run(r *rand.Rand) {
	about := commenttest.Many(r, "p", 3)
	for i := range about {
		about[i].Author, about[i].Version, about[i].UpdatedAt = comment.Author{ID: "a", Name: "Ada"}, 1, nil
	}
	about[0].ImportedVotes = comment.VoteCounts{Helpful: 5, NotHelpful: 7}
	about[0].Votes = about[0].ImportedVotes
	must.Get(dynamo.NewLoader(h.client, h.table, 0).Load(h.Context(), about))(h)
	const voters = 9
	h.voting = voters
	last := make([]map[comment.ID]comment.Vote, voters)
	var all sync.WaitGroup
	for i := range voters {
		own := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		all.Go(func() { last[i] = h.vote(own, fmt.Sprint("customer ", i), about) })
	}
	for i := range 2 {
		own := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		all.Go(func() { h.count(own) })
	}
	all.Wait()
	for _, network := range h.networks {
		must.Do(h, network.Flush())
	}
	for _, c := range about {
		want := c.Votes
		for _, of := range last {
			want.Add(of[c.ID], 1)
		}
		h.check(c.ID, want)
	}
}

// check compares a comment with the votes that it should have.
func (h *voteHistory) check(id comment.ID, want comment.VoteCounts) {
	h.Helper()
	got, err := h.store.Comment(h.Context(), id)
	if err != nil || got.Votes != want || got.Version != 1 {
		h.Errorf("%s has %+v at version %d, want %+v: %v", id, got.Votes, got.Version, want, err)
	}
	if wrong, err := counts.CompareVotes(h.Context(), h.client, h.table, id); wrong.Detail != "" || err != nil {
		h.Errorf("%s: %s, %v", id, wrong.Detail, err)
	}
	helpful, err := h.client.Query(h.Context(), &dynamodb.QueryInput{
		TableName: aws.String(h.table), IndexName: aws.String(string(layout.ByHelpful)), KeyConditionExpression: aws.String("A = :p"),
		FilterExpression:          aws.String("contains(k, :h) AND PK = :c"),
		ExpressionAttributeValues: layout.Item{":p": layout.Text("P#p"), ":h": layout.Text("h"), ":c": layout.CommentKey(id)["PK"]},
	})
	if err != nil || (len(helpful.Items) == 1) != (want.Net() > 0) {
		h.Errorf("%s with %+v is %d times among the helpful ones: %v", id, want, len(helpful.Items), err)
	}
}

// A deleted comment loses its votes, including a vote that arrives after the deletion was counted.
// A rejected or edited comment keeps them.
func TestVotesOfCommentsThatChange(t *testing.T) {
	for _, few := range []int{1000, 2} {
		h := newVoteHistory(t, few)
		c := h.voted(0)
		cast := func(names ...string) {
			for _, name := range names {
				h.cast(c, name, comment.NoVote, comment.Helpful)
			}
			h.recount(h.client, c, few)
		}
		cast("b", "c", "d")
		h.check(c.ID, comment.VoteCounts{Helpful: 3})
		before := must.Get(h.store.Comment(t.Context(), c.ID))(t)
		cast("e") // arrives before the edit of the version read
		edited := before
		edited.Rating, edited.Text = 6-edited.Rating, "edited"
		spam := comment.Spam
		rejected := edited
		rejected.Status, rejected.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
		for _, change := range [][2]comment.Comment{{before, edited}, {edited, rejected}, {rejected, edited}} {
			change[0].Mark = must.Get(h.store.Comment(t.Context(), c.ID))(t).Mark
			must.Do(t, h.store.Replace(t.Context(), change[0], change[1]))
		}
		h.check(c.ID, comment.VoteCounts{Helpful: 4})
		old := must.Get(h.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(h.table), Key: layout.CommentKey(c.ID)}))(t)
		must.Do(t, h.store.Delete(t.Context(), edited))
		deletion := stream.Record{Keys: layout.CommentKey(c.ID), Old: old.Item, New: layout.Tombstone(c.ID, "m", c.CreatedAt())}
		failed := h.handOver(h.client, few, deletion)
		for handed := 1; len(failed) > 0 && handed < 5; handed++ { // waiting records are handed over again
			failed = h.handOver(h.client, few, deletion)
		}
		cast("f")
		left, _, err := call.Partition(t.Context(), h.client, h.table, layout.CommentKey(c.ID)["PK"], "what is left")
		if err != nil || len(left) != 1 || len(failed) > 0 {
			t.Errorf("after the deletion %d items are left: %v, %v", len(left), err, failed)
		}
	}
}

// The first process to keep counts of slices may be killed before it counts votes that others have
// since counted without slices. The next process counts all slices.
func TestFirstCountsOfSlices(t *testing.T) {
	h := newVoteHistory(t, 2)
	c := h.voted(9)
	var sums layout.VoteSums
	for slice := range sums.Slices {
		sums.Slices[slice].Helpful = 5 // more than are read at once
	}
	stale, _, _ := sums.Item(c.ID)
	must.Get(h.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(h.table), Item: stale}))(t)
	must.Do(t, h.handFirst(h.client, c, 2))
	h.check(c.ID, comment.VoteCounts{Helpful: 9})
}

// Verify finds, and rebuild repairs: a total that is late or was changed by hand, a changed place
// among the helpful comments, changed sums of slices, and votes of no comment.
func TestVotesAreVerifiedAndMended(t *testing.T) {
	h := newVoteHistory(t, 2)
	all := commenttest.Many(commenttest.Rand(t), "p", 6)
	last := len(all) - 1
	for i, c := range all {
		c.Author, c.Version, c.UpdatedAt = comment.Author{ID: "a", Name: "Ada"}, 1, nil
		if i < last {
			must.Get(h.store.Add(t.Context(), c, ""))(t)
		}
		for _, name := range []string{"b", "c"} {
			vote := comment.Helpful
			if i == last && name == "c" {
				vote = comment.NotHelpful
			}
			h.cast(c, name, comment.NoVote, vote)
		}
		if i == 0 || i == last {
			continue
		}
		h.recount(h.client, c, 2)
		switch i {
		case 1:
			h.setByHand(c.ID, "y", "9,0")
		case 2:
			h.setByHand(c.ID, "H", "0000000009#"+string(c.ID))
		case 3:
			h.setByHand(c.ID, "k", "v")
		case 4:
			damaged := layout.VoteSumsKey(c.ID)
			damaged["sums"] = layout.Text("9,9")
			must.Get(h.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(h.table), Item: damaged}))(t)
		}
	}
	drifts := func() (wrong []string) {
		found := must.Get(counts.HastenVerifier(counts.NewVerifier(h.client, h.table, counts.VerifyOptions{})).Run(t.Context(), func(int) {}))(t)
		for _, d := range found.Drifts {
			if d.Kind == counts.WrongVotes {
				wrong = append(wrong, d.Detail)
			}
		}
		slices.Sort(wrong)
		return wrong
	}
	want := []string{
		fmt.Sprintf("comment %s shows 0 helpful and 0 other votes, but has 2 and 0", all[0].ID),
		fmt.Sprintf("comment %s shows 9 helpful and 0 other votes, but has 2 and 0", all[1].ID),
		fmt.Sprintf("comment %s: its place in the order by votes does not match its votes", all[2].ID),
		fmt.Sprintf("comment %s: its place in the order by votes does not match its votes", all[3].ID),
		fmt.Sprintf("comment %s: the sums of votes cannot be read", all[4].ID),
		fmt.Sprintf("comment %s does not exist, but has 2 votes", all[last].ID),
	}
	slices.Sort(want)
	check.Equal(t, want, drifts())
	result, err := newRebuilder(h.client, h.table).Run(t.Context(), func(counts.RebuildProgress) {})
	if err != nil || result.Refiled != 3 || result.Recounted != 4 { // a place that derives from the total is a key
		t.Errorf("%d comments were refiled and %d recounted, want 3 and 4: %v", result.Refiled, result.Recounted, err)
	}
	if got := drifts(); len(got) > 0 {
		t.Errorf("after a rebuild: %q", got)
	}
	for _, c := range all[:last] {
		h.check(c.ID, comment.VoteCounts{Helpful: 2})
	}
}

// A vote that was taken back leaves an item until it expires, even if its comment is deleted
// before. That is not drift.
func TestVoteTakenBackOutlivesItsComment(t *testing.T) {
	h := newVoteHistory(t, 2)
	gone := commenttest.Many(commenttest.Rand(t), "p", 1)[0]
	h.cast(gone, "b", comment.NoVote, comment.NoVote)
	found, err := counts.HastenVerifier(counts.NewVerifier(h.client, h.table, counts.VerifyOptions{})).Run(t.Context(), func(int) {})
	if err != nil || len(found.Drifts) > 0 {
		t.Errorf("the drifts are %+v, %v", found.Drifts, err)
	}
}

// A vote that was damaged by hand does not count, and the customer can vote again.
func TestDamagedVote(t *testing.T) {
	h := newVoteHistory(t, 2)
	c := h.voted(0)
	voter := &auth.Service{Store: h.store, Authorizer: commenttest.Customer("b")}
	vote := func(vote comment.Vote) {
		t.Helper()
		if _, problems, err := voter.Vote(t.Context(), string(c.ID), vote); len(problems) > 0 || err != nil {
			t.Errorf("%v, %v", problems, err)
		}
	}
	vote(comment.Helpful)
	key := voteKeyOf(t, h, c.ID, "b")
	for _, damage := range []layout.Item{
		{"vote": layout.Text("x")}, {"vote": nil}, {"c": layout.Text("now")}, {"c": nil}, {"U": nil}, {"U": layout.Text("c")}, {"vote": nil, "c": nil, "U": nil},
		{"SK": layout.Text("V#x")},
	} {
		it := layout.VoteItem(c.ID, "", comment.CastVote{By: "b", Vote: comment.Helpful, At: c.CreatedAt()})
		maps.Copy(it, key)
		maps.Copy(it, damage)
		maps.DeleteFunc(it, func(_ string, value types.AttributeValue) bool { return value == nil })
		must.Get(h.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(h.table), Item: it}))(t)
		vote(comment.Helpful)
		vote(comment.NotHelpful)
		h.recount(h.client, c, 1000)
		h.check(c.ID, comment.VoteCounts{NotHelpful: 1})
	}
}

// setByHand changes an attribute of a comment directly, as an operator could.
func (h *voteHistory) setByHand(id comment.ID, attr, value string) {
	h.Helper()
	must.Get(h.client.UpdateItem(h.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(h.table), Key: layout.CommentKey(id), UpdateExpression: aws.String("SET " + attr + " = :v"),
		ExpressionAttributeValues: layout.Item{":v": layout.Text(value)},
	}))(h)
}
