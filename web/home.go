package web

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"sync"
	"time"
)

const (
	// homeKeptFor is how long answers of the API are shown before they are refreshed.
	homeKeptFor = 10 * time.Second
	// homeTimeout bounds the time that the API has for all answers. The page is shown without them
	// then.
	homeTimeout = 3 * time.Second
)

//go:embed home/page.html
var homeText string

var homeTemplate = template.Must(template.New("home").Parse(homeText))

// homePage is the home page of one API: a query and its live answer, in the code of several
// clients, and the products that customers like best. The API's answers are kept for some seconds
// and shown to everyone, so that reading the page costs the table next to nothing. Its code has the
// address of the server from the request, so that copies of it work for the reader. Safe for
// concurrent use.
type homePage struct {
	api    http.Handler
	pages  *productPages
	policy string // that of the element
	schema bool   // the server shows its schema

	mu       sync.Mutex
	snapshot *snapshot // nil before the first request
	address  string    // of the server, in the last page; nearly all requests have the same
	last     *asset    // the page of the snapshot, nil before it is made
}

// at returns the page for a request. Its answers are at most some seconds old. While one request
// asks for new ones, others wait for these.
func (h *homePage) at(r *http.Request) *asset {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.snapshot == nil || time.Since(h.snapshot.at) > homeKeptFor {
		// A reader who goes away does not leave the next one with half an answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), homeTimeout)
		defer cancel()
		h.snapshot, h.last = take(ctx, h.api), nil
		h.snapshot.widget = h.pages.Widget(ctx, h.snapshot.product)
		h.snapshot.named = h.pages.Catalog.Find(ctx, h.snapshot.products()...)
	}
	if address := addressOf(r); h.last == nil || h.address != address {
		view := viewOf(h.snapshot, address)
		view.Schema, view.Guides = h.schema, guideLinks()
		var content bytes.Buffer
		if err := homeTemplate.Execute(&content, view); err != nil {
			panic(err) // the template is tested with everything that a snapshot can have
		}
		h.address, h.last = address, newAsset("index.html", content.Bytes(), h.policy, mustAsk)
	}
	return h.last
}
