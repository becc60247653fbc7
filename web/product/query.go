package product

import (
	_ "embed"
	"slices"
	"strconv"
	"time"

	"github.com/talkback/talkback/web/inprocess"
)

// operation is the GraphQL operation of a product page.
//
//go:embed product.graphql
var operation string

// variables of the operation. Those without a value are left out, which the API tells from null.
type variables struct {
	ID         string  `json:"id"`
	First      int     `json:"first,omitempty"`
	After      string  `json:"after,omitempty"`
	Last       int     `json:"last,omitempty"`
	Before     string  `json:"before,omitempty"`
	Page       int     `json:"page,omitempty"`
	Filter     *filter `json:"filter,omitempty"`
	Facets     *filter `json:"facets,omitempty"`
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
	v := variables{ID: s.Product, Filter: s.filter(s.Ratings), Facets: s.filter(nil), Highlights: s.isFirst()}
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
	v.Chips = state{Only: s.Only}.filter(s.Ratings) // languages are not counted by dates
	v.Narrowed = v.Chips != nil
	return v
}

// orderNames are the names of orders in the schema.
var orderNames = map[string]string{"oldest": "OLDEST_FIRST", "highest": "HIGHEST_RATED", "lowest": "LOWEST_RATED", "helpful": "MOST_HELPFUL"}

// filter returns the filter by languages, traits and days, with ratings; nil if it lets everything pass.
func (s state) filter(ratings []int) *filter {
	f := filter{Languages: s.Languages, Ratings: ratings, Verified: slices.Contains(s.Only, "verified"), WithMedia: slices.Contains(s.Only, "media")}
	if s.From != "" {
		f.CreatedAfter = s.From + "T00:00:00Z"
	}
	if s.To != "" {
		f.CreatedBefore = dayAfter(s.To) + "T00:00:00Z"
	}
	if len(f.Languages)+len(f.Ratings)+len(s.Only) == 0 && s.From == "" && s.To == "" {
		return nil
	}
	return &f
}

// dayAfter returns the next day. The day is one that parseDay let pass.
func dayAfter(day string) string {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return date.AddDate(0, 0, 1).Format(time.DateOnly)
}

// usualWait is what Retry-After says if the API names no time, in seconds.
const usualWait = 5

// retryAfter returns the seconds after which to retry: those that the API names, if they are any.
func retryAfter(r inprocess.Reply) string {
	if seconds, err := strconv.ParseUint(r.RetryAfter, 10, 31); err == nil {
		return strconv.FormatUint(seconds, 10)
	}
	return strconv.Itoa(usualWait)
}
