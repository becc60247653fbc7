package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// timeout bounds the request to the API. A person does not wait longer.
const timeout = 8 * time.Second

// productPages are the product pages of one API: everything that a shop shows about the comments of
// one product, with links that work without JavaScript and that search engines follow. Safe for
// concurrent use.
//
// A page has an element, <talkback-comments>, whose inside the server writes as a declarative
// shadow root. The element's script takes over the same DOM when it arrives. An address becomes a
// state, one request to the API answers it, a view decides every text and link, and a template
// writes them.
type productPages struct {
	api     http.Handler
	style   template.CSS
	build   string // changes with everything that renders an answer
	timeout time.Duration

	// styleHash is the source that a Content-Security-Policy allows for the style of the element, such
	// as "sha256-47DEQ...".
	styleHash string
	// Those of Options.
	Catalog     *Catalog
	Plans, Live bool
	Layout      *Layout
}

// newProductPages returns pages whose comments the API answers. The style is the CSS of the
// element.
func newProductPages(api http.Handler, style []byte) *productPages {
	sum := sha256.Sum256(style)
	return &productPages{
		api:       api,
		style:     template.CSS(style),
		styleHash: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
		build:     buildVersion(style),
		timeout:   timeout,
	}
}

// productPage is a complete answer.
type productPage struct {
	Status int
	// Header has the headers of the page besides its length and its policies.
	Header http.Header
	Body   []byte
	// Version changes with the content of the page, but not with the times of reading it. It is empty
	// for a page that must not be cached.
	Version string
	// About is the product of a page that is the same for everyone; empty for any other page.
	About string
}

// document is what the template of a page shows.
type document struct {
	Lang, Dir          string
	Title, Description string
	Image              string // of the product, which previews of a shared address show
	Texts              string // of the element, where they are; empty if its script has them
	Heading, Below     string
	Text               string
	NoIndex            bool
	Canonical          string
	Previous, Next     string
	Structured         template.JS
	Element            *element
	Product, Name      string // of the page of a product
	Talkback           bool   // the page has the header of Talkback
}

// element is the data of the template of the element, and of the HTML around it.
type element struct {
	Product string
	Style   template.CSS
	View    view
	State   template.JS

	Navigate, Explain, Live bool
}

// Product answers a request for the page of a product. The base is the scheme and the host by which
// the request reached the server, such as "https://shop.example".
func (p *productPages) Product(r *http.Request, base string) productPage {
	t := textsFor(r.Header.Get("Accept-Language"))
	s, ok := parseState(r.URL)
	if !ok {
		return p.missing(t, "missing.text")
	}
	reply, a, known := p.read(r, s)
	if !known {
		return p.missing(t, "missing.product")
	}
	var named Product
	if a.Data.Product != nil { // a request that the API refuses costs the shop no fetch either
		named = p.Catalog.Find(r.Context(), s.Product)[s.Product]
	}
	status := statusOf(s, a, reply)
	page := p.render(status, t, p.document(t, s, a, named, reply.Body, base, status == http.StatusOK))
	return p.complete(page, t, s, a, named, base, reply)
}

// read asks the API for the comments of a state. known is false if no product can have the id.
func (p *productPages) read(r *http.Request, s state) (reply apiResponse, a answer, known bool) {
	ctx, cancel := context.WithTimeout(r.Context(), p.timeout)
	defer cancel()
	reply = askAPI(ctx, p.api, r, operation, s.variables())
	a = parseAnswer(s, reply.Body)
	// A body is too large because of the id, the only value without a bound.
	return reply, a, !a.refuses("product") && a.code("product") != "BODY_TOO_LARGE"
}

// complete adds what caches and clients have to know of a page.
func (p *productPages) complete(page productPage, t *texts, s state, a answer, named Product, base string, reply apiResponse) productPage {
	switch page.Status {
	case http.StatusOK:
		page.Version = p.version(t, s, a, named, base)
		// On a server without tokens, readers on its own machine may write, so their answer differs.
		if may := a.Data.Viewer.MayWrite; len(a.Errors) == 0 && may != nil && !*may {
			page.About = s.Product
		}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		page.Header.Set("Retry-After", retryAfter(reply))
	}
	return page
}

