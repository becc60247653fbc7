package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// A tape answers known calls by itself, however their members are ordered, and no others.
func TestTape(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer engine.Close()
	tape := newTape()
	send := func(target, body string) (string, error) {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, engine.URL, strings.NewReader(body)))(t)
		request.Header.Set(targetHeader, target)
		response, err := tape.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK || response.Header.Get(crcHeader) == "" {
			t.Errorf("%s %s: status %d, headers %v; want 200 and a checksum", target, body, response.StatusCode, response.Header)
		}
		answer, err := io.ReadAll(response.Body)
		return string(answer), err
	}

	const recorded = `{"a":1,"b":{"c":2,"d":3}}`
	must.Get(send("Query", recorded))(t)
	engine.Close()
	for _, same := range []string{recorded, `{"b":{"d":3,"c":2},"a":1}`, recorded} {
		if answer, err := send("Query", same); err != nil || answer != recorded {
			t.Errorf("%s is answered by %q, %v; want the answer that was recorded", same, answer, err)
		}
	}
	for _, other := range []struct{ target, body string }{
		{"Query", `{"a":1,"b":{"c":3,"d":2}}`},
		{"Query", `{"a":1}`},
		{"Scan", recorded},
	} {
		if answer, err := send(other.target, other.body); err == nil {
			t.Errorf("%v is answered by %q without the engine", other, answer)
		}
	}
	calls := tape.during(func() {
		_, _ = send("Query", `{"b":{"d":3,"c":2},"a":1}`)
		_, _ = send(onceTarget, recorded)
	})
	if len(calls) != 1 || calls[0] != (tapedCall{"Query", recorded}) {
		t.Errorf("%v were heard, of one call that counts", calls)
	}
}
