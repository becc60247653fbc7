package command_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// attempt is a mutation whose calls fail.
type attempt struct {
	name string
	// prepare brings what it needs into the table and gives the mutation's input. Each text with
	// "hush" in it is one that the public must not see.
	prepare func(x *trial) map[string]any
	field   string
	by      role
	// done is what the table says about the author once it was performed.
	done []string
	// only lets each customer have one comment about a product, held holds what customers write, and
	// hide hides an approved comment while an edit of it waits.
	only, held, hide bool
	// again is what sending it again may be answered with, beside success.
	again []string
	// once is true if sending it again is another mutation.
	once bool
	// parts are what the table says if a part of it was performed, where it may be.
	parts [][]string
	// payload has the fields of the payload, if they are not those of a comment.
	payload string
}

// role is who sends a request.
type role int

const (
	staff role = iota // with all roles
	writer
	another
	third
	visitor
	public
)

func (r role) caller(author string) commenttest.Caller {
	switch r {
	case writer:
		return commenttest.Customer(author)
	case another:
		return commenttest.Customer("another")
	case third:
		return commenttest.Customer("third")
	case visitor:
		reason := comment.TokenRequired
		return commenttest.Caller{VisitorID: "visitor:1", VisitorsVote: true, CannotWriteReason: &reason}
	case public:
		return commenttest.Caller{}
	}
	return commenttest.Caller{CustomerID: new("u9"), Roles: comment.Shop | comment.Moderator | comment.Merchant}
}

// sender is an authorizer for one request at a time.
type sender struct{ commenttest.Caller }

// sweep is a table for many trials, each with an author of its own.
type sweep struct {
	t    *testing.T
	base *api

	mu     sync.Mutex
	trials []*trial
}

// trial is one mutation about the comments of one author. Its requests go to a healthy server.
type trial struct {
	*api
	w       attempt
	sender  *sender
	author  string
	product string
	ids     []string // of the author's comments, when stands was last called
	resumed bool     // the author and moderators went on at the end
	done    bool     // it was performed, and once
}

// lane has the servers for trials of a mutation, one after the other.
type lane struct {
	*sweep
	t       *testing.T
	w       attempt
	sender  *sender
	healthy *api
	faulty  *api
	network *faulttest.Network
	tried   bool           // there was a trial
	before  []string       // what stands once the mutation is prepared
	busy    sync.WaitGroup // requests of the faulty server
	number  int            // of the last call before the trial
	plan    func(call int) faulttest.Fault
}

func newLane(t *testing.T, s *sweep, w attempt) *lane {
	l := &lane{sweep: s, t: t, w: w, sender: &sender{}}
	serve := command.Serve{OnePerCustomer: w.only, ReportThreshold: 2}
	if w.held {
		serve.Policy = policyOf(t, "hold")
	}
	if w.hide {
		serve.Moderation.Edits = "hide"
	}
	l.healthy = &api{tb: t, session: s.base.session, serve: serve, authorizer: l.sender}
	l.healthy.useClient(s.base.session.Client)
	client, network := faulttest.Under(s.base.session.Client, func(call int) faulttest.Fault { return l.plan(call - l.number) })
	l.network = network
	l.faulty = &api{tb: t, session: s.base.session, serve: serve, authorizer: l.sender}
	l.faulty.useClient(client)
	handler := l.faulty.server.Config.Handler
	l.faulty.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.busy.Add(1)
		defer l.busy.Done()
		handler.ServeHTTP(w, r)
	})
	return l
}

// as has the next requests come from someone.
func (x *trial) as(r role) *trial {
	x.sender.Caller = r.caller(x.author)
	return x
}

func (x *trial) draft() map[string]any {
	return with(draft(), map[string]any{"productId": x.product, "author": map[string]any{"id": x.author, "name": "Ada"}})
}

