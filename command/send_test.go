package command_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// sent is the answer to a request.
type sent struct {
	status int
	proto  string
	header http.Header
	body   string
}

// send sends a request, and reads the whole answer. A body is JSON. Headers are such as "Accept:
// text/html"; it skips empty ones.
func send(ctx context.Context, client http.RoundTripper, method, address, body string, headers ...string) (sent, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return sent{}, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, line := range headers {
		if name, value, found := strings.Cut(line, ":"); found {
			request.Header[name] = []string{strings.TrimSpace(value)}
		}
	}
	request.Host = request.Header.Get("Host") // that of the address, if it is empty
	response, err := client.RoundTrip(request)
	if err != nil {
		return sent{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return sent{response.StatusCode, response.Proto, response.Header, string(text)}, err
}

// post sends the body of an operation, and returns the answer, which there must be.
func post(tb testing.TB, address, body string, headers ...string) sent {
	tb.Helper()
	return must.Get(send(context.Background(), http.DefaultTransport, http.MethodPost, address+"/graphql", body, headers...))(tb)
}

// operation is the body of a request.
func operation(query string, variables any) string {
	return mustJSON(map[string]any{"query": query, "variables": variables})
}

// bearer is the header with a token, or none.
func bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token
}
