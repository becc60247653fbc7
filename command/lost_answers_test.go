package command_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// attempt is a mutation whose calls fail.
type attempt struct {
	name string
	// prepare brings what it needs into the table and gives the mutation's input.
	prepare func(a *api, product string) map[string]any
	field   string
	input   string
	// done is what the table says of the product once it was performed, beside the bystander.
	done func(product string) []string
	// again tells whether sending it again is safe, because it has a key or is the only one.
	again bool
	// only lets each customer have one comment about a product.
	only bool
	// gone is true when NOT_FOUND says no less than success: it is not there.
	gone bool
	// transacts tells whether it is a transaction, for faults that only these have.
	transacts bool
	// bare is true when the payload has no comment.
	bare bool
}

func bystander(product string) string {
	return product + ` en 5 "" "I only stand here." b Bo version 1 edited false`
}

func draftOf(product string) map[string]any {
	return with(draft(), map[string]any{"productId": product})
}

const (
	drafted = ` en-US 4 "Pours well" "No drips.\nNice." u1 Ada version 1 edited false`
	revised = ` de 2 "" "No drips.\nNice." u1 Ada version 2 edited true`
)

func added(product string) []string { return []string{product + drafted} }

// shopCustomer may report a comment and make the other mutations.
var shopCustomer = commenttest.Caller{CustomerID: new("u9"), Roles: comment.Shop | comment.Moderator | comment.Merchant}

// waiting adds a comment that waits for a moderator, and returns its id.
func (a *api) waiting(product string) string {
	a.tb.Helper()
	holding := &api{tb: a.tb, session: a.session}
	holding.serve.Policy, holding.authorizer = policyOf(a.tb, "hold"), commenttest.Customer("u1")
	holding.useClient(a.session.Client)
	defer holding.server.Close()
	return holding.add(draftOf(product)).Comment.ID
}

// stands returns what the table has for a product: the listed comments, and replies, states, decisions and reports. If
// indexes is set, it checks that these have the same comments.
func (a *api) stands(t *testing.T, product string, indexes bool) []string {
	t.Helper()
	items := scan(t, a.session.Client, a.session.Table, "")
	there := keptIn(items, product)
	if indexes {
		checkIndexes(t, a.session.Client, a.session.Table, product, there)
	}
	out := what(there)
	about := map[string]bool{}
	for _, item := range items {
		if text(item, "A") != "P#"+product && text(item, "p") != "P#"+product {
			continue
		}
		about[text(item, "PK")] = true
		if state := text(item, "z"); state != "" {
			out = append(out, fmt.Sprintf("state %s, queued %v", state, item["board"] != nil))
		}
		if reply, ok := item["o"].(*types.AttributeValueMemberM); ok && reply.Value["t"] != nil { // not a removed reply
			out = append(out, fmt.Sprintf("reply %q version %s", text(reply.Value, "t"), cmp.Or(text(reply.Value, "v"), "1")))
		}
		if reports := text(item, "f"); reports != "" {
			out = append(out, reports+" reports")
		}
	}
	for _, item := range items {
		switch kind, _, _ := strings.Cut(text(item, "SK"), "#"); {
		case !about[text(item, "PK")]:
		case kind == "D":
			out = append(out, fmt.Sprintf("decision from %s to %s", text(item, "from"), text(item, "to")))
		case kind == "V":
			out = append(out, "vote "+text(item, "vote"))
		case kind == "F":
			out = append(out, "report of "+text(item, "reason"))
		}
	}
	slices.Sort(out)
	return out
}

// about prepares a comment, and returns an input with its id and more.
func about(more map[string]any) func(a *api, product string) map[string]any {
	return func(a *api, product string) map[string]any {
		return with(map[string]any{"id": a.add(draftOf(product)).Comment.ID}, more)
	}
}