// is sends a mutation that has to succeed.
func (x *trial) is(field string, input map[string]any) *shown {
	x.tb.Helper()
	got := x.mutate(field, inputType(field), input)
	if got.codes() != "" {
		x.tb.Errorf("%s: %s: %s", x.author, field, got.codes())
	}
	return cmp.Or(got.Comment, new(shown))
}

func inputType(field string) string { return strings.ToUpper(field[:1]) + field[1:] + "Input" }

// adds adds a comment, and returns the inputs that begin with its id.
func (x *trial) adds(r role, more map[string]any) map[string]any {
	x.tb.Helper()
	return map[string]any{"id": x.as(r).is("addComment", with(x.draft(), more)).ID}
}

// edits makes an edit of the author.
func (x *trial) edits(about map[string]any, text string) {
	x.tb.Helper()
	x.as(writer).succeeds("editComment", with(maps.Clone(about), map[string]any{"version": 1, "text": text}))
}

// succeeds sends a mutation that has to succeed, and whose payload may have no comment.
func (x *trial) succeeds(field string, input map[string]any) {
	x.tb.Helper()
	if got, said := x.sent(context.Background(), x.api, attempt{field: field, payload: "userErrors { code path }"}, input); got != success {
		x.tb.Errorf("%s: %s: %s", x.author, field, said)
	}
}

// about prepares a comment that everyone sees, and returns an input with its id and more.
func about(more map[string]any) func(x *trial) map[string]any {
	return func(x *trial) map[string]any { return with(x.adds(staff, nil), more) }
}

// beside prepares an edit that waits beside a comment that everyone sees.
func beside(more map[string]any) func(x *trial) map[string]any {
	return func(x *trial) map[string]any {
		input := x.adds(staff, nil)
		x.edits(input, "hush")
		return with(input, more)
	}
}

// waiting prepares a comment that waits.
func waiting(more map[string]any) func(x *trial) map[string]any {
	return func(x *trial) map[string]any { return with(x.adds(writer, nil), more) }
}

const (
	drafted = `en-US 4 "Pours well" "No drips.\nNice." Ada version 1 edited false`
	revised = `de 2 "" "No drips.\nNice." Ada version 2 edited true`
	hushed  = `en-US 4 "Pours well" "hush" Ada version 2 edited true`
)

var conflict, gone = []string{"CONFLICT version"}, []string{"NOT_FOUND id"}

