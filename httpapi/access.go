package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/jub0bs/cors"
)

// preflightAge is how long a browser may remember that it may ask, in seconds. Chromium remembers no longer than this.
const preflightAge = 7200

// Origin is a web origin whose pages may read answers: "https://shop.example", one with a star for any subdomains or
// ports such as "https://*.shop.example" or "http://localhost:*", or "*" for all.
type Origin string

// AnyOrigin lets pages of every origin ask.
const AnyOrigin Origin = "*"

// UnmarshalText takes a well-formed origin only. Its error names the cure.
func (o *Origin) UnmarshalText(text []byte) error {
	if _, err := allow([]Origin{Origin(text)}); err != nil {
		return fmt.Errorf("%s (%s): give scheme and host as a browser's address bar does, such as https://shop.example or https://*.shop.example, or * for every origin",
			text, strings.TrimPrefix(err.Error(), "cors: "))
	}
	*o = Origin(text)
	return nil
}

// allow lets pages of some origins ask and read the answers, without cookies: the service knows none.
func allow(origins []Origin) (*cors.Middleware, error) {
	config := cors.Config{
		Methods: []string{http.MethodGet, http.MethodPost},
		// Clients send headers of many names for tracing and to say what they are. The star does not cover Authorization.
		RequestHeaders:  []string{"*", "Authorization"},
		ResponseHeaders: []string{"ETag", "Retry-After", requestIDHeader},
		MaxAgeInSeconds: preflightAge,
	}
	for _, origin := range origins {
		config.Origins = append(config.Origins, string(origin))
	}
	return cors.NewMiddleware(config)
}

// cors answers preflights and marks answers for pages of allowed origins. Without origins it does nothing, and so browsers let
// no page of another origin read an answer.
func (o Options) cors(next http.Handler) http.Handler {
	if len(o.Origins) == 0 {
		return next
	}
	allowed, err := allow(o.Origins)
	if err != nil {
		panic(err) // an Origin is checked where it is made
	}
	return allowed.Wrap(next)
}

// refuseCrossSite refuses what pages of other sites send, unless CORS, which comes before it, allowed their origin. A
// browser lets any page send simple requests without asking, from the network that the browser is in: they change
// nothing, but they cost reads, and how long they take tells something. What is no browser says nothing of sites and passes.
func refuseCrossSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowed := w.Header().Get("Access-Control-Allow-Origin") != ""
		if !allowed && isCrossSite(r) {
			crossSite.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isCrossSite goes by what browsers say of themselves, which a page cannot change. Browsers leave Sec-Fetch-Site away on plain
// HTTP; then a GET with the origin of another host is one, since to its own host a page sends GETs without. A POST carries its
// origin to its own host too, which behind a proxy may have another name here; its content type has protected it already.
func isCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		origin := r.Header.Get("Origin")
		return r.Method == http.MethodGet && origin != "" && hostOf(origin) != r.Host
	}
	return true
}

// hostOf is the host and port of an origin, empty when there is none.
func hostOf(origin string) string {
	address, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return address.Host
}
