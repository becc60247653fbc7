package command_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
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
	if err := json.Unmarshal(got.Data, &data); err != nil {
		a.tb.Fatal(err)
	}
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
			a.header = "Bearer " + tokenOf(t, customer, time.Hour)
			added := a.add(with(draft(), map[string]any{"productId": fmt.Sprint("teapot-", i), "author": map[string]any{"id": customer, "name": "Ada"}}))
			if customer == "u1" {
				mine = append(mine, added.Comment.ID)
			}
		}
	}
	slices.Sort(mine)
	slices.Reverse(mine)
	a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
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
	one := "Bearer " + tokenOf(t, "u1", time.Hour)
	for _, row := range []struct{ why, header, arguments, code string }{
		{"nobody", "", "", "UNAUTHENTICATED"},
		{"an expired token", "Bearer " + tokenOf(t, "u1", -time.Minute), "", "UNAUTHENTICATED"},
		{"the moderators' token is no customer", "Bearer " + moderatorToken, "", "UNAUTHENTICATED"},
		{"an empty page", one, "(first: 0)", "BAD_INPUT"},
		{"too large a page", one, "(first: 101)", "BAD_INPUT"},
		{"no cursor", one, `(after: "x")`, "BAD_CURSOR"},
		{"the cursor of another customer", "Bearer " + tokenOf(t, "u2", time.Hour), `(after: "` + cursor + `")`, "BAD_CURSOR"},
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

// A product has the sender's newest comment, and none of others.
func TestViewerCommentOfProduct(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
	a.add(draft())
	newest := a.add(draft()).Comment.ID
	for _, row := range []struct{ why, header, want string }{
		{"the author", a.header, newest},
		{"another customer", "Bearer " + tokenOf(t, "u2", time.Hour), ""},
		{"nobody", "", ""},
		{"a moderator", "Bearer " + moderatorToken, ""},
	} {
		a.header = row.header
		var data struct {
			Products []struct{ ViewerComment struct{ ID string } }
		}
		a.mustAsk(`{ products(ids: ["teapot", "kettle"]) { viewerComment { id text } } }`, nil, &data)
		if got := data.Products[0].ViewerComment.ID; got != row.want || data.Products[1].ViewerComment.ID != "" {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
	}
}

// Each field of a mutation shows the writes of the one before it, also in data that the other has
// read.
func TestFieldsOfAMutationReadAgain(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
	kept, first := a.add(draft()).Comment.ID, a.add(draft()).Comment.ID
	const own = `comment { product { viewerComment { id text } } } userErrors { message }`
	type payload struct {
		Comment struct {
			Product struct{ ViewerComment struct{ ID, Text string } }
		}
	}
	var data struct{ Edited, Again, Deleted payload }
	a.mustAsk(`mutation($id: ID!) {
		edited: editComment(input: {id: $id, version: 1, text: "once"}) { `+own+` }
		again: editComment(input: {id: $id, version: 2, text: "twice"}) { `+own+` }
		deleted: deleteComment(input: {id: $id}) { `+own+` }
	}`, map[string]any{"id": first}, &data)
	for _, row := range []struct {
		why      string
		got      payload
		id, text string
	}{
		{"after an edit", data.Edited, first, "once"},
		{"after another one", data.Again, first, "twice"},
		{"after it was deleted", data.Deleted, kept, draft()["text"].(string)},
	} {
		if got := row.got.Comment.Product.ViewerComment; got.ID != row.id || got.Text != row.text {
			t.Errorf("%s: %+v, want %s, %q", row.why, got, row.id, row.text)
		}
	}
}
