package product

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/talkback/talkback/web/catalog"
	"github.com/talkback/talkback/web/inprocess"
)

// InsideSuffix is what the path of the inside of an element has behind that of its product.
const InsideSuffix = "/element"

// Inside answers a request for the inside of the element, which the server of a shop puts into a page
// of its own. The query is that of this page, and path is the page's path. A choice that no list has
// gives way to all comments: a redirect would only reach the shop's server.
func (p *Pages) Inside(r *http.Request) Page {
	t := textsFor(r.Header.Get("Accept-Language"))
	s, ok := parseInside(r.URL)
	if !ok {
		return plain(http.StatusNotFound, "no product has this address")
	}
	if s.Path != "" && (!strings.HasPrefix(s.Path, "/") || strings.HasPrefix(s.Path, "//")) {
		return plain(http.StatusBadRequest, "path has to be the path of the page, which begins with one slash, such as path=/shop/lamp")
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.timeout)
	defer cancel()
	reply := inprocess.Ask(ctx, p.api, r, operation, s.variables())
	a := parseAnswer(reply.Body)
	if a.refusesList() && !s.isFirst() {
		s = s.all()
		reply = inprocess.Ask(ctx, p.api, r, operation, s.variables())
		a = parseAnswer(reply.Body)
	}
	if a.refuses("product") || a.code("product") == "BODY_TOO_LARGE" {
		return plain(http.StatusNotFound, "no product can have this id")
	}
	return p.inside(t, s, a, reply)
}

// inside makes the inside of an element of an answer.
func (p *Pages) inside(t *texts, s state, a answer, reply inprocess.Reply) Page {
	e := element{Product: s.Product, Style: p.style, View: t.shown(s, a), State: embedded(t, s, reply.Body)}
	e.View.Plan = nil
	page := pageOf(statusOf(s, a, reply), t, executed(t, "inside", e))
	switch page.Status {
	case http.StatusOK:
		page.Version, page.About = p.version(t, s, a, catalog.Product{}, s.Path), a.about(s)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		page.Header.Set("Retry-After", retryAfter(reply))
	}
	page.Header.Set("X-Robots-Tag", "noindex")
	return page
}

// parseInside reads the address of the inside of an element.
func parseInside(address *url.URL) (state, bool) {
	product := *address
	product.RawPath = strings.TrimSuffix(address.EscapedPath(), InsideSuffix)
	product.Path, _ = url.PathUnescape(product.RawPath)
	s, ok := parseState(&product)
	s.Path = address.Query().Get("path")
	return s, ok
}

// plain is an answer to a program, in words for its developer.
func plain(status int, text string) Page {
	return Page{Status: status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: append([]byte(text), '\n')}
}
