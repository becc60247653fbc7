package httpapi

import (
	"net/http"

	"github.com/talkback/talkback/internal/edge"
)

// The two types of answers in GraphQL over HTTP. Their statuses differ: see [respond].
const (
	graphQLType = "application/graphql-response+json; charset=utf-8"
	jsonType    = "application/json; charset=utf-8"
)

// negotiated sets the headers of every answer, refusals included: its type, and that it may not be
// cached. Only a successful answer to a GET may override the latter. A HEAD is answered as a GET,
// whose body net/http omits.
func negotiated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(r.Context()) // a copy: the server's request must stay a HEAD
			r.Method = http.MethodGet
		}
		// A client gets the GraphQL type if it names that and does not prefer plain JSON, or if it
		// refuses plain JSON. Every other client gets plain JSON, even one that accepts neither type: it
		// may still be able to read the answer, which serves it better than a 406. RFC 9110, 12.5.1,
		// allows this.
		kind := jsonType
		graphQL, named := edge.Weight(r.Header.Values("Accept"), graphQLType)
		plain, _ := edge.Weight(r.Header.Values("Accept"), jsonType)
		if graphQL > 0 && (named && graphQL >= plain || plain == 0) {
			kind = graphQLType
		}
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Add("Vary", "Accept, Authorization") // the field viewer depends on who asks
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
