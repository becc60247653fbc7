package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// again is the pause before a writer repeats a write with an unknown outcome.
const again = 50 * time.Millisecond

// most is the maximum number of comments per product; beyond it, writers delete.
const most = 120

// writer writes, one operation at a time. No other writer touches its comments, so it knows each
// outcome unless an answer is lost.
type writer struct {
	*Workload
	random *rand.Rand
	number int
	own    []*story
}

// write makes one write, and repeats it until its outcome is known, if possible.
func (w *writer) write(ctx context.Context) {
	var live []*story // known to be published
	w.locked(func() {
		live = slices.DeleteFunc(slices.Clone(w.own), func(s *story) bool {
			return s.id == "" || s.pending || s.now() == nil
		})
	})
	draw := w.random.IntN(100)
	switch {
	case w.Import != nil && draw < 2:
		w.imports(ctx, w.products[w.random.IntN(len(w.products))], 5)
	case len(live) == 0 || draw < 45 && len(live) < most:
		w.add(ctx)
	case draw < 80:
		w.edit(ctx, live[w.random.IntN(len(live))])
	default:
		s := live[w.random.IntN(len(live))]
		input := map[string]any{"id": s.id}
		w.perform(ctx, s, nil, change{mutation("deleteComment", "DeleteCommentInput"), input, true, "NOT_FOUND"})
	}
}

// draft draws the content of a comment.
func (w *writer) draft(product string, version int) *content {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Workload.number++
	return &content{
		product: product, language: languages[min(w.random.IntN(4), w.random.IntN(4))], rating: 1 + max(w.random.IntN(5), w.random.IntN(5)),
		text: fmt.Sprintf("text %d of %d", w.Workload.number, w.seed), version: version,
	}
}

// story begins the history of a new comment of this writer.
func (w *writer) story() *story {
	s := &story{states: []state{{}}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.model.stories = append(w.model.stories, s)
	w.own = append(w.own, s)
	return s
}

func mutation(name, input string) string {
	return `mutation ($input: ` + input + `!) { result: ` + name + `(input: $input) { comment ` + fields + ` userErrors { code } } }`
}

func (w *writer) add(ctx context.Context) {
	c := w.draft(w.products[w.random.IntN(len(w.products))], 1)
	input := map[string]any{
		"productId": c.product, "rating": c.rating, "language": c.language, "text": c.text,
		"author": map[string]any{"id": fmt.Sprint("author ", w.number), "name": "A"},
	}
	keyed := w.random.IntN(5) > 0
	if keyed {
		input["idempotencyKey"] = c.text
	}
	w.perform(ctx, w.story(), c, change{mutation("addComment", "AddCommentInput"), input, keyed, ""})
}

func (w *writer) edit(ctx context.Context, s *story) {
	c := w.draft(s.now().product, s.now().version+1)
	input := map[string]any{"id": s.id, "version": c.version - 1, "text": c.text}
	if was := s.now(); w.random.IntN(2) == 0 {
		c.rating, c.language = was.rating, was.language
	} else {
		input["rating"], input["language"] = c.rating, c.language
	}
	w.perform(ctx, s, c, change{mutation("editComment", "EditCommentInput"), input, true, "CONFLICT"})
}

// change is a mutation.
type change struct {
	operation string
	input     map[string]any
	// repeatable says that it can be sent again when its outcome is unknown.
	repeatable bool
	// done is the code by which a repeat tells that the first one has happened.
	done string
}

// perform makes a write that leads to a state, and notes the outcome.
func (w *writer) perform(ctx context.Context, s *story, to *content, c change) {
	w.locked(func() { w.model.write(s, to) })
	for uncertain := false; ; rest(ctx, again) {
		var got payload
		_, err := w.ask(ctx, c.operation, map[string]any{"input": c.input}, &got)
		var failure *Failure
		switch {
		case err == nil:
			w.locked(func() { w.performed(s, to, c, got, uncertain) })
			return
		case errors.As(err, &failure) && failure.Code == "THROTTLED" && !uncertain:
			w.locked(s.refuse)
			return
		case !errors.As(err, &failure) || failure.Code != "THROTTLED" && failure.Code != "OVERLOADED":
			uncertain = true
		}
		if uncertain && !c.repeatable {
			w.locked(func() { s.pending = true })
			return
		}
	}
}

// performed notes an answer without errors of the table. The caller holds the lock.
func (w *writer) performed(s *story, to *content, c change, got payload, uncertain bool) {
	result := got.Result
	switch {
	case len(result.UserErrors) == 0 && result.Comment != nil:
		if to != nil && *result.Comment.content() != *to {
			w.violate("%v of %s is answered by %+v", c.input, s, *result.Comment)
		}
		s.id = result.Comment.ID
	case uncertain && len(result.UserErrors) > 0 && result.UserErrors[0].Code == c.done:
	case to == nil && len(result.UserErrors) > 0 && result.UserErrors[0].Code == c.done:
		// The server itself repeats a delete whose answer is lost.
	default:
		w.violate("%v of %s is answered by %+v", c.input, s, result)
	}
	s.confirm()
	if w.Servers {
		s.settled = time.Now().Add(lateness)
	}
}

// Fill imports the given number of comments for the first product, to give its index of page
// numbers some size.
func (w *Workload) Fill(ctx context.Context, comments int) {
	filler := writer{Workload: w, random: rand.New(rand.NewPCG(w.seed, 99))}
	filler.imports(ctx, w.products[0], comments)
}

// imports imports comments for a product, and retries until it succeeds. Their positions are spread
// over the last day.
func (w *writer) imports(ctx context.Context, product string, comments int) {
	var stories []*story
	var lines []byte // in the format of an export
	for range comments {
		s, c := w.story(), w.draft(product, 1)
		created := time.Now().Add(-time.Duration(w.random.Int64N(int64(24 * time.Hour)))).UTC().Truncate(time.Millisecond)
		var distinct [10]byte
		for i := range distinct {
			distinct[i] = byte(w.random.Uint32())
		}
		id := string(comment.IDOf(comment.PositionAt(created, distinct)))
		line, _ := json.Marshal(map[string]any{ // texts and numbers can always be encoded
			"talkback": 1, "id": id, "product": c.product, "rating": c.rating, "language": c.language, "title": nil, "text": c.text,
			"author": "importer", "authorName": "I", "createdAt": created.Format("2006-01-02T15:04:05.000Z"), "updatedAt": nil,
			"version": 1,
		})
		lines = append(append(lines, line...), '\n')
		w.locked(func() {
			s.id = id
			w.model.write(s, c)
		})
		stories = append(stories, s)
	}
	for w.Import(ctx, lines) != nil {
		rest(ctx, again)
	}
	w.locked(func() {
		w.tally["import ok"]++
		for _, s := range stories {
			s.confirm()
			s.settled = time.Now().Add(lateness)
		}
	})
}
