package web

import (
	"compress/gzip"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"sync"

	"github.com/talkback/talkback/internal/edge"
)

// serve sends a page that was made for the request: that of a product, or for an unknown address.
func (s site) serve(w http.ResponseWriter, r *http.Request, page productPage) {
	header := w.Header()
	writePolicies(header, s.policy)
	maps.Copy(header, page.Header)
	header.Add("Vary", "Accept-Encoding")
	header.Add("Vary", forwardedProto)
	edge.OneVary(header)
	header.Set("Cache-Control", "no-store")
	if page.Version != "" {
		if page.About == "" || !s.sharing.Allow(header, []string{page.About}) {
			header.Set("Cache-Control", mustAsk)
		}
		header.Set("ETag", `W/"`+page.Version+`"`)
		if edge.Matches(r.Header.Values("If-None-Match"), header.Get("ETag")) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := page.Body
	if len(body) > 0 && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		fast := writers.Get().(*gzip.Writer)
		body = packBy(fast, body)
		writers.Put(fast)
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

// holder is the answer of a server that counts the bytes it holds for slow clients. All clients
// share the bytes of a file, but a page made for a request counts for its client.
type holder interface{ Hold(bytes int) }

// writers pools gzip writers, which take some hundred kilobytes each.
var writers = sync.Pool{New: func() any { return mustHave(gzip.NewWriterLevel(nil, gzip.BestSpeed)) }}

// usualAddress is the address of a server if the request does not have it.
const usualAddress = "http://localhost:8080"

// addressOf returns the address by which a request reached the server. A Host header that is no
// valid host is replaced by the address of the connection.
func addressOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get(forwardedProto) == "https" {
		scheme = "https"
	}
	if isHost(r.Host) {
		return scheme + "://" + r.Host
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isHost(local.String()) {
		return scheme + "://" + local.String()
	}
	return usualAddress
}

// forwardedProto is the header by which a proxy that ends TLS passes on the scheme of a request.
const forwardedProto = "X-Forwarded-Proto"

// hostForm is a host, perhaps with a port: a name or an IPv4 address, or an IPv6 address in
// brackets.
var hostForm = regexp.MustCompile(`^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?$`)

// isHost reports whether a text is a host that a quoted word of a shell command can hold as it is.
func isHost(text string) bool {
	parts := hostForm.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	if ip := parts[1]; ip != "" {
		if _, err := netip.ParseAddr(ip); err != nil {
			return false
		}
	}
	_, err := strconv.ParseUint(parts[2], 10, 16)
	return parts[2] == "" || err == nil
}