// attempts are all mutations, in the states of a comment that make a difference.
var attempts = []attempt{
	{
		name: "add", field: "addComment", done: []string{drafted}, once: true,
		prepare: func(x *trial) map[string]any { return x.draft() },
	},
	{
		name: "add with a key", field: "addComment", done: []string{drafted},
		prepare: func(x *trial) map[string]any { return with(x.draft(), map[string]any{"idempotencyKey": "k"}) },
	},
	{
		name: "add again with a key", field: "addComment", done: []string{drafted},
		prepare: func(x *trial) map[string]any {
			x.adds(staff, map[string]any{"idempotencyKey": "k"})
			return with(x.draft(), map[string]any{"idempotencyKey": "k"})
		},
	},
	{
		name: "add what waits", field: "addComment", by: writer, held: true,
		done: []string{`en-US 4 "Pours well" "hush" Ada version 1 edited false`, "state P", "waits for POLICY"},
		prepare: func(x *trial) map[string]any {
			return with(x.draft(), map[string]any{"idempotencyKey": "k", "text": "hush"})
		},
	},
	{
		name: "add the only one", field: "addComment", by: writer, done: []string{drafted}, only: true,
		prepare: func(x *trial) map[string]any { return x.draft() },
	},
	{
		name: "add the only one again", field: "addComment", done: []string{drafted}, only: true,
		prepare: func(x *trial) map[string]any {
			x.adds(staff, nil)
			return x.draft()
		},
	},
	{
		name: "add after a delete that was killed", field: "addComment", done: []string{drafted}, only: true,
		prepare: func(x *trial) map[string]any {
			id := comment.ID(x.adds(staff, map[string]any{"text": "gone"})["id"].(string))
			killed := (&command.Serve{}).Store(x.session, nil, nil) // it removes no item beside the comment
			must.Do(x.tb, killed.Delete(context.Background(), must.Get(killed.Comment(context.Background(), id))(x.tb)))
			return x.draft()
		},
	},
	{
		name: "edit", field: "editComment", done: []string{revised}, again: conflict,
		prepare: about(map[string]any{"version": 1, "rating": 2, "language": "de", "title": nil}),
	},
	{
		name: "say that a purchase is verified", field: "editComment", done: []string{drafted, "traits v"},
		prepare: about(map[string]any{"version": 1, "isVerifiedPurchase": true}),
	},
	{
		name: "edit what is shown", field: "editComment", by: writer, held: true, again: conflict,
		done:    []string{drafted, `held edit "hush" version 2`, "waits for POLICY,EDIT"},
		prepare: about(map[string]any{"version": 1, "text": "hush"}),
	},
	{
		name: "edit an edit that waits", field: "editComment", by: writer, held: true, again: conflict,
		done:    []string{drafted, `held edit "hush, too" version 3`, "waits for POLICY,EDIT"},
		prepare: beside(map[string]any{"version": 2, "text": "hush, too"}),
	},
	{
		name: "edit what is hidden then", field: "editComment", by: writer, held: true, hide: true, again: conflict,
		done:    []string{hushed, "state P", "waits for POLICY,EDIT"},
		prepare: about(map[string]any{"version": 1, "text": "hush"}),
	},
	{
		name: "edit what waits", field: "editComment", by: writer, held: true, again: conflict,
		done:    []string{hushed, "state P", "waits for POLICY"},
		prepare: waiting(map[string]any{"version": 1, "text": "hush"}),
	},
	{
		name: "edit what was rejected", field: "editComment", by: writer, again: conflict,
		done: []string{hushed, "decision from APPROVED to REJECTED", "rejected version 1", "state P", "waits for EDIT"},
		prepare: func(x *trial) map[string]any {
			input := x.adds(staff, nil)
			x.is("rejectComment", with(maps.Clone(input), map[string]any{"version": 1, "reason": "SPAM"}))
			return with(input, map[string]any{"version": 1, "text": "hush"})
		},
	},
	{
		name: "edit what was withdrawn", field: "editComment", by: writer, again: conflict,
		done: []string{`en-US 4 "Pours well" "Back." Ada version 2 edited true`, "decision from APPROVED to WITHDRAWN"},
		prepare: func(x *trial) map[string]any {
			input := x.adds(writer, nil)
			x.is("withdrawComment", with(maps.Clone(input), map[string]any{"version": 1}))
			return with(input, map[string]any{"version": 1, "text": "Back."})
		},
	},
	{name: "delete", field: "deleteComment", again: gone, prepare: about(nil)},
	{name: "delete a version", field: "deleteComment", by: writer, held: true, again: gone, prepare: beside(map[string]any{"version": 2})},
	{name: "delete the only one", field: "deleteComment", by: writer, again: gone, only: true, prepare: about(nil)},
	{
		name: "reply", field: "replyToComment", done: []string{drafted, `reply "Thanks." version 1`},
		prepare: about(map[string]any{"version": 0, "text": "Thanks.", "name": "Shop"}),
	},
	{
		name: "edit of a reply", field: "replyToComment", done: []string{drafted, `reply "Sorry." version 2`},
		prepare: func(x *trial) map[string]any {
			input := with(x.adds(staff, nil), map[string]any{"version": 0, "text": "Thanks.", "name": "Shop"})
			x.is("replyToComment", input)
			return with(input, map[string]any{"version": 1, "text": "Sorry."})
		},
	},
	{
		name: "delete of a reply", field: "deleteReply", done: []string{drafted}, again: gone,
		prepare: func(x *trial) map[string]any {
			input := x.adds(staff, nil)
			x.is("replyToComment", with(maps.Clone(input), map[string]any{"text": "Thanks.", "name": "Shop"}))
			return input
		},
	},
	{
		name: "report", field: "reportComment", by: another, payload: `userErrors { code path }`,
		done:    []string{drafted, "1 reports", "report of SPAM"},
		prepare: about(map[string]any{"reason": "SPAM", "note": "Look."}),
	},
	{
		name: "last report before it waits", field: "reportComment", by: another, payload: `userErrors { code path }`,
		done: []string{drafted, "2 reports", "report of SPAM", "report of OTHER", "waits for REPORTED"},
		prepare: func(x *trial) map[string]any {
			input := x.adds(staff, nil)
			x.succeeds("reportComment", with(maps.Clone(input), map[string]any{"reason": "OTHER"}))
			return with(input, map[string]any{"reason": "SPAM"})
		},
	},
	{
		name: "vote", field: "voteOnComment", by: another, done: []string{drafted, "vote h"},
		prepare: about(map[string]any{"vote": "HELPFUL"}),
	},
	{
		name: "vote of a visitor", field: "voteOnComment", by: visitor, done: []string{drafted, "vote n"},
		prepare: about(map[string]any{"vote": "NOT_HELPFUL"}),
	},
	{
		name: "take a vote back", field: "voteOnComment", by: another, done: []string{drafted, "vote 0"},
		prepare: func(x *trial) map[string]any {
			input := with(x.adds(staff, nil), map[string]any{"vote": "NOT_HELPFUL"})
			x.as(another).is("voteOnComment", input)
			return with(input, map[string]any{"vote": "NONE"})
		},
	},
	{
		name: "approve", field: "approveComment", held: true, done: []string{drafted, "decision from PENDING to APPROVED"},
		prepare: waiting(map[string]any{"version": 1}),
	},
	{
		name: "approve an edit", field: "approveComment", held: true,
		done: []string{`en-US 4 "Pours well" "Better." Ada version 2 edited true`, "decision from APPROVED to APPROVED"},
		prepare: func(x *trial) map[string]any {
			input := x.adds(staff, nil)
			x.edits(input, "Better.")
			return with(input, map[string]any{"version": 2})
		},
	},
	{
		name: "reject", field: "rejectComment", done: []string{drafted, "decision from APPROVED to REJECTED", "state R/SPAM"},
		prepare: about(map[string]any{"version": 1, "reason": "SPAM"}),
	},
	{
		name: "reject an edit", field: "rejectComment", held: true,
		done:    []string{drafted, "decision from APPROVED to APPROVED", "rejected version 2"},
		prepare: beside(map[string]any{"version": 2, "reason": "SPAM"}),
	},
	{
		name: "withdraw", field: "withdrawComment", by: writer, done: []string{drafted, "decision from APPROVED to WITHDRAWN", "state W"},
		prepare: about(map[string]any{"version": 1}),
	},
	{
		name: "withdraw an edit", field: "withdrawComment", by: writer, held: true,
		done:    []string{hushed, "decision from APPROVED to WITHDRAWN", "state W"},
		prepare: beside(map[string]any{"version": 2}),
	},
	{
		name: "decide several", field: "decideComments", held: true,
		payload: `results { comment { id } userErrors { code path } } userErrors { code path }`,
		done:    []string{drafted, drafted, "decision from PENDING to APPROVED", "decision from PENDING to REJECTED", "state R/SPAM"},
		parts: [][]string{
			{drafted, drafted, "decision from PENDING to APPROVED", "state P", "waits for POLICY"},
			{drafted, drafted, "decision from PENDING to REJECTED", "state P", "state R/SPAM", "waits for POLICY"},
		},
		prepare: func(x *trial) map[string]any {
			first, second := x.adds(writer, nil), x.adds(writer, nil)
			return map[string]any{"decisions": []any{
				with(first, map[string]any{"version": 1}), with(second, map[string]any{"version": 1, "reason": "SPAM"}),
			}}
		},
	},
	{
		name: "erase the author", field: "eraseAuthor", payload: `erasure { state } userErrors { code path }`,
		done: []string{drafted, "erasure WAITING"},
		prepare: func(x *trial) map[string]any {
			x.adds(staff, nil)
			return map[string]any{"customerId": x.author}
		},
	},
}