var attempts = []attempt{
	{
		name: "add", field: "addComment", input: "AddCommentInput", done: added,
		prepare: func(_ *api, product string) map[string]any { return draftOf(product) },
	},
	{
		name: "add with a key", field: "addComment", input: "AddCommentInput", done: added, again: true, transacts: true,
		prepare: func(_ *api, product string) map[string]any {
			return with(draftOf(product), map[string]any{"idempotencyKey": product})
		},
	},
	{
		name: "add again with a key", field: "addComment", input: "AddCommentInput", done: added, again: true, transacts: true,
		prepare: func(a *api, product string) map[string]any {
			input := with(draftOf(product), map[string]any{"idempotencyKey": product})
			a.add(input)
			return input
		},
	},
	{
		name: "add the only one again", field: "addComment", input: "AddCommentInput", done: added, again: true, only: true, transacts: true,
		prepare: func(a *api, product string) map[string]any {
			a.add(draftOf(product))
			return draftOf(product)
		},
	},
	{
		name: "add after a delete that was killed", field: "addComment", input: "AddCommentInput", done: added, again: true, only: true, transacts: true,
		prepare: func(a *api, product string) map[string]any {
			id := a.add(with(draftOf(product), map[string]any{"text": "gone"})).Comment.ID
			killed := &api{tb: a.tb, session: a.session} // it removes no item beside the comment
			killed.useClient(a.session.Client)
			defer killed.server.Close()
			killed.remove(map[string]any{"id": id})
			return draftOf(product)
		},
	},
	{
		name: "delete the only one", field: "deleteComment", input: "DeleteCommentInput", done: func(string) []string { return nil }, gone: true, only: true,
		prepare: about(nil),
	},
	{
		name: "edit", field: "editComment", input: "EditCommentInput",
		done:    func(product string) []string { return []string{product + revised} },
		prepare: about(map[string]any{"version": 1, "rating": 2, "language": "de", "title": nil}),
	},
	{
		name: "delete", field: "deleteComment", input: "DeleteCommentInput", done: func(string) []string { return nil }, gone: true,
		prepare: about(nil),
	},
}

// attemptsBeside are the mutations of data beside a comment, such as replies.
var attemptsBeside = []attempt{
	{
		name: "reply", field: "replyToComment", input: "ReplyToCommentInput", again: true,
		done:    func(product string) []string { return append(added(product), `reply "Thanks." version 1`) },
		prepare: about(map[string]any{"version": 0, "text": "Thanks.", "name": "Shop"}),
	},
	{
		name: "edit of a reply", field: "replyToComment", input: "ReplyToCommentInput", again: true,
		done: func(product string) []string { return append(added(product), `reply "Sorry." version 2`) },
		prepare: func(a *api, product string) map[string]any {
			input := map[string]any{"id": a.add(draftOf(product)).Comment.ID, "version": 0, "text": "Thanks.", "name": "Shop"}
			a.mutate("replyToComment", "ReplyToCommentInput", input)
			return with(input, map[string]any{"version": 1, "text": "Sorry."})
		},
	},
	{
		name: "delete of a reply", field: "deleteReply", input: "DeleteReplyInput", done: added, gone: true,
		prepare: func(a *api, product string) map[string]any {
			id := a.add(draftOf(product)).Comment.ID
			a.mutate("replyToComment", "ReplyToCommentInput", map[string]any{"id": id, "text": "Thanks.", "name": "Shop"})
			return map[string]any{"id": id}
		},
	},
	{
		name: "report", field: "reportComment", input: "ReportCommentInput", again: true, transacts: true, bare: true,
		done:    func(product string) []string { return append(added(product), "1 reports", "report of SPAM") },
		prepare: about(map[string]any{"reason": "SPAM", "note": "Look."}),
	},
	{
		name: "approve", field: "approveComment", input: "ApproveCommentInput", again: true, transacts: true,
		done: func(product string) []string { return append(added(product), "decision from PENDING to APPROVED") },
		prepare: func(a *api, product string) map[string]any {
			return map[string]any{"id": a.waiting(product), "version": 1}
		},
	},
	{
		name: "vote", field: "voteOnComment", input: "VoteOnCommentInput", again: true,
		done:    func(product string) []string { return append(added(product), "vote h") },
		prepare: about(map[string]any{"vote": "HELPFUL"}),
	},
	{
		name: "take a vote back", field: "voteOnComment", input: "VoteOnCommentInput", again: true,
		done: func(product string) []string { return append(added(product), "vote 0") },
		prepare: func(a *api, product string) map[string]any {
			input := map[string]any{"id": a.add(draftOf(product)).Comment.ID, "vote": "NOT_HELPFUL"}
			if got, said := a.sent(attempt{field: "voteOnComment", input: "VoteOnCommentInput"}, input); got != success {
				a.tb.Fatal(said)
			}
			return with(input, map[string]any{"vote": "NONE"})
		},
	},
	{
		name: "reject", field: "rejectComment", input: "RejectCommentInput", again: true, transacts: true,
		done: func(string) []string {
			return []string{"decision from APPROVED to REJECTED", "state R/SPAM, queued false"}
		},
		prepare: about(map[string]any{"version": 1, "reason": "SPAM"}),
	},
	{
		name: "withdraw", field: "withdrawComment", input: "WithdrawCommentInput", again: true, transacts: true,
		done:    func(string) []string { return []string{"decision from APPROVED to WITHDRAWN", "state W, queued false"} },
		prepare: about(map[string]any{"version": 1}),
	},
}

// outcome is the result of a write according to its answer.
type outcome int

const (
	success outcome = iota
	refused         // nothing happened
	unknown         // it happened as a whole or not at all
)

