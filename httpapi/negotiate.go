package httpapi

import (
	"net/http"
	"strconv"
	"strings"
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
		header := w.Header()
		header.Set("Content-Type", answerType(r.Header.Values("Accept")))
		header.Add("Vary", "Accept, Authorization") // the field viewer depends on who asks
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// answerType chooses the type of the answer. A client gets the GraphQL type if it names that and
// does not prefer plain JSON, or if it refuses plain JSON. Every other client gets plain JSON, even
// one that accepts neither type: it may still be able to read the answer, which serves it better
// than a 406. RFC 9110, 12.5.1, allows this.
func answerType(accept []string) string {
	graphQL, named := weight(accept, graphQLType)
	plain, _ := weight(accept, jsonType)
	if graphQL > 0 && (named && graphQL >= plain || plain == 0) {
		return graphQLType
	}
	return jsonType
}

// exact is the rank of a media range that names a type itself.
const exact = 3

// weight returns the weight of a type, from 0 to 1, by the most specific of the media ranges in
// some lists. It also reports whether that range names the type itself. Malformed ranges are
// skipped.
func weight(lists []string, offered string) (q float64, named bool) {
	offered, _, _ = strings.Cut(offered, ";")
	specific := 0
	for _, list := range lists {
		for mediaRange := range strings.SplitSeq(list, ",") {
			name, parameters, _ := strings.Cut(mediaRange, ";")
			rank := 0 // how closely the range matches the type, 0 for no match
			switch strings.ToLower(strings.TrimSpace(name)) {
			case offered:
				rank = exact
			case "application/*":
				rank = 2
			case "*/*":
				rank = 1
			}
			if rank > specific {
				specific, q = rank, quality(parameters)
			}
		}
	}
	return q, specific == exact
}

// quality returns the weight in the parameters of a range, 1 if there is none or it is malformed.
func quality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
	}
	return 1
}
