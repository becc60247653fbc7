package command_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/talkback/talkback/moderation"
)

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
	if err := json.Unmarshal(got.Data, &data); err != nil {
		a.tb.Fatal(err)
	}
	return string(data.AddComment)
}

// With --one-per-customer, an author has one comment per product, with every kind of token. A
// second is refused with the id of the first, also while the first waits for a moderator. The same
// comment again is a retry, with and without a key.
func TestOneCommentForEachProduct(t *testing.T) {
	t.Parallel()
	hold, err := moderation.Open("hold", "")
	if err != nil {
		t.Fatal(err)
	}
	a := guarded(t)
	a.serve.OnePerCustomer, a.serve.Policy = true, hold
	a.useClient(a.session.Client)
	a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
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
	a.header = "Bearer " + moderatorToken
	if got := a.addOwn("u1", "Second.", ""); got != refused {
		t.Errorf("in the customer's name: %s", got)
	}
	if deleted := a.remove(map[string]any{"id": id}); deleted.codes() != "" {
		t.Error(deleted.codes())
	}
	a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
	if again := a.add(with(draft(), map[string]any{"text": "First."})); again.codes() != "" || again.Comment.ID == id {
		t.Errorf("after a delete: %+v", again)
	}
	a.serve.OnePerCustomer = false
	a.useClient(a.session.Client)
	if second := a.add(draft()); second.codes() != "" {
		t.Errorf("without the flag: %s", second.codes())
	}
}
