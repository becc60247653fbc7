package dynamo

import (
	"fmt"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/moderation"
)

// What moderation, replies and reports cost in write units, and what the queue costs in read units,
// for a comment of average length. Without moderation, an add costs its item, its entries in the
// four lists, and one unit for its author's index.
func TestCostOfModeration(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	meter := &dynamotest.Meter{}
	client = call.Observed(client, meter)
	store := NewStore(client, table, Options{})
	hold := must.Get(moderation.Open("hold", ""))(t)
	spam, stars := comment.Spam, 2
	writer := func(who auth.Authorizer, policy moderation.Policy) *auth.Service {
		return &auth.Service{Store: store, Authorizer: who, Policy: policy}
	}
	judge, ada := &auth.Service{Store: store, Authorizer: commenttest.Caller{CustomerID: new("m"), Roles: comment.Moderator}}, writer(commenttest.Customer("ada"), moderation.Policy{})
	held := writer(commenttest.Customer("ada"), hold)
	only, onlyHeld := *ada, *held
	only.Store = NewStore(client, table, oneEach)
	onlyHeld.Store = only.Store
	draft := comment.Draft{ProductID: "p", Rating: 5, Language: "en", Text: "It pours well, and no drop goes astray.", Author: comment.Author{ID: "ada", Name: "Ada"}}
	key := "key"
	var c comment.Comment
	outcome := func(now comment.Comment, problems []comment.Problem, err error) error {
		c = now
		return failed(problems, err)
	}
	add := func(w *auth.Service, key *string) func() error {
		return func() error { return outcome(w.Add(t.Context(), draft, key)) }
	}
	edit := func(w *auth.Service, change comment.Change) func() error {
		return func() error { return outcome(w.Edit(t.Context(), string(c.ID), c.WithHeldEdit().Version, change)) }
	}
	decide := func(reason *comment.RejectionReason) func() error {
		return func() error {
			return outcome(judge.Decide(t.Context(), comment.Verdict{ID: string(c.ID), Version: c.WithHeldEdit().Version, Reason: reason}))
		}
	}
	report := func(who string) func() error {
		reporter := &auth.Service{Store: store, Authorizer: commenttest.Customer(who), Threshold: 2}
		return func() error {
			return failed(reporter.Report(t.Context(), comment.ReportDraft{CommentID: string(c.ID), Reason: "SPAM"}))
		}
	}
	remove := func(w *auth.Service) func() error {
		return func() error { return outcome(w.Delete(t.Context(), string(c.ID), nil)) }
	}
	about := func(product string) func() error {
		return func() error { draft.ProductID = product; return nil }
	}
	text := func(words string) comment.Change { return comment.Change{Text: &words} }
	shop := &auth.Service{Store: store, Authorizer: commenttest.Caller{Roles: comment.Merchant}, ShopName: "Shop"}
	reply := func(version int, words string) func() error {
		return func() error {
			return outcome(shop.Reply(t.Context(), comment.ReplyDraft{CommentID: string(c.ID), Version: version, Text: words}))
		}
	}
	checkCosts(t, meter, []deed{
		{"an add that is published", add(ada, nil), 6},
		{"an edit of the text", edit(ada, text("It pours.")), 5},
		{"a first reply", reply(0, "Thank you."), 5},
		{"an edit of the reply", reply(1, "Thank you very much."), 5},
		{"a first report", report("bo"), 5},
		{"a report at the threshold", report("cy"), 6},
		{"the comment is found good", decide(nil), 5},
		{"an edit that is held beside", edit(held, text("It pours and pours.")), 2},
		{"the edit again", edit(held, text("It pours and pours and pours.")), 1},
		{"the edit is approved", decide(nil), 9},
		{"the comment is rejected", decide(&spam), 8},
		{"it is submitted again", edit(ada, text("Sorry.")), 2},
		{"it is approved", decide(nil), 9},
		{"an edit of the rating", edit(ada, comment.Change{Rating: &stars}), 7},
		{"an add that is held", add(held, nil), 3},
		{"it is approved at once", decide(nil), 9},
		{"an add that is held, with a key", add(held, &key), 6},
		{"it is rejected at once", decide(&spam), 5},
		{"a delete of a rejected comment", remove(ada), 2},

		{"about another product", about("q"), 0},
		{"an add that is published, one for each customer", add(&only, nil), 9},
		{"the same again", add(&only, nil), 0},
		{"the same with a key", add(&only, &key), 0},
		{"a delete, one for each customer", remove(&only), 7},
		{"an add that is held, one for each customer", add(&onlyHeld, &key), 6},
		{"an add where it is off", add(ada, nil), 6},
		{"a delete where it is off", remove(ada), 6},
	})
	for range 30 {
		must.Do(t, add(held, nil)())
	}
	account := usage.NewPool(1 << 30).Open(1 << 30)
	if page, err := store.Queue(usage.With(t.Context(), account), comment.QueueQuery{First: 20}); err != nil || len(page.Queued) != 20 {
		t.Fatalf("%d, %v", len(page.Queued), err)
	}
	if got := account.Units(); got > 22 {
		t.Errorf("a page of 20 of the queue: %v read units, want at most 22", got)
	}
}

