package web

import (
	_ "embed"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"
)

const (
	// pageSize is how many comments a page shows.
	pageSize = 20
	// maxLanguages is how many languages the API takes in a filter.
	maxLanguages = 100
	// firstYear and lastYear bound the days of a filter. Comments have times since 1970, and the day
	// after the last one must still have a year of four digits.
	firstYear, lastYear = 1970, 9998
)

// state is the parsed address of a product page. The page makes all of its links from states, and
// the element keeps the same states in the browser.
type state struct {
	Product   string
	Page      int      // from 1; 1 if there is a cursor
	Ratings   []int    // descending; none is all
	Languages []string // canonical tags, sorted; none is all
	Only      []string // traits that comments must have, some of those of traits, in their order
	Order     string   // a key of orders; empty for the newest comments first
	From, To  string   // days in UTC such as "2024-05-31", both inclusive; empty for no bound
	// After and Before are cursors, at most one of them. Links have them while the API has no page
	// numbers.
	After, Before string
	// Path is the path of a shop's own page, empty for our pages.
	Path string
}

// pathPrefix is the path of all product pages.
const pathPrefix = "/products/"

// parseState reads the address of a product page. It drops what it does not understand: an address
// that was shortened or mistyped still shows comments. It reports false if the path has no id.
func parseState(address *url.URL) (state, bool) {
	query := address.Query()
	segment, below := strings.CutPrefix(address.EscapedPath(), pathPrefix)
	id, err := url.PathUnescape(segment)
	if segment == "" && isDots(query.Get("id")) {
		id = query.Get("id")
	}
	// JSON cannot carry bytes that are not UTF-8: the query would name another product.
	if !below || err != nil || id == "" || strings.Contains(segment, "/") || !utf8.ValidString(id) {
		return state{}, false
	}
	page, _ := strconv.Atoi(pageForm.FindString(query.Get("page")))
	s := state{
		Product:   id,
		Page:      max(1, page),
		Ratings:   parseRatings(query["rating"]),
		Languages: parseLanguages(query["language"]),
		Only:      parseTraits(query["only"]),
		After:     cursorForm.FindString(query.Get("after")),
		Before:    cursorForm.FindString(query.Get("before")),
	}
	if order := query.Get("order"); slices.Contains(orders, order) {
		s.Order = order
	}
	s.From, s.To = parseDays(query.Get("from"), query.Get("to"))
	if s.After != "" {
		s.Before = ""
	}
	if s.After != "" || s.Before != "" {
		s.Page = 1
	}
	return s, true
}

// isDots reports whether a path cannot have the id as a segment, since browsers and servers resolve
// such segments even if they are escaped.
func isDots(id string) bool { return id == "." || id == ".." }

// orders are the orders to choose from, as addresses and texts name them; empty for the usual one.
var orders = []string{"", "oldest", "highest", "lowest", "helpful"}

// traits are the traits that a filter can require, as addresses and texts name them.
var traits = []string{"verified", "media"}

func parseTraits(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(traits), func(trait string) bool { return !slices.Contains(texts, trait) })
}

