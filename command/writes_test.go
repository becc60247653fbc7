package command_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/dynamotest"
)

const writePayload = `{ comment { id product { id } rating language title text author { id name } updatedAt version } userErrors { code path message } }`

type payload struct {
	Comment     *shown
	CommentEdge *edge
	UserErrors  []struct {
		Code, Message string
		Path          []string
	}
}

// mutate runs one mutation and returns its payload.
func (a *api) mutate(field, inputType string, input map[string]any) payload {
	a.tb.Helper()
	var data struct{ Payload payload }
	a.mustAsk(`mutation ($input: `+inputType+`!) { payload: `+field+`(input: $input) `+writePayload+` }`, map[string]any{"input": input}, &data)
	return data.Payload
}

func (a *api) add(input map[string]any) payload {
	a.tb.Helper()
	return a.mutate("addComment", "AddCommentInput", input)
}

func (a *api) edit(input map[string]any) payload {
	a.tb.Helper()
	return a.mutate("editComment", "EditCommentInput", input)
}

func (a *api) remove(input map[string]any) payload {
	a.tb.Helper()
	return a.mutate("deleteComment", "DeleteCommentInput", input)
}

func draft() map[string]any {
	return map[string]any{
		"productId": "teapot", "rating": 4, "language": "EN-us", "title": "Pours well", "text": "No drips.\nNice.",
		"author": map[string]any{"id": "u1", "name": "Ada"},
	}
}

func with(input map[string]any, changes map[string]any) map[string]any {
	maps.Copy(input, changes)
	return input
}

func (p payload) codes() string {
	var out []string
	for _, e := range p.UserErrors {
		out = append(out, e.Code+" "+strings.Join(e.Path, "."))
	}
	return strings.Join(out, ", ")
}

// A comment's life: added, edited, moved between lists, deleted.
func TestWriteEditDelete(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		a := newAPI(t, endpoint)
		added := a.add(draft())
		if added.codes() != "" || added.Comment.Version != 1 || added.Comment.Language != "en-US" || added.Comment.Text != "No drips.\nNice." {
			t.Fatalf("%+v", added)
		}
		count := func(filter string) int {
			var data struct {
				Product struct{ Comments struct{ Nodes []shown } }
			}
			a.mustAsk(`{ product(id: "teapot") { comments(filter: {`+filter+`}) { nodes { id } } } }`, nil, &data)
			return len(data.Product.Comments.Nodes)
		}
		id := added.Comment.ID
		edited := a.edit(map[string]any{"id": id, "version": 1, "rating": 2, "language": "de", "title": nil})
		if edited.codes() != "" || edited.Comment.Version != 2 || edited.Comment.Title != nil || edited.Comment.UpdatedAt == nil || edited.Comment.Text != "No drips.\nNice." {
			t.Fatalf("%+v", edited)
		}
		for filter, want := range map[string]int{
			"": 1, "ratings: [4]": 0, "ratings: [2]": 1, `languages: ["en-US"]`: 0, `languages: ["de"]`: 1,
			`languages: ["de"], ratings: [2]`: 1, `languages: ["en-US"], ratings: [4]`: 0,
		} {
			if got := count(filter); got != want {
				t.Errorf("after the edit, {%s} lists %d comments, want %d", filter, got, want)
			}
		}
		if late := a.edit(map[string]any{"id": id, "version": 1, "rating": 5}); late.codes() != "CONFLICT version" || late.Comment != nil {
			t.Errorf("an edit of an old version: %+v", late)
		}
		if late := a.remove(map[string]any{"id": id, "version": 1}); late.codes() != "CONFLICT version" {
			t.Errorf("a delete of an old version: %+v", late)
		}
		if deleted := a.remove(map[string]any{"id": id}); deleted.codes() != "" || deleted.Comment.Version != 2 {
			t.Errorf("%+v", deleted)
		}
		if count("") != 0 {
			t.Error("a deleted comment is still listed")
		}
		for _, twice := range []payload{a.remove(map[string]any{"id": id}), a.edit(map[string]any{"id": id, "version": 2, "rating": 1})} {
			if twice.codes() != "NOT_FOUND id" {
				t.Errorf("what is gone: %+v", twice)
			}
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		a := newAPI(t, endpoint)
		first := a.add(with(draft(), map[string]any{"idempotencyKey": "k"}))
		if first.codes() != "" {
			t.Fatalf("%+v", first)
		}
		a.edit(map[string]any{"id": first.Comment.ID, "version": 1, "rating": 1})
		again := a.add(with(draft(), map[string]any{"idempotencyKey": "k"}))
		check.Equal(t, first, again, "the repeat is not the first result")
		if other := a.add(with(draft(), map[string]any{"idempotencyKey": "k", "rating": 5})); other.codes() != "KEY_REUSED idempotencyKey" {
			t.Errorf("the same key with another comment: %+v", other)
		}
		someone := with(draft(), map[string]any{"idempotencyKey": "k", "author": map[string]any{"id": "u2", "name": "Bob"}})
		if other := a.add(someone); other.codes() != "" {
			t.Errorf("the same key of another author: %+v", other)
		}
	})
}

// All faults of an input are reported at once.
func TestUserErrors(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	long := strings.Repeat("ö", 10_001)
	wrong := a.add(map[string]any{
		"productId": "", "rating": 6, "language": "klingonisch", "title": strings.Repeat("x", 201), "text": long,
		"author": map[string]any{"id": "", "name": " "}, "idempotencyKey": strings.Repeat("k", 129),
	})
	const want = "EMPTY productId, OUT_OF_RANGE rating, MALFORMED language, TOO_LONG title, TOO_LONG text, EMPTY author.id, EMPTY author.name, TOO_LONG idempotencyKey"
	if wrong.codes() != want || wrong.Comment != nil {
		t.Errorf("%s\nwant %s", wrong.codes(), want)
	}
	for key, want := range map[string]string{"": "EMPTY idempotencyKey", strings.Repeat("k", 128): ""} {
		if got := a.add(with(draft(), map[string]any{"idempotencyKey": key})); got.codes() != want {
			t.Errorf("a key of %d bytes: %s, want %s", len(key), got.codes(), want)
		}
	}
	if none := a.add(with(draft(), map[string]any{"idempotencyKey": nil})); none.codes() != "" {
		t.Errorf("no key: %s", none.codes())
	}
	if longest := a.add(with(draft(), map[string]any{"text": long[:20_000], "title": ""})); longest.codes() != "" || longest.Comment.Title != nil {
		t.Errorf("10,000 characters of two bytes: %s", longest.codes())
	}
	if control := a.add(with(draft(), map[string]any{"text": "a\u0000b", "title": "bell\a"})); control.codes() != "MALFORMED title, MALFORMED text" {
		t.Errorf("control characters: %s", control.codes())
	}
	added := a.add(draft())
	if bad := a.edit(map[string]any{"id": added.Comment.ID, "version": 1, "rating": 0, "text": long}); bad.codes() != "OUT_OF_RANGE rating, TOO_LONG text" {
		t.Errorf("an edit: %s", bad.codes())
	}
	if bad := a.remove(map[string]any{"id": "teapot"}); bad.codes() != "MALFORMED id" {
		t.Errorf("a product's id: %s", bad.codes())
	}
}
