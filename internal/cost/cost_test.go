package cost

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/doctest"
)

// listPrices are the default prices of the flags.
var listPrices = Prices{.125, .625, .00013, .00065, .25, .20, .20, .20, 13.3334, .09}

// busy returns the workload of a shop that uses every feature.
func busy() Workload {
	w := Typical()
	w.Products, w.Comments, w.Views, w.Kinds = 3000, 90_000, 2e6, Kinds{.4, .2, .1, .1, .1, .1}
	w.NewComments, w.Held, w.Edits, w.Deletions, w.Votes, w.Replies, w.Reports = 4000, .2, 300, 100, 5000, 500, 60
	w.Backups, w.AnswerBytes = true, 1e6
	return w
}

// An impossible workload is refused with an error that names the fault and the allowed values.
func TestWrongWorkloads(t *testing.T) {
	for _, row := range []struct{ given, want string }{
		{``, "ends early"},
		{`{"products": 2`, "ends early"},
		{`[]`, "are objects"},
		{`{"products": 2, "kinds": 1}`, "are objects"},
		{`{"products": NaN}`, "not as NaN"},
		{`{"products": "many"}`, "products: give a number"},
		{`{"products": 1e400}`, "products: give a number below 1e15"},
		{`{"backups": 1}`, "backups: give true or false"},
		{`{"products": 2, "products": 3}`, "products stands twice"},
		{`{"Products": 2}`, `"Products": docs/operate/cost.md`}, // must not be read as products
		{`{"kinds": {"product": "all"}}`, "kinds.product: give a number"},
		{`{"kinds": {"product": 1, "product": 0}}`, "kinds.product stands twice"},
		{`{"kinds": {"pages": 1}}`, `"kinds.pages": docs`},
		{`{"produts": 2}`, `"produts": docs/operate/cost.md lists the names`},
		{`{"products": -1}`, "products is -1: give a number from 0"},
		{`{"products": 1e30}`, "products is 1e+30"},
		{`{"comments": 2}`, "products is missing"},
		{`{"products": 2, "comments": 1}`, "fewer than products"},
		{`{"products": 2, "comments": 9, "cached": 1.5}`, "cached is 1.5: give a number from 0 to 1"},
		{`{"products": 2, "comments": 9, "views": 1, "kinds": {"product": 0.5, "lists": 0.4}}`, "add up to 0.9, not 1"},
		{`{"products": 2, "comments": 9, "kinds": {"product": 2}}`, "kinds.product is 2"},
		{`{"products": 2, "comments": 9, "servers": 0.5}`, "1 or more"},
		{`{"products": 2, "comments": 9, "servers": 0}`, "set countingFunction to true"},
		{`{"products": 2, "comments": 9, "filterRatings": 6}`, "at most 5 ratings"},
		{`{"products": 2, "comments": 9, "pageSize": 0}`, "pageSize is 1 to 100"},
		{`{"products": 2, "comments": 9, "utilisation": 0}`, "utilisation is above 0"},
		{`{"products": 2, "comments": 9, "textBytes": 1e9}`, "textBytes"},
		{`{"products": 2, "comments": 9} {}`, "invalid JSON at byte 32"},
	} {
		if _, err := ReadWorkload(strings.NewReader(row.given)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %v, want %q in it", row.given, err, row.want)
		}
	}
	for _, n := range []float64{-1, math.NaN(), math.Inf(1)} {
		prices := listPrices
		prices.ReadCapacity = n
		if err := prices.Check(); err == nil || !strings.Contains(err.Error(), "--price-read-capacity") {
			t.Errorf("a price of %v: %v", n, err)
		}
	}
}

// Whatever grows in a workload, the bill never falls, and the bill of the largest allowed workload
// is a number.
func TestBillsGrow(t *testing.T) {
	before := Of(busy(), listPrices).Dollars
	for _, name := range []string{"Comments", "Views", "NewComments", "Held", "Edits", "Votes", "Replies", "Reports", "PageSize", "TextBytes", "Servers", "AnswerBytes", "Month"} {
		w := busy()
		field := reflect.ValueOf(&w).Elem().FieldByName(name)
		field.SetFloat(field.Float() * 2)
		if after := Of(w, listPrices).Dollars; after < before || math.IsNaN(after) {
			t.Errorf("twice the %s costs %.4f, and less than %.4f", name, after, before)
		}
	}
	w := busy()
	w.Products, w.Comments, w.Views, w.NewComments = maxNumber, maxNumber, maxNumber, maxNumber
	if all := Of(w, listPrices).Dollars; math.IsInf(all, 0) || math.IsNaN(all) {
		t.Errorf("the largest workload costs %v", all)
	}
}

// Lines add up to the sum, the share of indexes is between 0 and 1, and with functions reads of the
// stream are free.
func TestLines(t *testing.T) {
	for _, functions := range []bool{false, true} {
		w := busy()
		if w.CountingFunction = functions; functions {
			w.Servers = 0
		}
		b, sum := Of(w, listPrices), 0.0
		seen := map[string]bool{}
		for _, l := range b.Lines {
			sum += l.Dollars
			seen[l.Unit] = true
		}
		if math.Abs(sum-b.Dollars) > 1e-9 || b.IndexShare <= 0 || b.IndexShare >= 1 {
			t.Errorf("lines of %v and a sum of %v; indexes have %v", sum, b.Dollars, b.IndexShare)
		}
		if seen[streamUnit] == functions || seen[timeUnit] != functions || seen[hourUnit] == functions {
			t.Errorf("functions %v: the units are %v", functions, seen)
		}
	}
}

// Measured units are billed like those of a workload.
func TestMeasured(t *testing.T) {
	m := Measured{Seconds: 3600, Reads: map[string]layout.Units{"PAGE": {layout.All: 1000}}, Writes: map[string]layout.Units{"COUNTING": {layout.InTable: 100}}}
	b, err := OfMeasured(m, nil, listPrices)
	if want := Hours * (1000*.125 + 100*.625) / 1e6; err != nil || math.Abs(b.Dollars-want) > 1e-9 {
		t.Errorf("%v dollars (%v), want %v", b.Dollars, err, want)
	}
	w := busy()
	if b, err := OfMeasured(m, &w, listPrices); err != nil || b.Dollars < 24 {
		t.Errorf("with two servers: %v dollars (%v)", b.Dollars, err)
	}
	for _, units := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m := Measured{Seconds: math.Abs(units), Reads: map[string]layout.Units{"PAGE": {layout.All: units}}}
		if _, err := OfMeasured(m, nil, listPrices); err == nil || !strings.Contains(err.Error(), "measure again") {
			t.Errorf("%+v is billed: %v", m, err)
		}
	}
}

// docs/operate/cost.md has every name of a workload.
func TestNamesAreDocumented(t *testing.T) {
	text := doctest.Read(t, "docs/operate/cost.md").Text
	for of := range reflect.TypeFor[Workload]().Fields() {
		if name := of.Tag.Get("json"); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/operate/cost.md does not name %s", name)
		}
	}
	for of := range reflect.TypeFor[Kinds]().Fields() {
		if name := of.Tag.Get("json"); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/operate/cost.md does not name %s", name)
		}
	}
}
