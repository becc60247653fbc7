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

// The longest text has 10,000 characters, and the longest key 128 bytes.
func TestLongestInputs(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	text, key := strings.Repeat("ö", 10_000), strings.Repeat("k", 128)
	for more, want := range map[string]string{"": "", "x": "TOO_LONG text, TOO_LONG idempotencyKey"} {
		if got := a.add(with(draft(), map[string]any{"text": text + more, "idempotencyKey": key + more})); got.codes() != want {
			t.Errorf("%q more: %s, want %s", more, got.codes(), want)
		}
	}
}