// sent sends a mutation and classifies its answer. A clear refusal is a problem with the input, or has a code listed as
// one.
func (a *api) sent(w attempt, input map[string]any) (outcome, string) {
	a.tb.Helper()
	fields := writePayload
	if w.bare {
		fields = `{ userErrors { code path } }`
	}
	got := a.ask(`mutation ($input: `+w.input+`!) { payload: `+w.field+`(input: $input) `+fields+` }`, map[string]any{"input": input})
	if len(got.Errors) > 0 {
		said := fmt.Sprint(got.Errors)
		if strings.Contains(said, "secret") {
			a.tb.Errorf("the client is told what is inside: %s", said)
		}
		switch code := got.Errors[0].Extensions["code"]; code {
		case "THROTTLED":
			return refused, said
		case "UNAVAILABLE", "TIMEOUT":
			return unknown, said
		default:
			a.tb.Errorf("a table in trouble is %v: %s\n%s", code, said, a.log)
			return unknown, said
		}
	}
	var data struct{ Payload payload }
	must.Do(a.tb, json.Unmarshal(got.Data, &data))
	if codes := data.Payload.codes(); codes == "NOT_FOUND id" && w.gone {
		return success, codes
	} else if codes != "" {
		return refused, codes
	}
	return success, ""
}

// Whatever happens to any call of any write, its answer is true of the table and of every index. A single fault does
// not even show.
func TestWritesThroughFaults(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t) // the engine does not matter for faults on the way
	r := commenttest.Rand(t)
	for i, w := range append(slices.Clone(attempts), attemptsBeside...) {
		for _, f := range faulttest.Kinds {
			often := 2
			if i >= len(attempts) {
				often = 3
			}
			if f.OfTransactions() && !w.transacts || r.IntN(commenttest.Times(often, 1)) > 0 {
				continue // over several runs, each fault occurs
			}
			t.Run(w.name+"/"+string(f), func(t *testing.T) {
				t.Parallel()
				healthy := &api{tb: t, session: newSession(t, endpoint), serve: command.Serve{OnePerCustomer: w.only}, authorizer: shopCustomer}
				healthy.markCounted()
				healthy.useClient(healthy.session.Client)
				for n := 1; ; n++ {
					single := healthy.throughFault(t, w, f, fmt.Sprint("once at call ", n), faulttest.Nth(n, f))
					healthy.throughFault(t, w, f, fmt.Sprint("from call ", n), faulttest.From(n, f))
					if single < n {
						return // the write made fewer calls
					}
				}
			})
		}
	}
}

// throughFault sends a write through a fault, to a server beside this one. It returns how many calls that took.
func (a *api) throughFault(t *testing.T, w attempt, f faulttest.Fault, when string, plan func(int) faulttest.Fault) int {
	t.Helper()
	product := fmt.Sprintf("%s, %s, %s", w.name, f, when)
	a.add(map[string]any{
		"productId": product, "rating": 5, "language": "en", "text": "I only stand here.",
		"author": map[string]any{"id": "b", "name": "Bo"},
	})
	input := w.prepare(a, product)
	before := a.stands(t, product, false) // its indexes are checked below
	after := append([]string{bystander(product)}, w.done(product)...)
	slices.Sort(after)

	client, network := faulttest.Under(a.session.Client, plan)
	faulty := &api{tb: t, session: a.session, serve: a.serve, authorizer: a.authorizer}
	faulty.useClient(client)
	defer faulty.server.Close() // otherwise as many servers as tries would stay up
	got, said := faulty.sent(w, input)
	must.Do(t, network.Flush())
	there := a.stands(t, product, true)
	checkOutcome(t, when, got, said, there, before, after)
	if strings.HasPrefix(when, "once") && (got != success || said != "") {
		t.Errorf("%s: one fault alone fails the write: %s", when, said)
	}
	if w.again {
		if got, said := a.sent(w, input); got != success {
			t.Errorf("%s: sent again: %s", when, said)
		}
		if diff := gocmp.Diff(after, a.stands(t, product, true)); diff != "" {
			t.Errorf("%s: sent again, it is not there exactly once: %s", when, diff)
		}
	}
	return network.Calls()
}

func checkOutcome(t *testing.T, when string, got outcome, said string, there, before, after []string) {
	t.Helper()
	if whole := slices.Equal(there, after); got == success && !whole {
		t.Errorf("%s: a success %s, and the table holds\n%s\nwant\n%s", when, said, there, after)
	}
	if nothing := slices.Equal(there, before); got == refused && !nothing {
		t.Errorf("%s: refused with %s, and the table holds\n%s\nwant\n%s", when, said, there, before)
	}
	if !slices.Equal(there, before) && !slices.Equal(there, after) {
		t.Errorf("%s: half done, after %s: the table holds\n%s", when, said, there)
	}
}
