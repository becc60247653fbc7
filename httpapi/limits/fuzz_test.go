package limits_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// FuzzRequest sends any body. The answer is JSON, and never an internal error. The corpus in
// testdata has bodies that once caused one.
func FuzzRequest(f *testing.F) {
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	for _, a := range attacks(f) {
		if len(a.body) < 2000 {
			f.Add(a.body)
		}
	}
	paths, err := filepath.Glob("../../web/explorer/examples/*.graphql")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, path := range paths {
		query := must.Get(os.ReadFile(path))(f)
		f.Add(envelope(f, string(query), nil))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		status, raw := post(handler, body)
		if status >= http.StatusInternalServerError {
			t.Errorf("status %d: %s", status, raw)
		}
		if !json.Valid(raw) {
			t.Errorf("no JSON: %q", raw)
		}
		for _, err := range decode(t, raw).Errors {
			if err.Extensions.Code == "INTERNAL" {
				t.Errorf("a client's doing became a fault of ours: %s", raw)
			}
		}
	})
}

// FuzzQuery does the same with the text of a query, which mutates better without JSON around it.
func FuzzQuery(f *testing.F) {
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	for _, a := range attacks(f) {
		var body struct{ Query string }
		if json.Unmarshal(a.body, &body) == nil && len(body.Query) < 1000 {
			f.Add(body.Query, `{"a":null,"f":{"ratings":[1]},"n":1}`)
		}
	}
	f.Fuzz(func(t *testing.T, query, variables string) {
		if !json.Valid([]byte(variables)) {
			variables = "null"
		}
		start := processorTime(t)
		status, raw := post(handler, envelope(t, query, json.RawMessage(variables)))
		if took := processorTime(t) - start; took > patience {
			t.Errorf("it took %v", took)
		}
		if status >= http.StatusInternalServerError || !json.Valid(raw) {
			t.Errorf("status %d: %s", status, raw)
		}
		for _, err := range decode(t, raw).Errors {
			if err.Extensions.Code == "INTERNAL" {
				t.Errorf("a client's doing became a fault of ours: %s", raw)
			}
		}
	})
}
