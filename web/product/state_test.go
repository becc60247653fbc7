package product

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
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
	if got := textsFor("de").lang; got != "de" {
		t.Errorf("texts in %s for de", got)
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
