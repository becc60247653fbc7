package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// link is a link of the page.
type link struct{ Text, Address string }

// homeView is what the template of the home page shows.
type homeView struct {
	Schema   bool
	Guides   []link
	State    string // "live", "empty" or "away"
	Product  string // leads to its page; empty if there is none to show
	Called   string // its name, or its id
	Widget   template.HTML
	Explorer string // where the query is opened
	Snippets []snippet
	Embed    string
	Answer   []span
	Status   string   // of the answer, as HTTP has it
	Figures  []string // what the answer cost
	Price    string   // the same, for a million answers
	Summary  []string // of its plan, by lines
	Leaders  []row
	Boards   []languageRows
}

// row is a product of a leaderboard.
type row struct {
	Rank    int
	Product string
	Address string
	Count   string
	Value   int // the same, for the bar
	Most    int // of the first
	Average string
	Total   string
}

// languageRows is the leaderboard of a language.
type languageRows struct {
	Language, Name string
	Rows           []row
}

// viewOf decides what the page shows of a snapshot.
func viewOf(s *snapshot, address string) homeView {
	status := s.answer.Status // that of the first answer that was not what the page needs
	if s.leaders == nil {
		status = s.leadersStatus
	}
	v := homeView{
		State:    s.state(),
		Explorer: "/playground?" + url.Values{"query": {showcase}, "variables": {encoded(map[string]string{"id": s.product})}}.Encode(),
		Snippets: snippets(address, s.product),
		Embed:    embedding(address, s.product),
		Answer:   printed(s.answer.Body),
		Status:   strconv.Itoa(status) + " " + http.StatusText(status),
		Leaders:  s.rows(s.leaders),
	}
	if v.State == "live" {
		v.Product, v.Called, v.Widget = productAddress(s.product), cmp.Or(s.named[s.product].Name, s.product), s.widget
		v.Figures, v.Price, v.Summary = s.cost()
	}
	for _, b := range s.byLanguage {
		v.Boards = append(v.Boards, languageRows{b.language, englishTexts.languageName(b.language), s.rows(b.leaders)})
	}
	return v
}

// state returns "live" if the page has comments to show, "empty" if there are none, and "away" if
// the answers do not tell.
func (s *snapshot) state() string {
	shown := s.shown.Data.Product
	if shown == nil || shown.Comments == nil {
		return "away"
	}
	// A first comment is listed before it is counted.
	hasComments := len(shown.Comments.Nodes) > 0 || shown.Stats != nil && shown.Stats.Total > 0
	switch {
	case s.leaders == nil && !hasComments:
		return "away" // this product is of the sample data; others may have comments
	case len(s.leaders) == 0 && !hasComments:
		return "empty"
	}
	return "live"
}

// cost returns what the answer to the showcase cost, as figures, as a sentence for people who do
// not know read units, and as the lines of its plan.
func (s *snapshot) cost() (figures []string, price string, summary []string) {
	units, plan := s.shown.Extensions.Cost.ReadUnits, s.shown.Data.Product.Comments.Plan
	figures = []string{
		decimal(float64(s.took.Microseconds())/1000) + " ms",
		amount(units, "read unit"),
		amount(float64(plan.Waves), "wave"),
	}
	trips := "in one round trip"
	if plan.Waves != 1 {
		trips = fmt.Sprintf("in %d round trips", plan.Waves)
	}
	price = fmt.Sprintf("DynamoDB answered %s. A million such views cost $%.2f by its list price.", trips, units*millionUnits)
	for line := range strings.Lines(plan.Summary) {
		summary = append(summary, strings.TrimSpace(line))
	}
	return figures, price, summary
}

// millionUnits is what a million read units cost in dollars, by DynamoDB's list price on demand in
// us-east-1.
const millionUnits = 0.125

// rows returns the entries of a leaderboard, with the names of products.
func (s *snapshot) rows(entries []entry) []row {
	var all []row
	for _, e := range entries {
		r := row{
			Rank: e.Rank, Product: cmp.Or(s.named[e.Product.ID].Name, e.Product.ID), Address: productAddress(e.Product.ID),
			Count: englishTexts.number(e.Count), Value: e.Count, Most: entries[0].Count,
		}
		if stats := e.Product.Stats; stats != nil && stats.Average != nil {
			r.Average, r.Total = englishTexts.decimal(tenths(*stats.Average)), englishTexts.number(stats.Total)
		}
		all = append(all, r)
	}
	return all
}

// productAddress returns the path of a product's page.
func productAddress(id string) string { return "/products/" + url.PathEscape(id) }

// decimal returns a number with one decimal, unless that is a zero.
func decimal(number float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(number, 'f', 1, 64), ".0")
}

// amount returns a number of things.
func amount(number float64, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return decimal(number) + " " + thing + "s"
}