// What votes cost in write units. A batch of votes, however large, is counted by one write of the
// comment: its item, its entries in four lists, and its place among the helpful ones.
func TestCostOfVotes(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	meter := &dynamotest.Meter{}
	client = call.Observed(client, meter)
	store := NewStore(client, table, Options{})
	c, _ := comment.Draft{ProductID: "p", Rating: 5, Language: "en", Text: "It pours well.", Author: comment.Author{ID: "ada", Name: "Ada"}}.Comment(comment.Position{1})
	must.Get(store.Add(t.Context(), c, ""))(t)
	vote := func(v comment.Vote, names ...string) func() error {
		return func() error {
			for _, name := range names {
				_, problems, err := (&auth.Service{Store: store, Authorizer: commenttest.Customer(name)}).Vote(t.Context(), string(c.ID), v)
				if err := failed(problems, err); err != nil {
					return err
				}
			}
			return nil
		}
	}
	recounter := counts.NewVoteRecounter(client, table, 0)
	recount := func() error { return recounter.Recount(t.Context(), c.ID) }
	var hundred, thousand []string
	for i := range 1000 {
		thousand = append(thousand, fmt.Sprint("customer ", i))
	}
	hundred, thousand = thousand[:100], thousand[100:]
	checkCosts(t, meter, []deed{
		{"a vote", vote(comment.NotHelpful, "bo"), 2},
		{"the same again", vote(comment.NotHelpful, "bo"), 0},
		{"the count of a first vote that calls it not helpful", recount, 5},
		{"a change", vote(comment.Helpful, "bo"), 1},
		{"the count of a first helpful vote", recount, 6},
		{"the count again", recount, 0},
		{"a hundred votes", vote(comment.Helpful, hundred...), 200},
		{"the count of a hundred", recount, 7},
		{"a vote is taken back", vote(comment.NoVote, "bo"), 1},
		{"the count of that", recount, 7},
		{"900 votes", vote(comment.Helpful, thousand...), 1800},
		{"the count of 900, which keeps the counts of slices", recount, 9},
		{"a vote after that", vote(comment.Helpful, "bo"), 1},
		{"the count of that", recount, 8},
	})
	account := usage.NewPool(1).Open(1)
	found, _, err := store.VotesBy(usage.With(t.Context(), account), []comment.VoteKey{{Comment: c.ID, Customer: "bo"}, {Comment: c.ID, Customer: "nobody"}})
	if reads := account.Reads(); err != nil || len(found) != 1 || reads.Calls != 1 || reads.Units != 2 {
		t.Errorf("%v read for %d calls and %v read units, want 1 and 2; %v", found, reads.Calls, reads.Units, err)
	}
}

// deed is what somebody does, and what it costs in write units.
type deed struct {
	what string
	do   func() error
	want float64
}

// checkCosts does deeds one after the other, and compares their costs.
func checkCosts(t *testing.T, meter *dynamotest.Meter, deeds []deed) {
	t.Helper()
	for _, deed := range deeds {
		meter.Take()
		if err := deed.do(); err != nil {
			t.Fatalf("%s: %v", deed.what, err)
		}
		if _, got := meter.Take(); got != deed.want {
			t.Errorf("%s: %v write units, want %v", deed.what, got, deed.want)
		}
	}
}

// failed returns an error if a mutation had an error or problems.
func failed(problems []comment.Problem, err error) error {
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%v", problems)
	}
	return err
}