// items returns what is about the author's comments.
func (x *trial) items() (out []map[string]types.AttributeValue) {
	x.tb.Helper()
	client, table := x.session.Client, aws.String(x.session.Table)
	keys := must.Get(client.Query(context.Background(), &dynamodb.QueryInput{
		TableName: table, IndexName: aws.String("byAuthor"), KeyConditionExpression: aws.String("U = :u"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":u": &types.AttributeValueMemberS{Value: "c" + x.author}},
	}))(x.tb)
	for _, key := range keys.Items {
		about := must.Get(client.Query(context.Background(), &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: aws.String("PK = :pk"), ConsistentRead: aws.Bool(true),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": key["PK"]},
		}))(x.tb)
		out = append(out, about.Items...)
	}
	return out
}

// stands returns what the table says about the author: the comments, and replies, states, edits
// that wait, decisions, votes and reports.
func (x *trial) stands() (out []string) {
	x.tb.Helper()
	x.ids = nil
	for _, item := range x.items() {
		x.ids = append(x.ids, idOf(item))
		switch kind, _, _ := strings.Cut(text(item, "SK"), "#"); kind {
		case "C":
			k := keptOf(item, x.product)
			out = append(out, strings.TrimPrefix(strings.ReplaceAll(k.says(), " "+x.author+" ", " "), x.product+" "))
			out = append(out, aboutComment(item)...)
		case "D":
			out = append(out, fmt.Sprintf("decision from %s to %s", text(item, "from"), text(item, "to")))
		case "V":
			out = append(out, "vote "+text(item, "vote"))
		case "F":
			out = append(out, "report of "+text(item, "reason"))
		}
	}
	if x.w.field == "eraseAuthor" {
		_, state, _ := strings.Cut(x.as(staff).said(`{ moderation { erasure(customerId: "`+x.author+`") { state } } }`, nil), `"state":"`)
		if state, _, _ = strings.Cut(state, `"`); state != "" {
			out = append(out, "erasure "+state)
		}
	}
	slices.Sort(out)
	return out
}

