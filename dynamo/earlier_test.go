package dynamo

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// A page that is read a second time has exact limits, with and without counts: the comments that it
// shows, plus one more in each partition but that of the last comment.
func TestPageReadAgain(t *testing.T) {
	s := &warehouse{comments: commenttest.Many(commenttest.Rand(t), "42", 400)}
	model := commenttest.NewModel(s.comments...)
	for _, known := range []planner.Knowledge{{}, {Stats: model.Stats("42"), Sizes: planner.Sizes{Any: planner.ItemSize{Mean: 800, Deviation: 300}}}} {
		for _, ratings := range [][]int{{1, 4}, {1, 2, 3}} {
			filter := comment.Filter{Ratings: ratings}
			cursor := comment.At(model.List("42", filter, comment.NewestFirst)[30].ID.Position())
			for _, after := range []*comment.Place{nil, cursor} {
				q := comment.Query{Product: "42", Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20, After: after}}
				plan := secondPlan(t, NewStore(s, "comments", Options{Knowledge: always(known)}), q)
				want := planner.StretchOf(q).Want(20) + len(plan.Reads) - 1
				if plan.Waves != 1 || plan.ItemsRead > want || !strings.Contains(plan.Summary(), "last read") {
					t.Errorf("%d comments are enough in one wave\n%s", want, plan.Summary())
				}
			}
		}
	}
}

// secondPlan reads a page twice and returns the plan of the second read.
func secondPlan(t *testing.T, store *Store, q comment.Query) comment.QueryPlan {
	t.Helper()
	must.Get(store.Comments(t.Context(), q))(t)
	return must.Get(store.Comments(t.Context(), q))(t).Plan()
}

// A remembered page predicts where comments are as long as few new ones are expected. That depends
// on its age and on the rate of new comments, which the store learns. No comments come before a
// page that follows a cursor.
func TestPagesMove(t *testing.T) { synctest.Test(t, pagesMove) }

func pagesMove(t *testing.T) {
	p := newRecent()
	comments := commenttest.Many(commenttest.Rand(t), "42", 2000)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return b.ID.Position().Compare(a.ID.Position()) })
	first := comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1, 4}}, Slice: comment.Slice{Size: 20}}
	second, other := first, first
	second.Slice.After, other.Product = commenttest.Moment(9), "43"
	newest := &run{plan: &planner.Plan{Want: 21, Descending: true, High: comment.Place{Position: comment.MaxPosition}}}
	further := &run{plan: &planner.Plan{Want: 21, Descending: true, High: comment.Place{Position: comments[0].ID.Position()}}}
	visit := func(come int) (moved float64) {
		for i := range 20 {
			time.Sleep(time.Hour)
			learn(p, first, newest, comments[1000-i*come:][:21])
		}
		time.Sleep(time.Hour)
		recent, _ := p.Peek(keyOf(first).page())
		return recent.arrived()
	}
	remembered := func(q comment.Query) bool {
		asked := planner.Planner{Product: q.Product, Filter: q.Filter}
		return asked.Take(planner.Request{Window: windowOf(q), Purpose: comment.ReadPage, Want: 21, Last: p.of(keyOf(q))}).Remembered
	}
	if quiet := visit(0); quiet > 0.1 {
		t.Errorf("no comment came in 20 hours, and %.1f are expected in the next", quiet)
	}
	if busy := visit(5); busy < 5 || busy > 8 {
		t.Errorf("5 comments came each hour, and %.1f are expected in the next", busy)
	}
	if !remembered(first) {
		t.Error("a page with a quarter of new comments is not remembered")
	}
	time.Sleep(3 * time.Hour)
	if remembered(first) {
		t.Error("a page without any of its old comments is remembered")
	}
	learn(p, second, further, comments[:21])
	time.Sleep(3 * time.Hour)
	if recent, _ := p.Peek(keyOf(second).page()); recent.arrived() != 0 {
		t.Errorf("%.1f comments came behind a cursor", recent.arrived())
	}
	if p.of(keyOf(other)) != nil {
		t.Error("a page that was not read is known")
	}
}

// learn remembers a run's page as a list does.
func learn(p recent, q comment.Query, r *run, taken []comment.Comment) {
	if key := keyOf(q); key.remembers() {
		p.learn(key, r.held(asRead(taken)), r.fromNewest(), asRead(taken))
	}
}

// Lists of one partition are not remembered. A page is remembered the same with and without a count
// beside it.
func TestWhatIsRemembered(t *testing.T) {
	p := newRecent()
	took := &run{plan: &planner.Plan{Want: 21}}
	comments := commenttest.Many(commenttest.Rand(t), "42", 21)
	for _, row := range []struct {
		filter comment.Filter
		want   bool
	}{
		{comment.Filter{}, false}, {comment.Filter{Ratings: []int{5}}, false}, {comment.Filter{Languages: languages("de")}, false},
		{comment.Filter{Ratings: []int{1, 4}}, true}, {comment.Filter{Languages: languages("de"), Ratings: []int{4}}, true},
	} {
		q := comment.Query{Product: "42", Filter: row.filter, Slice: comment.Slice{Size: 20}}
		learn(p, q, took, comments)
		further := q
		further.Slice.After = commenttest.Moment(9)
		counting := q
		counting.Count = comment.CountTotal
		if (p.of(keyOf(counting)) != nil) != row.want || p.of(keyOf(further)) != nil {
			t.Errorf("%v: remembered is %v, and %v of a page that was not read", row.filter, p.of(keyOf(counting)), p.of(keyOf(further)))
		}
	}
}
