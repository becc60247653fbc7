package web

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
)

func parse(t interface{ Fatalf(string, ...any) }, address string) (state, bool) {
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%q: %v", address, err)
	}
	return parseState(parsed)
}

// states are states that an address can ask for.
var states = rapid.Custom(func(t *rapid.T) state {
	s := state{
		Product: rapid.OneOf(rapid.StringN(1, 40, 128), rapid.SampledFrom([]string{".", "..", "...", "a/b", "%2F", "a b+c", "ü?#&=", "'\"<>"})).Draw(t, "id"),
		Page:    rapid.IntRange(1, 999_999_999).Draw(t, "page"),
		Order:   rapid.SampledFrom(orders).Draw(t, "order"),
	}
	for rating := 5; rating >= 1; rating-- {
		if rapid.Bool().Draw(t, "rating") {
			s.Ratings = append(s.Ratings, rating)
		}
	}
	s.Only = parseTraits(rapid.SliceOf(rapid.SampledFrom(traits)).Draw(t, "only"))
	s.Languages = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"en", "de", "pt-BR", "zh-Hant", "und"}), 0, 3, rapid.ID[string]).Draw(t, "languages")
	slices.Sort(s.Languages)
	if len(s.Languages) == 0 {
		s.Languages = nil
	}
	day := rapid.SampledFrom([]string{"", "1970-01-01", "2024-02-29", "9998-12-31"})
	s.From, s.To = parseDays(day.Draw(t, "from"), day.Draw(t, "to"))
	cursor := rapid.StringMatching(`[A-Za-z0-9_-]{0,64}`).Draw(t, "cursor")
	switch {
	case cursor == "":
	case rapid.Bool().Draw(t, "after"):
		s = s.beside(cursor, "")
	default:
		s = s.beside("", cursor)
	}
	return s
})

// The rules of the guide for crawlers allow exactly the addresses that search engines are to list.
// Of the rules that match an address, the longest counts:
// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2
func TestRulesForCrawlers(t *testing.T) {
	rule := regexp.MustCompile(`(?m)^(Allow|Disallow): (.*)$`)
	rules := rule.FindAllStringSubmatch(string(must.Get(os.ReadFile("../docs/guide/product-page.md"))(t)), -1)
	if len(rules) == 0 {
		t.Fatal("the guide has no rules for crawlers")
	}
	rapid.Check(t, func(t *rapid.T) {
		s := states.Draw(t, "state")
		if isDots(s.Product) {
			return // whose id is in the query
		}
		if rapid.Bool().Draw(t, "listed") {
			s = s.all().at(s.Page)
		}
		longest, allowed := 0, true
		for _, rule := range rules {
			pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(rule[2]), `\*`, ".*")
			if len(rule[2]) > longest && regexp.MustCompile(pattern).MatchString(s.address()) {
				longest, allowed = len(rule[2]), rule[1] == "Allow"
			}
		}
		if allowed != s.listed() {
			t.Fatalf("%s: crawlers are let in: %t, search engines are to list it: %t", s.address(), allowed, s.listed())
		}
	})
}

// An address expresses the whole state, and each page has one address.
func TestAddressIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := states.Draw(t, "state")
		again, ok := parse(t, s.address())
		if !ok || !cmp.Equal(again, s) {
			t.Fatalf("%s is read as %+v, %t; want %+v", s.address(), again, ok, s)
		}
		link := must.Get(url.Parse(s.href()))(t)
		page := must.Get(url.Parse(s.all().address()))(t)
		if got := page.ResolveReference(link).String(); got != s.address() && !isDots(s.Product) {
			t.Fatalf("the link %s leads from %s to %s, want %s", s.href(), page, got, s.address())
		}
	})
}

// Whatever an address contains, it shows comments, and its canonical form is the same page.
func TestAnyQueryIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		query := url.Values{}
		for _, name := range []string{"id", "page", "rating", "language", "only", "order", "from", "to", "after", "before"} {
			query[name] = rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"1", "2024-05-01", "DE", "en_US", "iw", "und", "AQ-_"})), 0, 3).Draw(t, name)
		}
		s, ok := parse(t, "/products/42?"+query.Encode())
		if !ok {
			t.Fatalf("%v is refused", query)
		}
		if again, _ := parse(t, s.address()); !cmp.Equal(again, s) {
			t.Fatalf("%s is read as %+v, want %+v", s.address(), again, s)
		}
	})
}