// aboutComment returns what a comment's item says beside what lists show.
func aboutComment(item map[string]types.AttributeValue) (out []string) {
	part := func(name string) map[string]types.AttributeValue {
		in, _ := item[name].(*types.AttributeValueMemberM)
		return cmp.Or(in, new(types.AttributeValueMemberM)).Value
	}
	if state := text(item, "z"); state != "" {
		out = append(out, "state "+state)
	}
	if place := strings.Split(text(item, "place"), "#"); len(place) > 2 {
		out = append(out, "waits for "+place[2])
	}
	if edit := part("j"); edit != nil {
		out = append(out, fmt.Sprintf("held edit %q version %s", text(edit, "t"), text(edit, "v")))
	}
	if reply := part("o"); reply["t"] != nil { // not a removed reply
		out = append(out, fmt.Sprintf("reply %q version %s", text(reply, "t"), cmp.Or(text(reply, "v"), "1")))
	}
	for name, what := range map[string]string{"f": "%s reports", "k": "traits %s", "s": "rejected version %s"} {
		if value := text(item, name); value != "" {
			out = append(out, fmt.Sprintf(what, value))
		}
	}
	return out
}

// outcome is the result of a write according to its answer.
type outcome int

const (
	success outcome = iota
	refused         // nothing happened
	unknown         // it happened as a whole or not at all
)

