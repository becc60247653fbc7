package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"sync"

	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/web/product"
)

// products serves the product pages, and the page for addresses where nothing is.
type products struct {
	*product.Pages
	policy  string
	sharing edge.Sharing
}

// serve sends a page that was made for the request.
func (p *products) serve(w http.ResponseWriter, r *http.Request, page product.Page) {
	header := w.Header()
	writePolicies(header, p.policy)
	for name, values := range page.Header {
		header[name] = values
	}
	header.Add("Vary", "Accept-Encoding")
	header.Add("Vary", forwardedProto)
	edge.OneVary(header)
	header.Set("Cache-Control", "no-store")
	if page.Version != "" {
		if page.About == "" || !p.sharing.Allow(header, []string{page.About}) {
			header.Set("Cache-Control", mustAsk)
		}
		header.Set("ETag", `W/"`+page.Version+`"`)
		if matches(r.Header.Values("If-None-Match"), header.Get("ETag")) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := page.Body
	if len(body) > 0 && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		body = packFast(body)
	}
	if server, counts := w.(holder); counts {
		server.Hold(len(body))
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(page.Status)
	if r.Method != http.MethodHead {
		// A failure here is a client that went away. The headers are sent, so it cannot be reported.
		_, _ = w.Write(body)
	}
}

// holder is a server that counts what it holds for clients that read slowly. Files are held once
// for all clients, but a page that was made for a request is that client's.
type holder interface{ Hold(bytes int) }

// writers hold what compressing needs, some hundred kilobytes each.
var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// packFast returns content gzipped, for one answer.
func packFast(content []byte) []byte {
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	var packed bytes.Buffer
	w.Reset(&packed)
	// A buffer takes everything.
	_, _ = w.Write(content)
	_ = w.Close()
	return packed.Bytes()
}
