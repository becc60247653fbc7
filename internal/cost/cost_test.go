package cost

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/stream"
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
		if _, err := ReadWorkload([]byte(row.given)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %v, want %q in it", row.given, err, row.want)
		}
	}
	if _, err := ReadWorkload([]byte(`{"products": 2, "comments": 2, "kinds": {"product": 0.5}}`)); err != nil {
		t.Errorf("shares of no views: %v", err)
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

func line(t *testing.T, b Bill, what string) Line {
	t.Helper()
	for _, l := range b.Lines {
		if l.What == what {
			return l
		}
	}
	t.Fatalf("the bill has no %q: %v", what, b.Lines)
	return Line{}
}

// like reports whether two numbers differ by no more than rounding.
func like(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// Quantities other than calls to the table are as a calculator says.
func TestQuantities(t *testing.T) {
	w := busy()
	w.Month, w.Cached = 3, .25
	b := Of(w, listPrices)
	functions := w
	functions.CountingFunction, functions.Servers = true, 0
	f := Of(functions, listPrices)
	comments, votes := w.Stored()
	growth := 3900*comments.Total() + 5000*votes.Total() // a month's comments and votes, less 100 deletions
	stored := 90_000*comments.Total() + 3*growth
	const month = 730 * 3600                                       // seconds
	const records = 3200 + 800*3 + 300 + 100 + 5000*2 + 500 + 60*2 // 800 comments wait and are approved
	if !like(b.GrowthGB, growth/(1<<30)) {
		t.Errorf("it grows by %v GB", b.GrowthGB)
	}
	for _, row := range []struct {
		what           string
		of             Bill
		units, dollars float64
	}{
		{"the table and its indexes", b, stored / (1 << 30), .25},
		{"point-in-time recovery", b, stored / (1 << 30) * comments[layout.InTable] / comments.Total(), .20},
		{"servers", b, 2 * 730, .0168},
		{"transfer to the internet", b, 2e6*1e6/(1<<30) - 100, .09},
		{"reading the stream", b, 4*month*stream.ReadsPerSecond(3*records/4./month) - 2.5e6, .20 / 1e6},
		{"API function", f, 2e6*.75 + 4000*1.2 + 300 + 100 + 5000 + 500 + 60, .20 / 1e6},
		{"time of the API function", f, (2e6*.75 + 4000*1.2 + 300 + 100 + 5000 + 500 + 60) * .5 * .04, 13.3334 / 1e6},
	} {
		if l := line(t, row.of, row.what); !like(l.Units, row.units) || !like(l.Dollars, row.units*row.dollars) {
			t.Errorf("%s: %v %s for %v dollars, want %v for %v", row.what, l.Units, l.Unit, l.Dollars, row.units, row.units*row.dollars)
		}
	}
	w.AnswerBytes, w.Comments = 1000, 3000
	for _, l := range Of(w, listPrices).Lines {
		if l.What == "transfer to the internet" {
			t.Errorf("two GB leave AWS for free, not for %v dollars", l.Dollars)
		}
	}
}

// Provisioned capacity replaces what is paid on demand. The table and each index have a unit at
// least, and half of it idles.
func TestProvisioned(t *testing.T) {
	quiet := busy()
	quiet.CountingFunction, quiet.Servers = true, 0 // nobody reads the stream
	quiet.Views, quiet.NewComments, quiet.Votes, quiet.Edits, quiet.Replies = 1, 1, 1, 1, 1
	tables := float64(1 + len(layout.Indexes()))
	if p := Of(quiet, listPrices).Provisioned; p.ReadUnits != tables {
		t.Errorf("%v read units for %v tables and indexes", p.ReadUnits, tables)
	}
	b := Of(busy(), listPrices)
	p := b.Provisioned
	if want := 730 * (p.ReadUnits*.00013 + p.WriteUnits*.00065); !like(p.Capacity, want) || !like(p.Dollars, b.Dollars-p.OnDemand+want) {
		t.Errorf("%+v of %v dollars", p, b.Dollars)
	}
	edited := quiet
	edited.Edits = 1e6 // a text is in the table once, and in several indexes
	if share := Of(edited, listPrices).IndexShare; share < .7 {
		t.Errorf("with edits alone, indexes have %v of the write units", share)
	}
}

// The nearest limit comes first. Loads are those of the busiest second.
func TestLimits(t *testing.T) {
	w := busy()
	limits := Of(w, listPrices).Limits
	for i, l := range limits {
		if !like(l.Times*l.Now, l.Most) || i > 0 && l.Times < limits[i-1].Times {
			t.Errorf("%d: %+v", i, l)
		}
		if want := 2e6 / seconds * 4 * .4 * w.hottest(); strings.HasPrefix(l.What, "newest pages") && !like(l.Now, want) {
			t.Errorf("%s: %v, want %v", l.What, l.Now, want)
		}
	}
	w.Views = 0 // writers and counting read, too
	reads := Of(w, listPrices)
	at := slices.IndexFunc(reads.Lines, func(l Line) bool { return l.What == "reads of writers and counting" })
	if want := reads.Lines[at].Units / seconds * w.Peak; !slices.ContainsFunc(reads.Limits, func(l Limit) bool {
		return strings.HasPrefix(l.What, "read units of the table") && like(l.Now, want)
	}) {
		t.Errorf("writers and counting read %v units in the busiest second: %+v", want, reads.Limits)
	}
}

func TestRound(t *testing.T) {
	for n, want := range map[float64]float64{0: 0, 1: 1, 1234: 1230, 1235.1: 1240, .00012345: .000123, -98765: -98800, math.Inf(1): math.Inf(1)} {
		if got := Round(n); got != want && !like(got, want) {
			t.Errorf("%v is rounded to %v, want %v", n, got, want)
		}
	}
}

// A page beyond the last of a product is billed as its last one.
func TestPagesBeyondTheLast(t *testing.T) {
	w, comments := busy(), 400.0
	const size = 20
	for w.statsOf(comments).Total()%size != 0 { // the last page is full
		comments++
	}
	page := func(number int) float64 {
		return w.expected(comment.Query{Order: comment.NewestFirst, Slice: comment.Slice{Size: size, Page: number}}, comments).Total()
	}
	last := w.statsOf(comments).Total() / size
	if page(last+1) != page(last) {
		t.Errorf("the last page takes %v read units, the one beyond it %v", page(last), page(last+1))
	}
}

// Measured units are billed like those of a workload.
func TestMeasured(t *testing.T) {
	m := Measured{Seconds: 3600, Reads: map[string]layout.Units{"PAGE": {layout.All: 1000}}, Writes: map[string]layout.Units{"COUNTING": {layout.InTable: 100}}}
	b, err := OfMeasured(m, nil, listPrices)
	if want := Hours * (1000*.125 + 100*.625) / 1e6; err != nil || math.Abs(b.Dollars-want) > 1e-9 {
		t.Errorf("%v dollars (%v), want %v", b.Dollars, err, want)
	}
	m = Measured{Seconds: 3600, StreamReads: 10_000, Reads: map[string]layout.Units{"A NEW PURPOSE": {layout.All: 1}}}
	b, err = OfMeasured(m, nil, listPrices)
	if want := Hours*10_000 - 2.5e6; err != nil || !like(line(t, b, "reading the stream").Units, want) || line(t, b, "else").Units != Hours {
		t.Errorf("%v (%v), want %v reads of the stream", b.Lines, err, want)
	}
	if b, err := OfMeasured(m, new(busy()), listPrices); err != nil || b.Dollars < 24 {
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
	for _, of := range []reflect.Type{reflect.TypeFor[Workload](), reflect.TypeFor[Kinds]()} {
		for field := range of.Fields() {
			if name := field.Tag.Get("json"); !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/operate/cost.md does not name %s", name)
			}
		}
	}
}
