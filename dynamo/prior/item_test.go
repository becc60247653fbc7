package prior

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// learnt returns what a server learnt of so many products.
func learnt(t testing.TB, products int) tally {
	r, l := commenttest.Rand(t), NewLearner()
	p := anyPopulation(r)
	for i := range products {
		comments, shares := p.product(r)
		seen := page(p.draw(r, min(comments, 20), shares), comments, 21, comments <= 20)
		l.See(fmt.Sprint("product-", i), seen)
	}
	for i := range mostLarge + 100 {
		l.Count(fmt.Sprint("large-", i), comment.Stats{"de": {100 * i, 20, 30, 400, 5000}})
	}
	return l.fresh
}

// What is written is read again, to four digits, and stays small.
func TestItem(t *testing.T) {
	want := learnt(t, 3000)
	item, err := encode(want, stored{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(item)
	want.Large = want.Large.largest()
	if diff := cmp.Diff(want, got.tally, cmpopts.EquateApprox(1e-3, 1e-9), cmp.AllowUnexported(portrait{})); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	if size := layout.SizeOf(item, []string{layout.AttrPK, layout.AttrSK, attrTally, attrLarge, attrChanges}); size > 14<<10 {
		t.Errorf("the item has %d bytes", size)
	}
	again, err := encode(want, got)
	if n, _ := layout.ParseNumber(again[attrChanges]); n != 2 || err != nil {
		t.Errorf("the second write is number %d, %v", n, err)
	}
	for name := range item {
		if len(name) == 1 || name == layout.AttrBoard || name == layout.AttrPlace || name == layout.AttrTTL {
			t.Errorf("attribute %s puts the item into an index, or lets it expire", name)
		}
	}
}

// What is learnt of languages that nobody knows, or of statistics that were edited by hand, is read
// again too.
func TestOddLanguages(t *testing.T) {
	l := NewLearner()
	l.See("one", Seen{Ratings: comment.Counts{0, 0, 0, 0, 9}, Languages: map[comment.Language]int{"xxxxxxxx": 9}})
	l.Count("two", comment.Stats{"e\x01n": {1, 2, 3, 4, 50}, comment.OtherLanguages: {1, 2, 3, 4, 50}, "EN": {1, 2, 3, 4, 50}})
	item, err := encode(l.fresh, stored{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(item); err != nil || len(got.tally.Languages.Shares) != 2 {
		t.Errorf("read again are %v: %v", got.tally.Languages.Shares, err)
	}
}

// Whatever an item holds, it is refused, or makes a prior that a planner can use.
func FuzzDecode(f *testing.F) {
	text, err := json.Marshal(learnt(f, 50).rounded())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), learnt(f, 50).Large.encode([]comment.Language{"de"}))
	f.Add(`{"products":{"products":1e12,"tested":[1e12],"ended":[1e12]},"ratings":{"votes":1e12,"shares":{"1":1e12},"pairs":1e12,"alike":1e12}}`, []byte{1, 2, 3, 4, 255, 0, 0, 0, 0, 0, 255, 32})
	f.Add(`{"products":{"tested":[0,5],"ended":[0,5]},"languages":{"votes":3,"shares":{"de":3},"pairs":0,"alike":0}}`, []byte{1, 2, 3, 4, 255, 0, 0, 0, 0, 0, 255, 32})
	f.Add(`{"lengths":[{"votes":1,"mean":8192,"square":1}]}`, []byte{1, 2, 3, 4, 255, 0, 0, 0, 0, 0, 255, 32})
	f.Add("secret", []byte{})
	f.Fuzz(func(t *testing.T, text string, hints []byte) {
		item := itemKey()
		item[attrTally], item[attrLarge] = layout.Text(text), layout.Binary(hints)
		read, err := decode(item)
		if err != nil {
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error quotes the item: %v", err)
			}
			return
		}
		l := NewLearner()
		l.load(read.tally)
		checkSane(t, l.Prior())
		for hash := range read.tally.Large {
			if hint := l.stored.Large[hash].hint([]comment.Language{"de", "en"}); hint.Comments < 0 || hint.Comments > 1<<32 {
				t.Errorf("a product is known as %v", hint)
			}
		}
		l.Count("one", comment.Stats{"de": {1, 2, 3, 4, 5}})
		l.publish()
		checkSane(t, l.Prior())
	})
}
