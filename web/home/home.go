// Package home makes the home page: a query and its live answer, in the words of several clients,
// and the products that customers like best.
//
// What the page shows of comments comes from the API, as any client gets it. The answers are kept
// for some seconds and shown to everyone who asks for the page, so that reading it costs the table
// next to nothing, however often that happens.
package home

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/talkback/talkback/web/inprocess"
)

const (
	// keptFor is how long answers of the API are shown before it is asked again.
	keptFor = 10 * time.Second

	// patience bounds the time that the API has for all answers. The page is shown without them
	// then.
	patience = 3 * time.Second
)

// Home is the home page of one API. Safe for concurrent use.
type Home struct {
	api     http.Handler
	options Options

	mu   sync.Mutex
	last *Snapshot // nil before the first request
}

// New returns the home page of an API, which is asked at /graphql.
func New(api http.Handler, options Options) *Home {
	return &Home{api: api, options: options}
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Page makes the page of a snapshot. The address is that of the server as the request names it, such
// as "https://shop.example"; it stands in what readers copy.
func (h *Home) Page(s *Snapshot, address string) ([]byte, error) {
	var made bytes.Buffer
	err := page.Execute(&made, viewOf(s, address, h.options))
	return made.Bytes(), err
}

// Snapshot returns answers that are at most some seconds old. While one request asks for new ones,
// others wait for these.
func (h *Home) Snapshot(r *http.Request) *Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil || time.Since(h.last.at) > keptFor {
		// A reader who goes away does not leave the next one with half an answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
		defer cancel()
		h.last = take(func(operation string, variables map[string]string) reply {
			return reply{inprocess.AskForAll(ctx, h.api, operation, variables)}
		})
	}
	return h.last
}
