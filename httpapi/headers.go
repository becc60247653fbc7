package httpapi

import (
	"mime"
	"net/http"
	"strings"
)

// single are the headers that may occur once, by their names as net/http has them. Of two, one reader
// may use the first and another the last: a proxy could check a different one than this server uses.
var single = []string{"Authorization", "Content-Encoding", "Content-Type", "Origin", "Sec-Fetch-Site"}

// checkSingle refuses requests that have such a header more than once.
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
	if refused := checkMediaType(header.Get("Content-Type")); refused != nil {
		return refused
	}
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return badEncoding
	}
	return nil
}

func checkMediaType(contentType string) *refusal {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "application/json" {
		return badType
	}
	if charset := strings.ToLower(parameters["charset"]); charset != "" && charset != "utf-8" && charset != "utf8" {
		return badCharset
	}
	return nil
}
