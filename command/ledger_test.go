package command_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

// span is an interval. A call with an unknown outcome has no end: it may still take effect.
type span struct{ from, to time.Time }

var forever = time.Unix(1<<33, 0)

// words are the content of a version of a comment.
type words struct {
	id, product, language string // id is empty until it is seen: others may see it before its author does
	rating, version       int    // version is 0 until it is seen
}

// hidden is what everyone sees of a comment that is not approved.
const hidden = -1

// sighting is what everyone saw of a comment at some moment of a span: a number of words, or
// hidden.
type sighting struct {
	number int
	within span
}

// ledger is what clients know of comments together: what they tried, and what they saw. Each text
// has a number, by which any answer that shows it is recognized.
type ledger struct {
	mu    sync.Mutex
	said  []words
	shown map[int][]*span       // the calls that may have shown these words
	seen  map[string][]sighting // by id
}

func newLedger() *ledger { return &ledger{shown: map[int][]*span{}, seen: map[string][]sighting{}} }

// say returns the number of new words.
func (l *ledger) say(w words) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, w)
	return len(l.said) - 1
}

// written notes the id of a new comment.
func (l *ledger) written(number int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said[number].id = id
}

// productOf returns the product of a comment.
func (l *ledger) productOf(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.said {
		if w.id == id {
			return w.product
		}
	}
	return ""
}

func textOf(number int) string { return fmt.Sprintf("said %d.", number) }

// nodeFields matches comments in answers to queries that ask for these fields, in this order.
var nodeFields = regexp.MustCompile(`\{"id":"c_[^"]*","rating":\d,"language":"[^"]*","text":"said \d+\.","version":\d+\}`)

const askedFields = `{ id rating language text version }`

var saying = regexp.MustCompile(`said (\d+)\.`)

// numbersIn returns the numbers of all words in an answer, whatever its form.
func numbersIn(answer string) (out []int) {
	for _, match := range saying.FindAllStringSubmatch(answer, -1) {
		number, _ := strconv.Atoi(match[1]) // digits
		out = append(out, number)
	}
	return out
}

// showing notes a call that may show words to everyone, before it is sent. Its end stays open until
// close.
func (l *ledger) showing(number int) *span {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := &span{time.Now(), forever}
	l.shown[number] = append(l.shown[number], call)
	return call
}

// close notes how such a call ended. If it did not show the words, its span never begins.
func (l *ledger) close(call *span, ended outcome, shows bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ended == unknown:
	case shows:
		call.to = time.Now()
	default:
		call.from = forever
	}
}

// see notes what a comment showed at a moment of a span.
func (l *ledger) see(id string, number int, within span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[id] = append(l.seen[id], sighting{number, within})
}

// possible reports whether a comment may have shown words at a moment of a span. A call may have
// shown them before the span's end, and nobody saw other words between that call and the span.
func (l *ledger) possible(number int, within span) bool {
	for _, call := range l.shown[number] {
		if call.from.After(within.to) {
			continue
		}
		gone := false
		for _, s := range l.seen[l.said[number].id] {
			gone = gone || s.number != number && s.within.from.After(call.to) && s.within.to.Before(within.from)
		}
		if !gone {
			return true
		}
	}
	return false
}

// most returns how many matching comments may have been shown at a moment of a span.
func (l *ledger) most(within span, want func(words) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := map[string]bool{}
	for number, w := range l.said {
		if want(w) && l.possible(number, within) {
			ids[cmp.Or(w.id, textOf(number))] = true
		}
	}
	return len(ids)
}

// anyShown reports whether a comment may have been shown at a moment of a span, whatever it said.
func (l *ledger) anyShown(id string, within span) bool {
	return l.most(within, func(w words) bool { return w.id == id }) > 0
}

func writtenAt(id string) time.Time { return comment.Comment{ID: comment.ID(id)}.CreatedAt() }

// newest returns whether a comment of a product that was written at a time may have been shown.
func (l *ledger) newest(product string, written time.Time, within span) bool {
	return l.most(within, func(w words) bool { return w.product == product && (w.id == "" || writtenAt(w.id).Equal(written)) }) > 0
}

// check returns what is wrong with a public answer. It finds words that were not approved at any
// moment of the span, and fields that belong to different comments.
func (l *ledger) check(answer string, within span) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, number := range numbersIn(answer) {
		if !l.possible(number, within) {
			return fmt.Errorf("%q of %+v is shown between %v and %v: shown by %v, seen %+v", textOf(number), l.said[number], within.from, within.to, l.shown[number], l.seen[l.said[number].id])
		}
	}
	for _, node := range nodeFields.FindAllString(answer, -1) {
		var got struct {
			ID, Language, Text string
			Rating, Version    int
		}
		if err := json.Unmarshal([]byte(node), &got); err != nil {
			return err
		}
		number := numbersIn(got.Text)[0]
		w := &l.said[number]
		w.id, w.version = cmp.Or(w.id, got.ID), cmp.Or(w.version, got.Version) // the words keep both from then on
		if got.ID != w.id || got.Rating != w.rating || got.Language != w.language || got.Version != w.version {
			return fmt.Errorf("%s is shown, and %+v was said", node, *w)
		}
	}
	return nil
}
