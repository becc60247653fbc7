package product

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
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
	Order      string  `json:"order,omitempty"`
	Highlights bool    `json:"highlights"`
}

// filter is a CommentFilter of the schema.
type filter struct {
	Languages     []string `json:"languages,omitempty"`
	Ratings       []int    `json:"ratings,omitempty"`
	CreatedAfter  string   `json:"createdAfter,omitempty"`
	CreatedBefore string   `json:"createdBefore,omitempty"`
}

// variables returns what the operation is asked with.
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
	if s.Oldest {
		v.Order = "OLDEST_FIRST"
	}
	return v
}

// filter returns the filter by languages and days, with ratings; nil if it lets everything pass.
func (s state) filter(ratings []int) *filter {
	f := filter{Languages: s.Languages, Ratings: ratings}
	if s.From != "" {
		f.CreatedAfter = s.From + "T00:00:00Z"
	}
	if s.To != "" {
		f.CreatedBefore = dayAfter(s.To) + "T00:00:00Z"
	}
	if len(f.Languages)+len(f.Ratings) == 0 && s.From == "" && s.To == "" {
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

// reply is what the API said, as HTTP has it.
type reply struct {
	status     int
	retryAfter string // empty if it does not say
	body       []byte
}

// ask sends the operation to the API, within the process but as any client would: it passes every
// limit. The request comes from where the page was asked from, which decides who may write on a
// server without tokens. It carries no token: a page is the same for everyone, and may be cached.
func ask(ctx context.Context, api http.Handler, page *http.Request, v variables) reply {
	body, err := json.Marshal(struct {
		Query     string    `json:"query"`
		Variables variables `json:"variables"`
	}{operation, v})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	if err != nil {
		panic(err) // the method and the address are constants
	}
	r.Host, r.RemoteAddr, r.TLS = page.Host, page.RemoteAddr, page.TLS
	for name, values := range page.Header {
		if tellsOrigin(name) {
			r.Header[name] = values
		}
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = page.Proto, page.ProtoMajor, page.ProtoMinor
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	api.ServeHTTP(w, r)
	return reply{w.status, w.header.Get("Retry-After"), w.body.Bytes()}
}

// tellsOrigin reports whether a proxy says by a header where a request came from.
func tellsOrigin(name string) bool {
	return name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-")
}

// recorder takes the answer of a handler in the same process.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements [http.ResponseWriter].
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

// usualWait is what Retry-After says if the API names no time, in seconds.
const usualWait = 5

// wait returns the seconds after which to try again: those that the API names, if they are any.
func (r reply) wait() string {
	if seconds, err := strconv.ParseUint(r.retryAfter, 10, 31); err == nil {
		return strconv.FormatUint(seconds, 10)
	}
	return strconv.Itoa(usualWait)
}
