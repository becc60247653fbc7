package pageindex_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// Product finds every difference between an index and the comments, and no other.
func TestProduct(t *testing.T) {
	german, english := comment.Cell{Language: "de", Rating: 5}, comment.Cell{Language: "en", Rating: 5}
	comments := commenttest.Many(commenttest.Rand(t), "p", 700)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return a.ID.Position().Compare(b.ID.Position()) })
	entry := func(i int, cell *comment.Cell) pageindex.Entry {
		return pageindex.Entry{Product: "p", Position: comments[i].ID.Position(), Cell: cell, Follows: "2"}
	}
	between := comments[402].ID.Position().Previous()
	for _, row := range []struct {
		why   string
		wrong []pageindex.Entry
		want  []string // parts of the drifts
	}{
		{"nothing is wrong", nil, nil},
		{"the last one is missing", []pageindex.Entry{entry(699, nil)}, []string{"de with rating 5: the index has 599 comments instead of 600", "by rating"}},
		{"one is in another language", []pageindex.Entry{entry(3, &english)}, []string{"de with rating 5: the index has 599", "en with rating 5: the index has 101"}},
		{"one is counted twice, and one is not", []pageindex.Entry{entry(401, nil), {Product: "p", Position: between, Cell: &german, Follows: "1"}},
			[]string{"de with rating 5: comment "}},
		{"one is in a language of its own", []pageindex.Entry{{Product: "p", Position: between, Cell: &comment.Cell{Language: "fr", Rating: 1}, Follows: "1"}}, []string{"by rating"}},
	} {
		model, places := conformance.NewModel(), pageindex.Places{}
		for i, c := range comments {
			cell := german
			if i >= 300 && i < 400 {
				cell = english
			}
			places.Add(cell, c.ID.Position())
			must.Do(t, model.Apply(t.Context(), []pageindex.Entry{{Product: "p", Position: c.ID.Position(), Cell: &cell, Follows: "1"}}))
		}
		must.Do(t, model.Apply(t.Context(), row.wrong))
		drifts, err := pageindex.Audit(t.Context(), model, "p", places)
		if err != nil || len(drifts) != len(row.want) {
			t.Errorf("%s: %v, %v", row.why, drifts, err)
			continue
		}
		for i, d := range drifts {
			if !strings.Contains(d.String(), row.want[i]) {
				t.Errorf("%s: %s, want %q", row.why, d, row.want[i])
			}
		}
	}
}

type away struct{}

func (away) Find(context.Context, pageindex.List, []pageindex.Target) (pageindex.Found, error) {
	return pageindex.Found{}, errors.New("away")
}

// An index that does not answer is an error, not a drift.
func TestAway(t *testing.T) {
	for _, places := range []pageindex.Places{{}, {comment.Cell{Language: "en", Rating: 1}: {{1}}}} {
		if drifts, err := pageindex.Audit(t.Context(), away{}, "p", places); len(drifts) > 0 || err == nil {
			t.Error(drifts, err)
		}
	}
}
