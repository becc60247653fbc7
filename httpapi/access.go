package httpapi

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/jub0bs/cors"
)

// preflightAge is how long a browser may cache the answer to a preflight, in seconds. Chromium
// caches no longer than this.
const preflightAge = 7200

// Origin is a web origin whose pages may read answers, such as "https://shop.example". A star
// stands for any subdomains or any port, as in "https://*.shop.example" and "http://localhost:*";
// "*" alone is every origin.
type Origin string

// AnyOrigin allows the pages of every origin.
const AnyOrigin Origin = "*"

// UnmarshalText accepts a well-formed origin only. Its error says how to write one.
func (o *Origin) UnmarshalText(text []byte) error {
	if _, err := newCORS([]Origin{Origin(text)}); err != nil {
		return fmt.Errorf("%s (%s): give scheme and host as a browser's address bar does, such as https://shop.example or https://*.shop.example, or * for every origin",
			text, strings.TrimPrefix(err.Error(), "cors: "))
	}
	*o = Origin(text)
	return nil
}

// newCORS lets pages of some origins call the API and read its answers. Cookies are left out: the
// service uses none.
func newCORS(origins []Origin) (*cors.Middleware, error) {
	config := cors.Config{
		Methods: []string{http.MethodGet, http.MethodPost},
		// Clients send many headers, for tracing and to identify themselves. The star does not
		// cover Authorization.
		RequestHeaders:  []string{"*", "Authorization"},
		ResponseHeaders: []string{"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", requestIDHeader},
		MaxAgeInSeconds: preflightAge,
	}
	for _, origin := range origins {
		config.Origins = append(config.Origins, string(origin))
	}
	return cors.NewMiddleware(config)
}

// allow answers preflights and marks answers for pages of some origins. Without origins it does
// nothing, and browsers let no page of another origin read an answer.
func allow(origins []Origin) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if len(origins) == 0 {
			return next
		}
		allowed, err := newCORS(origins)
		if err != nil {
			panic(err) // an Origin is checked where it is read
		}
		return allowed.Wrap(next)
	}
}

// checkSite refuses requests that a page of another site sent, unless CORS, which comes before it,
// allowed the page's origin. A browser lets any page send simple requests, without a preflight,
// from the network that the browser is in. They change nothing, but they cost reads, and their
// timing leaks information. checkSite relies on headers that browsers set and pages cannot change.
// Clients other than browsers do not send these headers, and pass.
func checkSite(w http.ResponseWriter, r *http.Request) *refusal {
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		return nil
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return nil
	case "":
		// Browsers omit it over plain HTTP. There, a GET with the origin of another host is
		// cross-site: a page sends no origin with a GET to its own host. A POST always carries its
		// origin, whose name for this host may differ behind a proxy; its content type has already
		// protected it.
		origin := r.Header.Get("Origin")
		address, err := url.Parse(origin)
		if r.Method != http.MethodGet || origin == "" || err == nil && address.Host == r.Host {
			return nil
		}
	}
	return crossSite
}

// single are the headers that may occur once, by their canonical names. Of two headers, one reader
// may use the first and another the last: a proxy could check a different one than this server
// uses.
var single = []string{"Authorization", "Content-Encoding", "Content-Type", "Origin", "Sec-Fetch-Site"}

// checkSingle refuses requests that have one of these headers more than once.
func checkSingle(_ http.ResponseWriter, r *http.Request) *refusal {
	for _, name := range single {
		if len(r.Header[name]) > 1 {
			return givenTwice.with(name)
		}
	}
	return nil
}

// checkContentType accepts JSON in UTF-8, not compressed. It also keeps the forms of other sites
// out: a browser sends this content type to another site only after a preflight.
func checkContentType(header http.Header) *refusal {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, coding := strings.ToLower(parameters["charset"]), header.Get("Content-Encoding")
	switch {
	case err != nil || mediaType != "application/json":
		return badType
	case charset != "" && charset != "utf-8" && charset != "utf8":
		return badCharset
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return badEncoding
	}
	return nil
}