func TestParseState(t *testing.T) {
	for _, row := range []struct{ address, want, reason string }{
		{"/products/42", "/products/42", "the bare page"},
		{"/products/42?page=1", "/products/42", "page 1 is what the bare address shows"},
		{"/products/42?page=3&rating=4&rating=5&rating=4", "/products/42?page=3&rating=5&rating=4", "ratings have one order"},
		{"/products/42?page=03", "/products/42", "one form of a number"},
		{"/products/42?page=-1&rating=6&rating=x&order=random&from=2024-13-01&to=now", "/products/42", "what is not understood is dropped"},
		{"/products/42?page=9999999999", "/products/42", "beyond the integers of GraphQL"},
		{"/products/42?language=EN&language=de&language=en&language=xx-yy-zz-!", "/products/42?language=de&language=en", "tags have one form and order"},
		{"/products/42?only=media&only=verified&only=cheap", "/products/42?only=verified&only=media", "traits have one order"},
		{"/products/42?language=in", "/products/42?language=id", "as the API writes it"},
		{"/products/42?from=2024-05-31&to=2024-05-01", "/products/42?from=2024-05-01&to=2024-05-31", "the API refuses a range that ends before it begins"},
		{"/products/42?from=0024-05-31&to=9999-05-01", "/products/42", "a year that is being typed"},
		{"/products/42?page=3&after=abc&before=def", "/products/42?after=abc", "a cursor says where its page is"},
		{"/products/42?after=a%20b", "/products/42", "no cursor has a space"},
		{"/products/42?utm_source=mail", "/products/42", "parameters of others"},
		{"/products/a%2Fb%20%C3%BC", "/products/a%2Fb%20%C3%BC", "an id with a slash, a space and an umlaut"},
		{"/products/%E2%98%95", "/products/%E2%98%95", "an id beyond Latin"},
		{"/products/a!'()*~", "/products/a%21%27%28%29%2A~", "one form of an id"},
		{"/products/?id=..", "/products/?id=..", "an id that cannot be a segment"},
		{"/products/?id=42", "", "all other ids have their path"},
		{"/products/", "", "no id"},
		{"/products/a/b", "", "two segments"},
		{"/products/%FF", "", "no UTF-8, which JSON cannot carry"},
		{"/product/42", "", "another path"},
	} {
		s, ok := parse(t, row.address)
		if ok != (row.want != "") || ok && s.address() != row.want {
			t.Errorf("%s is %t %s, want %s: %s", row.address, ok, s.address(), row.want, row.reason)
		}
	}
}

func TestLinksOfFilters(t *testing.T) {
	s, _ := parse(t, "/products/42?page=7&rating=5&language=de&order=oldest&from=2024-05-01")
	for _, row := range []struct {
		got    state
		want   string
		reason string
	}{
		{s.toggleRating(4), "?rating=5&rating=4&language=de&order=oldest&from=2024-05-01", "another rating, from its first page"},
		{s.toggleRating(5), "?language=de&order=oldest&from=2024-05-01", "the same rating again"},
		{s.toggleLanguage("cs"), "?rating=5&language=cs&language=de&order=oldest&from=2024-05-01", "another language"},
		{s.toggleLanguage("de"), "?rating=5&order=oldest&from=2024-05-01", "the same language again"},
		{s.toggleTrait("media"), "?rating=5&language=de&only=media&order=oldest&from=2024-05-01", "a trait"},
		{s.toggleTrait("media").toggleTrait("verified"), "?rating=5&language=de&only=verified&only=media&order=oldest&from=2024-05-01", "another before it"},
		{s.toggleTrait("media").toggleTrait("media"), "?rating=5&language=de&order=oldest&from=2024-05-01", "the same trait again"},
		{s.ordered(""), "?rating=5&language=de&from=2024-05-01", "the usual order"},
		{s.at(8), "?page=8&rating=5&language=de&order=oldest&from=2024-05-01", "the next page"},
		{s.all(), "/products/42", "everything"},
		{s.canonical(), "/products/42", "what stands for it in search engines"},
	} {
		if got := row.got.href(); got != row.want {
			t.Errorf("%s leads to %s, want %s", row.reason, got, row.want)
		}
	}
	if got := s.address(); got != "/products/42?page=7&rating=5&language=de&order=oldest&from=2024-05-01" {
		t.Errorf("making links changed the state to %s", got)
	}
}