// Widget returns the element with the first comments of a product, in English, to stand on a page
// that everyone sees. It is empty without comments.
func (p *productPages) Widget(ctx context.Context, id string) template.HTML {
	s := state{Product: id, Page: 1}
	reply := askForAll(ctx, p.api, operation, s.variables())
	a := parseAnswer(s, reply.Body)
	if product := a.Data.Product; product == nil || product.List == nil || product.empty() {
		return ""
	}
	shown := englishTexts.viewOf(s, a)
	shown.Plan = nil
	return template.HTML(execute(englishTexts, "comments", element{Product: id, Style: p.style, View: shown, State: embedded(englishTexts, s, reply.Body)}))
}

// NotFound answers a request for an unknown address of the site.
func (p *productPages) NotFound(r *http.Request) productPage {
	return p.missing(textsFor(r.Header.Get("Accept-Language")), "missing.text")
}

// missing returns the page for an unknown address, with the reason.
func (p *productPages) missing(t *texts, reason string) productPage {
	return p.render(http.StatusNotFound, t, document{
		Lang: t.lang, Dir: t.dir(), Title: t.say("missing.title"), Heading: t.say("missing.title"), Text: t.say(reason), NoIndex: true,
	})
}

// lasting are codes of errors that persist after a retry. Visitors did not cause them on the first
// page: the operation is ours.
var lasting = append([]string{"QUERY_TOO_LONG", "INTERNAL"}, refusals...)

// statusOf returns the status of the page of an answer.
func statusOf(s state, a answer, reply apiResponse) int {
	product, code := a.Data.Product, a.code("product", "list")
	unread := product == nil || product.List == nil
	switch {
	case reply.Status == http.StatusTooManyRequests:
		return reply.Status
	case unread && slices.Contains(refusals, code) && !s.isFirst(): // a retry would be refused too
		return http.StatusBadRequest
	case unread && slices.Contains(lasting, code):
		return http.StatusInternalServerError
	case unread:
		return http.StatusServiceUnavailable
	case s.beyond(product.List):
		return http.StatusNotFound
	}
	return http.StatusOK
}

// document decides what the page shows. Search engines are to list complete pages only.
func (p *productPages) document(t *texts, s state, a answer, named Product, body []byte, base string, whole bool) document {
	product, called := a.Data.Product, cmp.Or(named.Name, s.Product)
	d := document{
		Lang: t.lang, Dir: t.dir(), Title: t.say("page.title", "product", called), Description: t.description(product, called),
		Heading: t.say("page.heading"), Below: t.say("page.product", "product", s.Product),
		NoIndex:   !whole || !s.listed() || product.empty(),
		Canonical: base + s.canonical().address(),
		Element:   &element{Product: s.Product, Style: p.style, View: t.viewOf(s, a), State: embedded(t, s, body), Navigate: true, Explain: p.Plans, Live: p.Live},
		Product:   s.Product, Name: called, Image: named.Image,
	}
	if s.Page > 1 {
		d.Title = t.say("page.title.number", "product", called, "n", t.number(s.Page))
	}
	if !p.Plans {
		d.Element.View.Plan = nil
	}
	if named.Name != "" {
		d.Heading, d.Below = named.Name, t.say("page.heading")
	}
	if t != englishTexts {
		d.Texts = textsPath(t.lang)
	}
	if pages := d.Element.View.Pages; pages != nil {
		d.Previous, d.Next = pages.Previous, pages.Next
	}
	if !d.NoIndex {
		d.Structured = template.JS(structuredData(product, named, d.Canonical))
	}
	return d
}

func (t *texts) description(p *product, called string) string {
	if p == nil || p.Stats == nil || p.Stats.Average == nil {
		return ""
	}
	return t.say("page.description", "product", called,
		"comments", t.count("comments", p.Stats.Total),
		"stars", t.averageStars(*p.Stats.Average).Label)
}