// sent sends a mutation and classifies its answer. A clear refusal is a problem with the input, or
// has a code listed as one.
func (x *trial) sent(ctx context.Context, a *api, w attempt, input map[string]any) (outcome, string) {
	x.tb.Helper()
	query := `mutation ($input: ` + inputType(w.field) + `!) { payload: ` + w.field + `(input: $input) { ` + cmp.Or(w.payload, `comment { id } userErrors { code path }`) + ` } }`
	said, err := send(ctx, http.DefaultTransport, http.MethodPost, a.server.URL+"/graphql", operation(query, map[string]any{"input": input}))
	if ctx.Err() != nil {
		return unknown, "nothing, since the caller has left"
	}
	must.Do(x.tb, err)
	var got answer
	must.Do(x.tb, json.Unmarshal([]byte(said.body), &got))
	if len(got.Errors) > 0 {
		if strings.Contains(said.body, "secret") {
			x.tb.Errorf("the client is told what is inside: %s", said.body)
		}
		switch code := got.Errors[0].Extensions["code"]; code {
		case "THROTTLED":
			return refused, said.body
		case "UNAVAILABLE", "TIMEOUT":
			return unknown, said.body
		default:
			x.tb.Errorf("a table in trouble is %v: %s\n%s", code, said.body, a.log)
			return unknown, said.body
		}
	}
	var data struct {
		Payload struct {
			payload
			Results []payload
		}
	}
	must.Do(x.tb, json.Unmarshal(got.Data, &data))
	codes := []string{data.Payload.codes()}
	for _, result := range data.Payload.Results {
		codes = append(codes, result.codes())
	}
	codes = slices.DeleteFunc(codes, func(code string) bool { return code == "" })
	if len(codes) > 0 {
		return refused, strings.Join(codes, ", ")
	}
	return success, ""
}

// Whatever happens to any call of any write, its answer is true of the table, and nobody sees what
// they must not. A single fault does not even show. Sent again, it is there exactly once, in the
// table, in every index, in what is counted and in the events, and the author and moderators can go
// on.
func TestWritesThroughFaults(t *testing.T) {
	t.Parallel()
	s := newSweep(t)
	r := commenttest.Rand(t)
	var running sync.WaitGroup
	slots := make(chan struct{}, 24) // tries wait most of the time
	for _, w := range attempts {
		undisturbed := newLane(t, s, w) // with the events that each trial must have
		undisturbed.try(w.name, false, faulttest.Nth(0, faulttest.None))
		undisturbed.try(w.name, true, faulttest.Nth(0, faulttest.None))
		faults := slices.Concat(faulttest.Kinds, faulttest.Leaving)
		for i, drawn := range r.Perm(len(faults)) {
			if i > 0 && r.IntN(commenttest.Times(8, 1)) > 0 {
				continue // over several runs, each fault occurs
			}
			f := faults[drawn]
			own := rand.New(rand.NewPCG(r.Uint64(), 1))
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				t.Run(w.name+"/"+string(f), func(t *testing.T) {
					l := newLane(t, s, w)
					try := func(when string, plan func(int) faulttest.Fault) { l.try(when, own.IntN(4) == 0, plan) }
					for n := 1; ; n++ {
						try(fmt.Sprintf("%s once at call %d", f, n), faulttest.Nth(n, f))
						if calls := l.network.Calls() - l.number; calls < n {
							return // the write made fewer calls
						}
						for _, after := range []faulttest.Fault{f, faulttest.Throttled} {
							if slices.Contains(faulttest.Leaving, f) || own.IntN(commenttest.Times(2, 1)) > 0 {
								continue
							}
							try(fmt.Sprintf("%s at call %d, then %s", f, n, after), func(call int) faulttest.Fault {
								return cmp.Or(faulttest.Nth(n, f)(call), faulttest.From(n+1, after)(call))
							})
						}
					}
				})
			})
		}
	}
	running.Wait()
	s.check()
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

func newSweep(t *testing.T) *sweep {
	s := &sweep{t: t, base: &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}} // the engine does not matter for faults on the way
	s.base.markCounted()
	return s
}