// The forms of page numbers and cursors.
var (
	pageForm   = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
	cursorForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

func parseRatings(texts []string) []int {
	var ratings []int
	for rating := 5; rating >= 1; rating-- {
		if slices.Contains(texts, strconv.Itoa(rating)) {
			ratings = append(ratings, rating)
		}
	}
	return ratings
}

func parseLanguages(texts []string) []string {
	var tags []string
	for _, text := range texts {
		if tag := canonicalTag(text); tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	return tags[:min(len(tags), maxLanguages)]
}

// canonicalTag returns the canonical form of a language tag, empty if text is none.
func canonicalTag(text string) string {
	const maxBytes = 35 // RFC 5646, section 4.4.1
	for range 4 {
		if len(text) > maxBytes { // before it is parsed: a megabyte takes seconds
			return ""
		}
		tag, err := language.Parse(text)
		if err != nil {
			return ""
		}
		if tag.String() == text {
			return text
		}
		text = tag.String()
	}
	return ""
}

// parseDays returns the bounds of a filter by days, in order.
func parseDays(from, to string) (first, last string) {
	first, last = parseDay(from), parseDay(to)
	if first != "" && last != "" && last < first {
		return last, first
	}
	return first, last
}

func parseDay(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < firstYear || day.Year() > lastYear {
		return ""
	}
	return text
}

// path returns the path of the page.
func (s state) path() string {
	if s.Path != "" {
		return s.Path
	}
	if isDots(s.Product) {
		return pathPrefix
	}
	// As encodeURIComponent of browsers writes it, which the element uses.
	return pathPrefix + strings.ReplaceAll(url.QueryEscape(s.Product), "+", "%20")
}

// parameter is one name and value of an address or a form.
type parameter struct{ Name, Value string }

// parameters are the query of the address, in a fixed order: two addresses of the same page are the
// same text.
func (s state) parameters() []parameter {
	var all []parameter
	add := func(name, value string) {
		if value != "" {
			all = append(all, parameter{name, value})
		}
	}
	if isDots(s.Product) {
		add("id", s.Product)
	}
	if s.Page > 1 {
		add("page", strconv.Itoa(s.Page))
	}
	for _, rating := range s.Ratings {
		add("rating", strconv.Itoa(rating))
	}
	for _, tag := range s.Languages {
		add("language", tag)
	}
	for _, trait := range s.Only {
		add("only", trait)
	}
	add("order", s.Order)
	add("from", s.From)
	add("to", s.To)
	add("after", s.After)
	add("before", s.Before)
	return all
}

// query returns the query of the address without the question mark.
func (s state) query() string {
	var parts []string
	for _, p := range s.parameters() {
		parts = append(parts, p.Name+"="+url.QueryEscape(p.Value))
	}
	return strings.Join(parts, "&")
}

// address returns the path and the query.
func (s state) address() string {
	if query := s.query(); query != "" {
		return s.path() + "?" + query
	}
	return s.path()
}

// href returns a link within the page: the query alone, or the path if there is none.
func (s state) href() string {
	if query := s.query(); query != "" {
		return "?" + query
	}
	return s.path()
}

// all returns the state without filter and order, on its first page.
func (s state) all() state { return state{Product: s.Product, Page: 1, Path: s.Path} }

// filtered reports whether the list has only some of the product's comments.
func (s state) filtered() bool {
	return len(s.Ratings) > 0 || len(s.Languages) > 0 || len(s.Only) > 0 || s.dated()
}

// dated reports whether days are chosen.
func (s state) dated() bool { return s.From != "" || s.To != "" }

// isFirst reports whether the page is the one that the bare address shows.
func (s state) isFirst() bool {
	return s.listed() && s.Page == 1
}

// listed reports whether search engines are to list the page: they get each comment once, by the
// numbered pages of all comments.
func (s state) listed() bool {
	return !s.filtered() && s.Order == "" && s.After == "" && s.Before == ""
}

// canonical returns the page that search engines should list in place of this one.
func (s state) canonical() state {
	if s.listed() {
		return s
	}
	return s.all()
}

// at returns the page of that number in the same list.
func (s state) at(page int) state {
	s.Page, s.After, s.Before = page, "", ""
	return s
}

// beside returns the page on one side of a cursor; the other cursor is empty.
func (s state) beside(after, before string) state {
	s.Page, s.After, s.Before = 1, after, before
	return s
}

// toggleRating returns the first page with the rating added to the filter, or removed from it.
func (s state) toggleRating(rating int) state {
	s = s.at(1)
	s.Ratings = toggled(s.Ratings, rating)
	slices.SortFunc(s.Ratings, func(a, b int) int { return b - a })
	return s
}

// toggleLanguage returns the first page with the language added to the filter, or removed from it.
func (s state) toggleLanguage(tag string) state {
	s = s.at(1)
	s.Languages = toggled(s.Languages, tag)
	slices.Sort(s.Languages)
	return s
}

// toggleTrait returns the first page with the trait added to the filter, or removed from it.
func (s state) toggleTrait(trait string) state {
	s = s.at(1)
	s.Only = parseTraits(toggled(s.Only, trait))
	return s
}

// toggled returns the choice with one added to it, or removed from it.
func toggled[T comparable](choice []T, one T) []T {
	if slices.Contains(choice, one) {
		return slices.DeleteFunc(slices.Clone(choice), func(other T) bool { return other == one })
	}
	return append(slices.Clone(choice), one)
}

// ordered returns the first page of the list in an order.
func (s state) ordered(order string) state {
	s = s.at(1)
	s.Order = order
	return s
}

// operation is the GraphQL operation of a product page.
//
//go:embed product/product.graphql
var operation string

// variables of the operation. Those without a value are left out, which the API distinguishes from
// null.
type variables struct {
	ID         string  `json:"id"`
	First      int     `json:"first,omitempty"`
	After      string  `json:"after,omitempty"`
	Last       int     `json:"last,omitempty"`
	Before     string  `json:"before,omitempty"`
	Page       int     `json:"page,omitempty"`
	Filter     *filter `json:"filter,omitempty"`
	Facets     *filter `json:"facets,omitempty"`
	Faceted    bool    `json:"faceted,omitempty"`
	Chips      *filter `json:"chips,omitempty"`
	Narrowed   bool    `json:"narrowed,omitempty"`
	Order      string  `json:"order,omitempty"`
	Highlights bool    `json:"highlights"`
}

// filter is a CommentFilter of the schema.
type filter struct {
	Languages     []string `json:"languages,omitempty"`
	Ratings       []int    `json:"ratings,omitempty"`
	Verified      bool     `json:"verified,omitempty"`
	WithMedia     bool     `json:"withMedia,omitempty"`
	CreatedAfter  string   `json:"createdAfter,omitempty"`
	CreatedBefore string   `json:"createdBefore,omitempty"`
}

// variables returns the variables of the operation.
func (s state) variables() variables {
	v := variables{ID: s.Product, Filter: s.filter(s.Ratings), Highlights: s.isFirst()}
	if len(s.Ratings) > 0 { // else the list itself has these counts
		v.Facets = s.filter(nil)
		v.Faceted = v.Facets != nil // else the product has them
	}
	switch {
	case s.Before != "":
		v.Last, v.Before = pageSize, s.Before
	case s.After != "":
		v.First, v.After = pageSize, s.After
	default:
		v.First = pageSize
	}
	if s.Page > 1 { // the first page can be read while there are no page numbers
		v.Page = s.Page
	}
	v.Order = orderNames[s.Order]
	if !s.dated() { // languages are not counted by dates
		v.Chips = state{Only: s.Only}.filter(s.Ratings)
		v.Narrowed = v.Chips != nil
	}
	return v
}

// orderNames are the names of orders in the schema.
var orderNames = map[string]string{"oldest": "OLDEST_FIRST", "highest": "HIGHEST_RATED", "lowest": "LOWEST_RATED", "helpful": "MOST_HELPFUL"}

// filter returns the filter by languages, traits and days, with ratings; nil if it allows all
// comments.
func (s state) filter(ratings []int) *filter {
	f := filter{Languages: s.Languages, Ratings: ratings, Verified: slices.Contains(s.Only, "verified"), WithMedia: slices.Contains(s.Only, "media")}
	if s.From != "" {
		f.CreatedAfter = s.From + "T00:00:00Z"
	}
	if s.To != "" {
		day := mustHave(time.Parse(time.DateOnly, s.To)) // parseDay has checked it
		f.CreatedBefore = day.AddDate(0, 0, 1).Format(time.DateOnly) + "T00:00:00Z"
	}
	if len(f.Languages)+len(f.Ratings)+len(s.Only) == 0 && !s.dated() {
		return nil
	}
	return &f
}

// usualWait is what Retry-After says if the API names no time, in seconds.
const usualWait = 5

// retryAfter returns the seconds after which to retry: those that the API names, else usualWait.
func retryAfter(r apiResponse) string {
	if seconds, err := strconv.ParseUint(r.header.Get("Retry-After"), 10, 31); err == nil {
		return strconv.FormatUint(seconds, 10)
	}
	return strconv.Itoa(usualWait)
}