// embedded returns the initial state of the element: the query and its answer. It is JSON that can
// stand in a script element: the characters that could end it are escaped.
func embedded(t *texts, s state, body []byte) template.JS {
	var said struct { // without the cost, which is only for the client of the request
		Data   json.RawMessage `json:"data"`
		Errors json.RawMessage `json:"errors,omitempty"`
	}
	if json.Unmarshal(body, &said) != nil {
		said.Errors = json.RawMessage("[]")
	}
	return template.JS(mustHave(json.Marshal(struct {
		Locale    string    `json:"locale"`
		Query     string    `json:"query"`
		Variables variables `json:"variables"`
		Answer    any       `json:"answer"`
	}{t.lang, s.query(), s.variables(), said})))
}

// version identifies the content of the page, without the times and costs of reading it.
func (p *productPages) version(t *texts, s state, a answer, named Product, base string) string {
	said := *a.Data.Product
	list := *said.List
	list.Plan = plan{}
	said.List = &list
	layout := ""
	if p.Layout != nil {
		layout = p.Layout.source
	}
	content := mustHave(json.Marshal([]any{p.build, p.Plans, p.Live, layout, t.lang, s, base, named, said, a.Data.Viewer, a.Errors}))
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// render writes a page.
func (p *productPages) render(status int, t *texts, d document) productPage {
	d.Talkback = p.Plans
	if l := p.Layout; l != nil {
		head, content := template.HTML(execute(t, "head", d)), template.HTML(execute(t, "content", d))
		var around bytes.Buffer
		err := l.template.Execute(&around, layoutView{d.Lang, d.Dir, d.Title, d.Product, d.Name, head, content})
		if err == nil {
			return pageOf(status, t, around.Bytes())
		}
		// It fails, for example, on the length of a name.
		l.log.Error("the template of pages failed; the page was shown without it", "error", located(err))
	}
	return pageOf(status, t, execute(t, "page", d))
}

// pageOf returns a page in the language of its reader.
func pageOf(status int, t *texts, body []byte) productPage {
	return productPage{
		Status: status,
		Header: http.Header{
			"Content-Type":     {"text/html; charset=utf-8"},
			"Content-Language": {t.lang},
			"Vary":             {"Accept-Language"},
		},
		Body: body,
	}
}

// insideSuffix ends the path of the inside of an element, after the path of its product's page.
const insideSuffix = "/element"

// Inside answers a request for the inside of the element, which the server of a shop puts into a
// page of its own. The query is that of the shop's page, and its parameter path is the path of that
// page.
func (p *productPages) Inside(r *http.Request) productPage {
	t := textsFor(r.Header.Get("Accept-Language"))
	address := *r.URL
	address.RawPath = strings.TrimSuffix(r.URL.EscapedPath(), insideSuffix)
	address.Path, _ = url.PathUnescape(address.RawPath)
	s, ok := parseState(&address)
	s.Path = r.URL.Query().Get("path")
	if !ok {
		return plain(http.StatusNotFound, "no product has this address")
	}
	if s.Path != "" && (!strings.HasPrefix(s.Path, "/") || strings.HasPrefix(s.Path, "//")) {
		return plain(http.StatusBadRequest, "path has to be the path of the page, which begins with one slash, such as path=/shop/lamp")
	}
	reply, a, known := p.read(r, s)
	if !known {
		return plain(http.StatusNotFound, "no product can have this id")
	}
	e := element{Product: s.Product, Style: p.style, View: t.viewOf(s, a), State: embedded(t, s, reply.Body)}
	e.View.Plan = nil
	page := p.complete(pageOf(statusOf(s, a, reply), t, execute(t, "inside", e)), t, s, a, Product{}, s.Path, reply)
	page.Header.Set("X-Robots-Tag", "noindex")
	return page
}

// plain returns an answer to a program, with a text for its developer.
func plain(status int, text string) productPage {
	return productPage{Status: status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: append([]byte(text), '\n')}
}
