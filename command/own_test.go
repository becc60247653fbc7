package command_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// ownPage is a page of a customer's own comments.
type ownPage struct {
	Edges []struct {
		Cursor string
		Node   struct{ ID, Status string }
	}
	Nodes    []struct{ ID string }
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
}

// ownComments asks for the sender's own comments.
func (a *api) ownComments(arguments string) (ownPage, string) {
	a.tb.Helper()
	got := a.ask(`{ viewer { comments`+arguments+` { edges { cursor node { id status product { stats { total } } } } nodes { id }
		pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`, nil)
	var data struct{ Viewer struct{ Comments ownPage } }
	must.Do(a.tb, json.Unmarshal(got.Data, &data))
	if len(got.Errors) > 0 {
		return data.Viewer.Comments, fmt.Sprint(got.Errors[0].Extensions["code"])
	}
	return data.Viewer.Comments, ""
}

// A customer sees the own comments of all products, page by page, and nobody else sees them.
func TestViewerComments(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	var mine []string
	for i := range 5 {
		for _, customer := range []string{"u1", "u2"} {
			a.header = bearer(tokenOf(t, customer, time.Hour))
			added := a.add(with(draft(), map[string]any{"productId": fmt.Sprint("teapot-", i), "author": map[string]any{"id": customer, "name": "Ada"}}))
			if customer == "u1" {
				mine = append(mine, added.Comment.ID)
			}
		}
	}
	slices.Sort(mine)
	slices.Reverse(mine)
	a.header = bearer(tokenOf(t, "u1", time.Hour))
	var got []string
	cursor := ""
	for more := true; more; {
		page, code := a.ownComments(`(first: 2, after: "` + cursor + `")`)
		if code != "" || len(page.Edges) == 0 || page.PageInfo.HasPreviousPage != (cursor != "") ||
			*page.PageInfo.StartCursor != page.Edges[0].Cursor || *page.PageInfo.EndCursor != page.Edges[len(page.Edges)-1].Cursor {
			t.Fatalf("%+v, %s", page, code)
		}
		for i, edge := range page.Edges {
			if got = append(got, edge.Node.ID); edge.Node.Status != "APPROVED" || page.Nodes[i].ID != edge.Node.ID {
				t.Errorf("%+v", page)
			}
		}
		more, cursor = page.PageInfo.HasNextPage, *page.PageInfo.EndCursor
	}
	if !slices.Equal(got, mine) {
		t.Errorf("%v, want %v", got, mine)
	}
	if none, code := a.ownComments("(status: PENDING)"); code != "" || len(none.Edges) != 0 || none.PageInfo.StartCursor != nil {
		t.Errorf("%+v, %s", none, code)
	}
	a.checkOwnRefusals(t, cursor)
}

// checkOwnRefusals asks for own comments in wrong ways, with a cursor of u1.
func (a *api) checkOwnRefusals(t *testing.T, cursor string) {
	t.Helper()
	one := bearer(tokenOf(t, "u1", time.Hour))
	for _, row := range []struct{ why, header, arguments, code string }{
		{"nobody", "", "", "UNAUTHENTICATED"},
		{"an expired token", bearer(tokenOf(t, "u1", -time.Minute)), "", "UNAUTHENTICATED"},
		{"the moderators' token is no customer", bearer(moderatorToken), "", "UNAUTHENTICATED"},
		{"an empty page", one, "(first: 0)", "BAD_INPUT"},
		{"too large a page", one, "(first: 101)", "BAD_INPUT"},
		{"no cursor", one, `(after: "x")`, "BAD_CURSOR"},
		{"the cursor of another customer", bearer(tokenOf(t, "u2", time.Hour)), `(after: "` + cursor + `")`, "BAD_CURSOR"},
	} {
		a.header = row.header
		page, code := a.ownComments(row.arguments)
		if code != row.code || len(page.Edges) != 0 {
			t.Errorf("%s: %+v, %s, want %s", row.why, page, code, row.code)
		}
	}
	if strings.Contains(a.log.String(), "level=ERROR") {
		t.Errorf("%s", a.log)
	}
}