// trial returns a new trial with an author of its own.
func (l *lane) trial() *trial {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := &trial{api: l.healthy, w: l.w, sender: l.sender, author: fmt.Sprint("u", len(l.trials)), product: l.w.name}
	l.trials = append(l.trials, x)
	return x
}

// try sends a write through faults, and then sends it again.
func (l *lane) try(when string, resume bool, plan func(int) faulttest.Fault) {
	l.t.Helper()
	x := l.trial()
	x.resumed = resume
	input := l.w.prepare(x)
	if !l.tried {
		l.tried, l.before = true, x.stands() // the same for each trial
	}
	after := sorted(l.w.done)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	l.network.Leave, l.number, l.plan = leave, l.network.Calls(), plan
	got, said := x.as(l.w.by).sent(ctx, l.faulty, l.w, input)
	l.busy.Wait()
	there := x.stands()
	x.keepsQuiet(when, there)
	l.checkOutcome(when, got, said, there, after)
	if l.network.Late() > 0 {
		must.Do(l.t, l.network.Flush())
		there = x.stands()
		x.keepsQuiet(when+", later", there)
		l.checkOutcome(when+", later", got, said, there, after)
	}
	if !strings.Contains(when, ", then ") && got != success && ctx.Err() == nil {
		l.t.Errorf("%s: one fault alone fails the write: %s", when, said)
	}
	if !x.w.once {
		x.sendAgain(when, input)
		there = x.stands()
		if diff := gocmp.Diff(after, there); diff != "" {
			l.t.Errorf("%s: sent again, it is not there exactly once: %s", when, diff)
		}
	}
	x.done = slices.Equal(there, after)
	if resume {
		x.goesOn(when)
	}
}

// keepsQuiet checks what the public sees of the author's comments.
func (x *trial) keepsQuiet(when string, there []string) {
	x.tb.Helper()
	if !strings.Contains(fmt.Sprint(there), "hush") {
		return
	}
	var seen struct {
		Nodes   []*state
		Product struct{ Comments struct{ Nodes []*state } }
	}
	x.as(public).mustAsk(`query ($ids: [ID!]!, $product: ID!) {
		nodes(ids: $ids) { ... on Comment `+stateFields+` } product(id: $product) { comments(first: 10) { nodes `+stateFields+` } }
	}`, map[string]any{"ids": slices.Compact(slices.Clone(x.ids)), "product": x.product}, &seen)
	for _, c := range append(seen.Nodes, seen.Product.Comments.Nodes...) {
		if c != nil && slices.Contains(x.ids, c.ID) && (strings.Contains(c.Text, "hush") || c.HeldEdit != nil) {
			x.tb.Errorf("%s: the public sees %+v", when, c)
		}
	}
}

// idOf returns the id of the comment that an item is about.
func idOf(item map[string]types.AttributeValue) string {
	return "c_" + strings.TrimPrefix(text(item, "PK"), "C#")
}

// sendAgain does as the guide says.
func (x *trial) sendAgain(when string, input map[string]any) {
	x.tb.Helper()
	got, said := x.as(x.w.by).sent(context.Background(), x.api, x.w, input)
	if got == success {
		return
	}
	if !slices.Contains(x.w.again, said) {
		x.tb.Errorf("%s: sent again: %s", when, said)
	}
	if said == "CONFLICT version" {
		input["version"] = x.reads(input["id"]).latest()
		if got, said := x.as(x.w.by).sent(context.Background(), x.api, x.w, input); got != success {
			x.tb.Errorf("%s: sent again after reading: %s", when, said)
		}
	}
}

// reads returns a comment as moderators see it.
func (x *trial) reads(id any) (c state) {
	x.tb.Helper()
	var data struct{ Comment state }
	x.as(staff).mustAsk(`query ($id: ID!) { comment(id: $id) `+stateFields+` }`, map[string]any{"id": id}, &data)
	return data.Comment
}

