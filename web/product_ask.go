package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// apiResponse is an HTTP response of the API, as a handler in the same process writes it.
type apiResponse struct {
	Status int
	Body   []byte
	header http.Header
}

// Header implements [http.ResponseWriter].
func (r *apiResponse) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *apiResponse) WriteHeader(status int) { r.Status = status }

// Write implements [http.ResponseWriter].
func (r *apiResponse) Write(p []byte) (int, error) {
	r.Body = append(r.Body, p...)
	return len(p), nil
}

// askAPI sends an operation to the API from within the server, as any client would: all limits
// apply to it. The variables are anything that can be encoded as JSON.
//
// The request has the address of the one for the page, which decides who may write on a server
// without tokens. It carries no token: a page is the same for everyone, and may be cached.
func askAPI(ctx context.Context, api http.Handler, page *http.Request, operation string, variables any) apiResponse {
	r := requestOf(ctx, operation, variables)
	r.Host, r.RemoteAddr, r.TLS = page.Host, page.RemoteAddr, page.TLS
	for name, values := range page.Header {
		// A proxy says by these where a request came from.
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			r.Header[name] = values
		}
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = page.Proto, page.ProtoMajor, page.ProtoMinor
	return send(api, r)
}

// askForAll is ask for content that everyone sees. The request has no address: no client is charged
// for it, and a client at its limit does not fail it for others.
func askForAll(ctx context.Context, api http.Handler, operation string, variables any) apiResponse {
	return send(api, requestOf(ctx, operation, variables))
}

// requestOf makes a request of an operation.
func requestOf(ctx context.Context, operation string, variables any) *http.Request {
	body := mustHave(json.Marshal(struct {
		Query     string `json:"query"`
		Variables any    `json:"variables"`
	}{operation, variables}))
	r := mustHave(http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	return r
}

func send(api http.Handler, r *http.Request) apiResponse {
	answer := apiResponse{Status: http.StatusOK, header: http.Header{}}
	api.ServeHTTP(&answer, r)
	return answer
}