// Each field of a mutation shows the writes of the one before it, also in data that the other has
// read.
func TestFieldsOfAMutationReadAgain(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	a.header = bearer(tokenOf(t, "u1", time.Hour))
	kept, first := a.add(draft()).Comment.ID, a.add(draft()).Comment.ID
	const own = `comment { product { viewerComment { id text } } } userErrors { message }`
	got := a.said(`mutation($id: ID!) {
		edited: editComment(input: {id: $id, version: 1, text: "once"}) { `+own+` }
		again: editComment(input: {id: $id, version: 2, text: "twice"}) { `+own+` }
		deleted: deleteComment(input: {id: $id}) { `+own+` }
	}`, map[string]any{"id": first})
	const payload = `{"comment":{"product":{"viewerComment":{"id":%q,"text":%q}}},"userErrors":[]}`
	want := fmt.Sprintf(`{"edited":`+payload+`,"again":`+payload+`,"deleted":`+payload+`}`, first, "once", first, "twice", kept, draft()["text"])
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// addOwn adds a comment with the given text about the teapot, and returns the whole payload as
// JSON.
func (a *api) addOwn(author, text, more string) string {
	a.tb.Helper()
	got := a.ask(`mutation { addComment(input: {productId: "teapot", rating: 4, language: "en", text: "`+text+`", author: {id: "`+author+`", name: "Ada"}`+more+`}) {
		comment { id text status } userErrors { code message path commentId } } }`, nil)
	if len(got.Errors) > 0 {
		a.tb.Fatal(got.Errors)
	}
	var data struct{ AddComment json.RawMessage }
	must.Do(a.tb, json.Unmarshal(got.Data, &data))
	return string(data.AddComment)
}

// With --one-per-customer, an author has one comment per product, with every kind of token. A
// second is refused with the id of the first, also while the first waits for a moderator. The same
// comment again is a retry, with and without a key.
func TestOneCommentForEachProduct(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	a.serve.OnePerCustomer, a.serve.Policy = true, policyOf(t, "hold")
	a.useClient(a.session.Client)
	a.header = bearer(tokenOf(t, "u1", time.Hour))
	var first struct{ Comment struct{ ID string } }
	if err := json.Unmarshal([]byte(a.addOwn("u1", "First.", "")), &first); err != nil || first.Comment.ID == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	id := first.Comment.ID
	refused := fmt.Sprintf(`{"comment":null,"userErrors":[{"code":"ALREADY_WRITTEN","message":"this customer has a comment about this product already: edit that one, or delete it first","path":["productId"],"commentId":"%s"}]}`, id)
	same := fmt.Sprintf(`{"comment":{"id":"%s","text":"First.","status":"PENDING"},"userErrors":[]}`, id)
	for _, row := range []struct{ why, got, want string }{
		{"another", a.addOwn("u1", "Second.", ""), refused},
		{"another with a key", a.addOwn("u1", "Second.", `, idempotencyKey: "k"`), refused},
		{"the same", a.addOwn("u1", "First.", ""), same},
		{"the same with the key of the other", a.addOwn("u1", "First.", `, idempotencyKey: "k"`), same},
		{"a key that is none", a.addOwn("u1", "First.", `, idempotencyKey: ""`), `{"comment":null,"userErrors":[{"code":"EMPTY","message":"an idempotency key is not empty: make a UUID for each comment, or leave the key out","path":["idempotencyKey"],"commentId":null}]}`},
	} {
		if row.got != row.want {
			t.Errorf("%s: %s\nwant %s", row.why, row.got, row.want)
		}
	}
	a.header = bearer(moderatorToken)
	if got := a.addOwn("u1", "Second.", ""); got != refused {
		t.Errorf("in the customer's name: %s", got)
	}
	if deleted := a.remove(map[string]any{"id": id}); deleted.codes() != "" {
		t.Error(deleted.codes())
	}
	a.header = bearer(tokenOf(t, "u1", time.Hour))
	if again := a.add(with(draft(), map[string]any{"text": "First."})); again.codes() != "" || again.Comment.ID == id {
		t.Errorf("after a delete: %+v", again)
	}
	a.serve.OnePerCustomer = false
	a.useClient(a.session.Client)
	if second := a.add(draft()); second.codes() != "" {
		t.Errorf("without the flag: %s", second.codes())
	}
}

// Before a vote is counted, the payload already includes it, also again and within one operation. A
// sender that is neither a customer nor a visitor is told so, and offered no visitor's token.
func TestVotesBeforeTheyAreCounted(t *testing.T) {
	t.Parallel()
	guard := must.Get(auth.New(t.Context(), auth.Settings{ModeratorToken: moderatorToken}))(t)
	visitors := must.Get(auth.NewVisitors(guard, strings.Repeat("v", 32), nil))(t)
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.authorizer = visitors
	a.useClient(a.session.Client)
	c := commenttest.Random(commenttest.Rand(t), "teapot")
	c.ImportedVotes, c.Votes = comment.VoteCounts{}, comment.VoteCounts{}
	a.load(c)
	var made struct{ CreateVisitorToken struct{ Token string } }
	a.mustAsk(`mutation { createVisitorToken { token } }`, nil, &made)
	for _, row := range []struct{ token, votes, want string }{
		{made.CreateVisitorToken.Token, "HELPFUL", `1 0 HELPFUL`},
		{made.CreateVisitorToken.Token, "HELPFUL NOT_HELPFUL NOT_HELPFUL NONE", `1 0 HELPFUL, 0 1 NOT_HELPFUL, 0 1 NOT_HELPFUL, 0 0 NONE`},
		{moderatorToken, "HELPFUL", `FORBIDDEN`},
		{"expired", "HELPFUL", `UNAUTHENTICATED`},
	} {
		a.header = bearer(row.token)
		if got := a.votes(string(c.ID), strings.Fields(row.votes)...); got != row.want {
			t.Errorf("%s: %q, want %q", row.votes, got, row.want)
		}
	}
}

// votes sends several votes about a comment in one operation. It returns what each payload shows,
// or the error's code.
func (a *api) votes(id string, votes ...string) string {
	a.tb.Helper()
	query := "mutation ($id: ID!) {"
	for i, vote := range votes {
		query += fmt.Sprintf(" v%d: voteOnComment(input: {id: $id, vote: %s}) { comment { votes { helpful notHelpful viewerVote } } }", i, vote)
	}
	got := a.ask(query+" }", map[string]any{"id": id})
	if len(got.Errors) > 0 {
		return fmt.Sprint(got.Errors[0].Extensions["code"])
	}
	var payloads map[string]struct {
		Comment struct {
			Votes struct {
				Helpful, NotHelpful int
				ViewerVote          string
			}
		}
	}
	must.Do(a.tb, json.Unmarshal(got.Data, &payloads))
	var shown []string
	for i := range votes {
		of := payloads[fmt.Sprint("v", i)].Comment.Votes
		shown = append(shown, fmt.Sprint(of.Helpful, of.NotHelpful, " ", of.ViewerVote))
	}
	return strings.Join(shown, ", ")
}