// goesOn has a moderator decide about each comment, and the author edit it, delete it and write
// anew.
func (x *trial) goesOn(when string) {
	x.tb.Helper()
	step := func(by role, field string, input map[string]any) {
		x.tb.Helper()
		if got, said := x.as(by).sent(context.Background(), x.api, attempt{field: field}, input); got != success {
			x.tb.Errorf("%s: then %s fails: %s", when, field, said)
		}
	}
	for _, item := range x.items() {
		if text(item, "SK") != "C" {
			continue
		}
		id := idOf(item)
		now := x.reads(id)
		if now.Status != "WITHDRAWN" {
			step(staff, "approveComment", map[string]any{"id": id, "version": now.latest()})
		}
		step(writer, "editComment", map[string]any{"id": id, "version": now.latest(), "text": "On."})
		step(writer, "deleteComment", map[string]any{"id": id, "version": x.reads(id).latest()})
	}
	step(writer, "addComment", with(x.draft(), map[string]any{"text": "Anew."}))
}

func (l *lane) checkOutcome(when string, got outcome, said string, there, after []string) {
	l.t.Helper()
	if whole := slices.Equal(there, after); got == success && !whole {
		l.t.Errorf("%s: a success %s, and the table holds\n%s\nwant\n%s", when, said, there, after)
	}
	if nothing := slices.Equal(there, l.before); got == refused && !nothing {
		l.t.Errorf("%s: refused with %s, and the table holds\n%s\nwant\n%s", when, said, there, l.before)
	}
	whole := append(slices.Clone(l.w.parts), l.before, after)
	if !slices.ContainsFunc(whole, func(texts []string) bool { return slices.Equal(there, sorted(texts)) }) {
		l.t.Errorf("%s: half done, after %s: the table holds\n%s", when, said, there)
	}
}

// check counts everything, and checks counts, indexes, and the events of each trial.
func (s *sweep) check() {
	s.t.Helper()
	var mu sync.Mutex
	events, seen := map[string][]string{}, map[string]bool{}
	client, table := s.base.session.Client, s.base.session.Table
	count := counts.NewCounter(client, table, counts.CounterOptions{}).Handle
	stop := s.base.consumeWith(client, func(ctx context.Context, records []stream.Record) error {
		mu.Lock()
		for _, record := range records {
			author := cmp.Or(text(record.New, "U"), text(record.Old, "U"))
			for _, event := range outbox.Of(record) {
				if !seen[event.ID] {
					seen[event.ID] = true
					events[author] = append(events[author], fmt.Sprintf("%s %s", event.Comment, event.Kind))
				}
			}
		}
		mu.Unlock()
		return count(ctx, records)
	})
	s.base.drained(time.Now())
	s.base.drained(time.Now()) // the first time, totals of votes were written
	stop()
	checkIndexes(s.t, client, table, "", keptIn(scan(s.t, client, table, ""), ""))
	found := must.Get(counts.NewVerifier(client, table, counts.VerifyOptions{}).Run(s.t.Context(), func(int) {}))(s.t)
	if len(found.Drifts) > 0 || len(found.Improper) > 0 || len(found.Restless) > 0 {
		s.t.Errorf("verify finds %+v", found)
	}
	want := map[string][]string{} // by mutation
	for _, x := range s.trials {
		if !x.done {
			continue
		}
		name := fmt.Sprintf("%s, %v", x.w.name, x.resumed)
		got := eventsOf(events["c"+x.author])
		if want[name] == nil {
			want[name] = got
		} else if diff := gocmp.Diff(want[name], got); diff != "" {
			s.t.Errorf("%s: %s: other events than undisturbed: %s", x.author, name, diff)
		}
	}
}

// eventsOf returns the kinds of events, a line for each comment.
func eventsOf(events []string) []string {
	lines := map[string]string{}
	for _, event := range events {
		id, kind, _ := strings.Cut(event, " ")
		lines[id] += " " + kind
	}
	return slices.Sorted(maps.Values(lines))
}
