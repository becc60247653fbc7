package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The two types of answers that GraphQL over HTTP knows. Their statuses differ: see [transport.Do].
const (
	graphQLType = "application/graphql-response+json; charset=utf-8"
	jsonType    = "application/json; charset=utf-8"
)

// negotiated settles the headers that every answer carries, refusals too: its type, and that no one may keep it, which
// only the answer to a good GET takes back.
func negotiated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", answerType(r.Header.Values("Accept")))
		header.Add("Vary", "Accept")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// headAsGet has a HEAD answered as a GET: net/http leaves the body away.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(r.Context()) // a copy: the server's own must stay a HEAD
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// single are the headers that say one thing. Of two, one reader may take the first and another the last: a proxy could check
// another than the one that counts here.
var single = []string{"Authorization", "Content-Encoding", "Content-Type", "Origin", "Sec-Fetch-Site"}

// refuseTwice refuses requests that hold such a header more than once.
func refuseTwice(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range single {
			if len(r.Header.Values(name)) > 1 {
				givenTwice.with(name).write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// answerType chooses the type of the answer. The GraphQL type is for those who name it and like nothing of ours better, or
// who refuse plain JSON; everyone else gets plain JSON, also those who accept neither: an answer that a client may be able
// to read serves it better than a 406, and HTTP allows it (RFC 9110, 12.5.1).
func answerType(accept []string) string {
	ranges := strings.Split(strings.Join(accept, ","), ",")
	graphQL, named := weight(ranges, graphQLType)
	plain, _ := weight(ranges, jsonType)
	if graphQL > 0 && (named && graphQL >= plain || plain == 0) {
		return graphQLType
	}
	return jsonType
}

// weight is how much a list of media ranges wants a type, from 0 to 1: what its most specific range says. named tells
// whether that range is the type itself. Ranges that cannot be read count for nothing.
func weight(ranges []string, offered string) (q float64, named bool) {
	offered, _, _ = strings.Cut(offered, ";")
	specific := 0
	for _, mediaRange := range ranges {
		name, parameters, _ := strings.Cut(mediaRange, ";")
		if rank := specificity(strings.ToLower(strings.TrimSpace(name)), offered); rank > specific {
			specific, q = rank, quality(parameters)
		}
	}
	return q, specific == exact
}

// exact is the specificity of a range that is the type itself.
const exact = 3

// specificity ranks how closely a range fits a type; 0 is not at all.
func specificity(mediaRange, offered string) int {
	switch mediaRange {
	case offered:
		return exact
	case "application/*":
		return 2
	case "*/*":
		return 1
	}
	return 0
}

// quality is the weight among the parameters of a range: 1 when there is none that can be read.
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

// checkContentType sees that a body is JSON in UTF-8, as it is. A browser sends such a type to another site after a preflight
// only, so this is also what keeps forms of other sites out.
func checkContentType(header http.Header) *refusal {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return badType
	}
	if charset := strings.ToLower(parameters["charset"]); charset != "" && charset != "utf-8" && charset != "utf8" {
		return badCharset
	}
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return badEncoding
	}
	return nil
}