// What a client sends in place of a language is not read at any length: a megabyte of tags takes
// seconds.
func TestLongLanguagesAreNotRead(t *testing.T) {
	long := "de" + strings.Repeat("_abcdefgh", 10_000)
	if tag := canonicalTag(long); tag != "" {
		t.Errorf("a tag of %d bytes is read as one of %d", len(long), len(tag))
	}
	if got := textsFor("de," + strings.Repeat("en,", maxAcceptLanguage)).lang; got != "en" {
		t.Errorf("texts in %s for a header that is not read", got)
	}
	read := testing.AllocsPerRun(1, func() {
		canonicalTag(long)
		textsFor(long)
	})
	if read > 0 {
		t.Errorf("%.0f allocations for texts that are too long to be a language", read)
	}
}

// The operation and its variables are valid, whatever the state.
func TestOperationFitsTheSchema(t *testing.T) {
	schema := schematest.Load(t)
	document, errs := gqlparser.LoadQueryWithRules(schema, operation, rules.NewDefaultRules())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	rapid.Check(t, func(t *rapid.T) {
		sent := must.Get(json.Marshal(states.Draw(t, "state").variables()))(t)
		var variables map[string]any
		must.Do(t, json.Unmarshal(sent, &variables))
		if _, err := validator.VariableValues(schema, document.Operations[0], variables); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		declared := map[string]bool{}
		for _, variable := range document.Operations[0].VariableDefinitions {
			declared[variable.Variable] = true
		}
		for name := range variables {
			if !declared[name] {
				t.Fatalf("the operation has no variable %s", name)
			}
		}
	})
}

func TestVariables(t *testing.T) {
	for _, row := range []struct{ address, want, reason string }{
		{"/products/42", `{"id":"42","first":20,"highlights":true}`, "the bare page is the one with highlights"},
		{"/products/42?order=highest", `{"id":"42","first":20,"order":"HIGHEST_RATED","highlights":false}`, "by rating"},
		{"/products/42?page=3&order=oldest", `{"id":"42","first":20,"page":3,"order":"OLDEST_FIRST","highlights":false}`, "a page by number"},
		{
			"/products/42?rating=5&language=de&from=2024-05-01&to=2024-12-31",
			`{"id":"42","first":20,"filter":{"languages":["de"],"ratings":[5],"createdAfter":"2024-05-01T00:00:00Z","createdBefore":"2025-01-01T00:00:00Z"},` +
				`"facets":{"languages":["de"],"createdAfter":"2024-05-01T00:00:00Z","createdBefore":"2025-01-01T00:00:00Z"},"faceted":true,"highlights":false}`,
			"the last day is part of the range, the histogram counts all ratings, and languages are not counted by dates",
		},
		{"/products/42?language=de", `{"id":"42","first":20,"filter":{"languages":["de"]},"highlights":false}`, "without a rating, the list has the histogram's counts"},
		{"/products/42?rating=5", `{"id":"42","first":20,"filter":{"ratings":[5]},"chips":{"ratings":[5]},"narrowed":true,"highlights":false}`, "a rating alone does not change the histogram"},
		{"/products/42?after=abc", `{"id":"42","first":20,"after":"abc","highlights":false}`, "a page after a cursor"},
		{"/products/42?before=abc", `{"id":"42","last":20,"before":"abc","highlights":false}`, "a page before a cursor"},
	} {
		s, _ := parse(t, row.address)
		got := must.Get(json.Marshal(s.variables()))(t)
		if diff := cmp.Diff(row.want, string(got)); diff != "" {
			t.Errorf("%s: %s: %s", row.address, row.reason, diff)
		}
	}
}
