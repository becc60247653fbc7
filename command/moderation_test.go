package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/moderation"
)

// policyOf returns a policy of moderation by its name.
func policyOf(t testing.TB, name string) moderation.Policy {
	t.Helper()
	return must.Get(moderation.Open(name, ""))(t)
}

// moderated starts a service that holds every comment.
func moderated(t *testing.T) *api {
	t.Helper()
	a := guarded(t)
	a.serve.Policy = policyOf(t, "hold")
	a.useClient(a.session.Client)
	return a
}

// as sends an operation with a token, in which $id stands for a comment, and returns the answer
// without its ids and times. It retries until the answer is the wanted one, since lists lag behind
// the table.
func (a *api) as(token, operation, id, want string) {
	a.tb.Helper()
	a.header = bearer(token)
	deadline := time.Now().Add(2 * time.Minute)
	for {
		text := a.said(strings.ReplaceAll(operation, "$id", id), nil)
		if text == want {
			return
		}
		if time.Now().After(deadline) || strings.HasPrefix(operation, "mutation") {
			a.tb.Fatalf("%s\n got %s\nwant %s", operation, text, want)
		}
	}
}

// The life of a comment that waits for a moderator: who sees what, from the first text to the last.
func TestModeration(t *testing.T) {
	t.Parallel()
	a := moderated(t)
	author, other := tokenOf(t, "u1", time.Hour), tokenOf(t, "u2", time.Hour)
	const (
		one   = `{ comment(id: "$id") { status text version rejectionReason heldEdit { text version } } node(id: "$id") { id } }`
		queue = `{ moderation { pending queue { nodes { reasons comment { text heldEdit { text version } } } pageInfo { hasNextPage } } } }`
		empty = `{"moderation":{"pending":0,"queue":{"nodes":[],"pageInfo":{"hasNextPage":false}}}}`
	)
	a.header = bearer(author)
	added := a.ask(`mutation { addComment(input: {productId: "teapot", rating: 5, language: "en", text: "First.", author: {id: "u1", name: "Ada"}, idempotencyKey: "k"}) { comment { id status } userErrors { code } } }`, nil)
	var payload struct {
		AddComment struct{ Comment struct{ ID, Status string } }
	}
	if err := json.Unmarshal(added.Data, &payload); err != nil || payload.AddComment.Comment.Status != "PENDING" {
		t.Fatalf("%s %v", added.Data, added.Errors)
	}
	id := payload.AddComment.Comment.ID
	seen := func(comment string) string { return `{"comment":` + comment + `,"node":{"id":"` + id + `"}}` }
	for _, step := range []struct{ why, token, operation, want string }{
		{"its author sees it", author, one, seen(`{"status":"PENDING","text":"First.","version":1,"rejectionReason":null,"heldEdit":null}`)},
		{"others are not told that it is there", other, `mutation { editComment(input: {id: "$id", version: 1, text: "x"}) { userErrors { code } } }`, `{"editComment":{"userErrors":[{"code":"NOT_FOUND"}]}}`},
		{"nor by a delete", other, `mutation { deleteComment(input: {id: "$id"}) { userErrors { code } } }`, `{"deleteComment":{"userErrors":[{"code":"NOT_FOUND"}]}}`},
		{"nor by taking it back", other, `mutation { withdrawComment(input: {id: "$id", version: 1}) { userErrors { code } } }`, `{"withdrawComment":{"userErrors":[{"code":"NOT_FOUND"}]}}`},
		{"a moderator finds it there", moderatorToken, queue, `{"moderation":{"pending":1,"queue":{"nodes":[{"reasons":["POLICY"],"comment":{"text":"First.","heldEdit":null}}],"pageInfo":{"hasNextPage":false}}}}`},
		{"its author may still edit it", author, `mutation { editComment(input: {id: "$id", version: 1, text: "Second."}) { comment { status version } userErrors { code } } }`, `{"editComment":{"comment":{"status":"PENDING","version":2},"userErrors":[]}}`},
		{"a filter may have nothing in it", moderatorToken, `{ moderation { queue(filter: {reasons: null, languages: null, productId: null}) { nodes { comment { text } } } } }`, `{"moderation":{"queue":{"nodes":[{"comment":{"text":"Second."}}]}}}`},
		{"or a product", moderatorToken, `{ moderation { queue(filter: {productId: "kettle"}) { nodes { comment { text } } } } }`, `{"moderation":{"queue":{"nodes":[]}}}`},
		{"an empty cursor is none, as in other lists", moderatorToken, `{ moderation { queue(after: "") { pageInfo { hasPreviousPage } nodes { comment { text } } } } }`, `{"moderation":{"queue":{"pageInfo":{"hasPreviousPage":false},"nodes":[{"comment":{"text":"Second."}}]}}}`},
		{"so a decision about what was there is too late", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 1}) { comment { id } userErrors { code path } } }`, `{"approveComment":{"comment":null,"userErrors":[{"code":"CONFLICT","path":["version"]}]}}`},
		{"about what is there it is not, with a note that shows nothing", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 2, note: " \u200b"}) { comment { status } userErrors { code } } }`, `{"approveComment":{"comment":{"status":"APPROVED"},"userErrors":[]}}`},
		{"to approve it again changes nothing", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 2}) { comment { status } userErrors { code } } }`, `{"approveComment":{"comment":{"status":"APPROVED"},"userErrors":[]}}`},
		{"everyone sees it", "", `{ product(id: "teapot") { comments { nodes { text version } } } }`, `{"product":{"comments":{"nodes":[{"text":"Second.","version":2}]}}}`},
		{"the queue is empty", moderatorToken, queue, empty},
		{"an edit waits beside it", author, `mutation { editComment(input: {id: "$id", version: 2, text: "Third."}) { comment { text version heldEdit { text version } } userErrors { code } } }`, `{"editComment":{"comment":{"text":"Second.","version":2,"heldEdit":{"text":"Third.","version":3}},"userErrors":[]}}`},
		{"a further edit replaces it", author, `mutation { editComment(input: {id: "$id", version: 3, text: "Fourth."}) { comment { text version heldEdit { text version } } userErrors { code } } }`, `{"editComment":{"comment":{"text":"Second.","version":2,"heldEdit":{"text":"Fourth.","version":4}},"userErrors":[]}}`},
		{"others see the comment as it was", other, one, seen(`{"status":"APPROVED","text":"Second.","version":2,"rejectionReason":null,"heldEdit":null}`)},
		{"a moderator sees both", moderatorToken, queue, `{"moderation":{"pending":1,"queue":{"nodes":[{"reasons":["POLICY","EDIT"],"comment":{"text":"Second.","heldEdit":{"text":"Fourth.","version":4}}}],"pageInfo":{"hasNextPage":false}}}}`},
		{"the edit before is there no longer", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 3}) { userErrors { code } } }`, `{"approveComment":{"userErrors":[{"code":"CONFLICT"}]}}`},
		{"the edit takes its place", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 4}) { comment { text version heldEdit { text } } userErrors { code } } }`, `{"approveComment":{"comment":{"text":"Fourth.","version":4,"heldEdit":null},"userErrors":[]}}`},
		{"another edit", author, `mutation { editComment(input: {id: "$id", version: 4, text: "Fifth."}) { userErrors { code } } }`, `{"editComment":{"userErrors":[]}}`},
		{"is rejected, and the comment stays", moderatorToken, `mutation { rejectComment(input: {id: "$id", version: 5, reason: OFF_TOPIC, note: " "}) { comment { status text heldEdit { text } } userErrors { code } } }`, `{"rejectComment":{"comment":{"status":"APPROVED","text":"Fourth.","heldEdit":null},"userErrors":[]}}`},
		{"a customer reports it", other, `mutation { reportComment(input: {id: "$id", reason: OFF_TOPIC, note: "a poem"}) { userErrors { code } } }`, `{"reportComment":{"userErrors":[]}}`},
		{"a moderator sees why", moderatorToken, `{ moderation { reports(commentId: "$id") { reason note } } }`, `{"moderation":{"reports":[{"reason":"OFF_TOPIC","note":"a poem"}]}}`},
		{"another customer reports it, with a note that shows nothing", tokenOf(t, "u3", time.Hour), `mutation { reportComment(input: {id: "$id", reason: SPAM, note: " "}) { userErrors { code } } }`, `{"reportComment":{"userErrors":[]}}`},
		{"which is none", moderatorToken, `{ moderation { reports(commentId: "$id") { reason note } } }`, `{"moderation":{"reports":[{"reason":"SPAM","note":null},{"reason":"OFF_TOPIC","note":"a poem"}]}}`},
		{"no note holds control characters", moderatorToken, `mutation { rejectComment(input: {id: "$id", version: 4, reason: SPAM, note: "a\u0007"}) { userErrors { code path } } }`, `{"rejectComment":{"userErrors":[{"code":"MALFORMED","path":["note"]}]}}`},
		{"the comment is rejected", moderatorToken, `mutation { decideComments(input: {decisions: [{id: "$id", version: 4, reason: SPAM, note: "seen elsewhere"}]}) { results { comment { status } userErrors { code } } userErrors { code } } }`, `{"decideComments":{"results":[{"comment":{"status":"REJECTED"},"userErrors":[]}],"userErrors":[]}}`},
		{"its author is told why", author, one, seen(`{"status":"REJECTED","text":"Fourth.","version":4,"rejectionReason":"SPAM","heldEdit":null}`)},
		{"a retry of the first request has its present state", author, `mutation { addComment(input: {productId: "teapot", rating: 5, language: "en", text: "First.", author: {id: "u1", name: "Ada"}, idempotencyKey: "k"}) { comment { status } userErrors { code } } }`, `{"addComment":{"comment":{"status":"REJECTED"},"userErrors":[]}}`},
		{"it cannot be taken back as well", author, `mutation { withdrawComment(input: {id: "$id", version: 4}) { userErrors { code } } }`, `{"withdrawComment":{"userErrors":[{"code":"CONFLICT"}]}}`},
		{"an edit submits it again, with a version of its own", author, `mutation { editComment(input: {id: "$id", version: 4, text: "Sixth."}) { comment { status version } userErrors { code } } }`, `{"editComment":{"comment":{"status":"PENDING","version":6},"userErrors":[]}}`},
		{"its author takes it back", author, `mutation { withdrawComment(input: {id: "$id", version: 6}) { comment { status } userErrors { code } } }`, `{"withdrawComment":{"comment":{"status":"WITHDRAWN"},"userErrors":[]}}`},
		{"then there is nothing to decide", moderatorToken, `mutation { approveComment(input: {id: "$id", version: 6}) { userErrors { code } } }`, `{"approveComment":{"userErrors":[{"code":"CONFLICT"}]}}`},
		{"the queue is empty", moderatorToken, queue, empty},
		{"the audit has each decision, the latest first", moderatorToken, `{ moderation { audit(commentId: "$id") { by from to version reason note } } }`, `{"moderation":{"audit":[` +
			`{"by":"u1","from":"PENDING","to":"WITHDRAWN","version":6,"reason":null,"note":null},` +
			`{"by":null,"from":"APPROVED","to":"REJECTED","version":4,"reason":"SPAM","note":"seen elsewhere"},` +
			`{"by":null,"from":"APPROVED","to":"APPROVED","version":5,"reason":"OFF_TOPIC","note":null},` +
			`{"by":null,"from":"APPROVED","to":"APPROVED","version":4,"reason":null,"note":null},` +
			`{"by":null,"from":"PENDING","to":"APPROVED","version":2,"reason":null,"note":null}]}}`},
		{"the reports stay", moderatorToken, `{ moderation { reports(commentId: "$id") { reason } } }`, `{"moderation":{"reports":[{"reason":"SPAM"},{"reason":"OFF_TOPIC"}]}}`},
		{"what a customer wrote, in every state", moderatorToken, `{ moderation { commentsBy(customerId: "u1") { total latest { text status product { id } } } } }`, `{"moderation":{"commentsBy":{"total":1,"latest":[{"text":"Sixth.","status":"WITHDRAWN","product":{"id":"teapot"}}]}}}`},
		{"a customer who wrote nothing", moderatorToken, `{ moderation { commentsBy(customerId: "u2") { total latest { id } } } }`, `{"moderation":{"commentsBy":{"total":0,"latest":[]}}}`},
		{"an id has 1 to 128 bytes", moderatorToken, `{ moderation { commentsBy(customerId: "") { total } } }`, `{"moderation":null} BAD_INPUT`},
		{"nobody asked to erase the author", moderatorToken, `{ moderation { erasure(customerId: "u1") { state } } }`, `{"moderation":{"erasure":null}}`},
		{"who is erased has an id", moderatorToken, `mutation { eraseAuthor(input: {customerId: ""}) { erasure { state } userErrors { code path } } }`, `{"eraseAuthor":{"erasure":null,"userErrors":[{"code":"EMPTY","path":["customerId"]}]}}`},
		{"servers are asked to erase the author", moderatorToken, `mutation { eraseAuthor(input: {customerId: "u1"}) { erasure { state finishedAt comments } userErrors { code } } }`, `{"eraseAuthor":{"erasure":{"state":"WAITING","finishedAt":null,"comments":0},"userErrors":[]}}`},
		{"which waits until one does", moderatorToken, `{ moderation { erasure(customerId: "u1") { state heldEdits replies decisions reportsAbout reports } } }`, `{"moderation":{"erasure":{"state":"WAITING","heldEdits":0,"replies":0,"decisions":0,"reportsAbout":0,"reports":0}}}`},
		{"there are 1 to 50 decisions", moderatorToken, `mutation { decideComments(input: {decisions: []}) { results { userErrors { code } } userErrors { code path } } }`, `{"decideComments":{"results":null,"userErrors":[{"code":"OUT_OF_RANGE","path":["decisions"]}]}}`},
		{"about one comment once", moderatorToken, `mutation { decideComments(input: {decisions: [{id: "$id", version: 1}, {id: "$id", version: 2}]}) { userErrors { code path } } }`, `{"decideComments":{"userErrors":[{"code":"MALFORMED","path":["decisions","1","id"]}]}}`},
		{"a page of the queue has 1 to 50 comments", moderatorToken, `{ moderation { queue(first: 51) { nodes { since } } } }`, `{"moderation":null} BAD_INPUT`},
		{"a cursor is one of the queue's", moderatorToken, `{ moderation { queue(after: "x") { nodes { since } } } }`, `{"moderation":null} BAD_CURSOR`},
	} {
		t.Log(step.why)
		a.as(step.token, step.operation, id, step.want)
	}
}

// A comment that was damaged by hand after moderators saw it does not block decisions about others.
func TestDecisionsBesideADamagedComment(t *testing.T) {
	t.Parallel()
	a := moderated(t)
	a.header = bearer(moderatorToken)
	var ids []string
	for range 3 {
		ids = append(ids, a.add(draft()).Comment.ID)
	}
	damage(t, a.session.Client, a.session.Table, layout.CommentKey(comment.ID(ids[1])), layout.AttrRating, layout.Text("five"))
	got := a.ask(`mutation($decisions: [DecisionInput!]!) { decideComments(input: {decisions: $decisions}) { results { comment { status } userErrors { code path } } userErrors { code } } }`,
		map[string]any{"decisions": []any{map[string]any{"id": ids[0], "version": 1}, map[string]any{"id": ids[1], "version": 1}, map[string]any{"id": ids[2], "version": 1, "reason": "SPAM"}}})
	const want = `{"decideComments":{"results":[{"comment":{"status":"APPROVED"},"userErrors":[]},` +
		`{"comment":null,"userErrors":[{"code":"NOT_FOUND","path":["id"]}]},` +
		`{"comment":{"status":"REJECTED"},"userErrors":[]}],"userErrors":[]}}`
	if string(got.Data) != want || len(got.Errors) > 0 {
		t.Errorf("%s %v\nwant %s", got.Data, got.Errors, want)
	}
}
