package planner

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// Plans are the same with a Memo and without, whatever is known and whatever was planned before.
func TestMemoChangesNothing(t *testing.T) {
	memo := NewMemo()
	priors := []*Prior{nil, learntPrior(), learntPrior()}
	priors[2].Products[0] *= 3
	rapid.Check(t, func(t *rapid.T) {
		p := Planner{Product: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "product"), Filter: commonFilter(t)}
		p.Known.Prior = rapid.SampledFrom(priors).Draw(t, "prior")
		switch rapid.IntRange(0, 9).Draw(t, "knowledge") {
		case 0:
			p.Known.Stats = skewed()
		case 1:
			p.Known.Trusted = true
		case 2:
			p.Known.Hint.Comments = 5000
		case 3:
			p.Known.Sizes.Any = ItemSize{Mean: 900, Deviation: 100}
		}
		w := WindowOf(comment.Query{Filter: p.Filter, Order: comment.NewestFirst})
		if rapid.Bool().Draw(t, "behind a cursor") {
			w = w.From(comment.Position{7})
		}
		r := Request{Window: w, Purpose: comment.ReadPage, Want: rapid.SampledFrom([]int{1, 21, 101}).Draw(t, "want"), Skip: rapid.SampledFrom([]int{0, 40}).Draw(t, "skip")}
		want := p.Take(r)
		p.Memo = memo
		for range 2 {
			if got := p.Take(r); !reflect.DeepEqual(got, want) {
				t.Fatalf("with a memo:\n%v\nwithout:\n%v", got, want)
			}
		}
	})
}

// learntPrior is a prior as a shop of two languages teaches it.
func learntPrior() *Prior {
	p := *DefaultPrior()
	p.Languages = map[comment.Language]float64{"en": 0.7, "de": 0.2}
	p.OtherLanguage, p.LanguagesAlike = 0.02, 4
	return &p
}

// commonFilter is one of a few filters, so that the same is asked for again.
func commonFilter(t *rapid.T) comment.Filter {
	filter, err := comment.Filter{
		Languages: rapid.SampledFrom([][]comment.Language{nil, {"en"}, {"de", "en"}, commenttest.ManyLanguages(9), commenttest.ManyLanguages(40)}).Draw(t, "languages"),
		Ratings:   rapid.SampledFrom([][]int{nil, {1}, {1, 2}, {4, 5}, {1, 2, 3, 4}}).Draw(t, "ratings"),
	}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// A Memo has room for a bounded number of choices, and holds no text of the requests that it
// remembers: a language of a filter may be part of a large one.
func TestMemoIsBounded(t *testing.T) {
	memo := NewMemo()
	body := strings.Repeat("en,", 1000)
	language := comment.Language(body[:2])
	p := Planner{Filter: comment.Filter{Languages: []comment.Language{language}, Ratings: []int{1, 2}}, Memo: memo}
	var plan Plan
	for want := range 3 * mostChoices {
		plan = p.Take(Request{Want: want + 1, Window: WindowOf(comment.Query{})})
	}
	if n := len(memo.choices); n == 0 || n > mostChoices {
		t.Errorf("it remembers %d choices", n)
	}
	for _, candidate := range plan.Candidates() {
		for _, part := range candidate.Cover {
			if unsafe.StringData(string(part.Language)) == unsafe.StringData(body) {
				t.Errorf("%s holds the text of the request", candidate.Name)
			}
		}
	}
}
