package endtoend

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
)

// answers is a trouble that answers by itself.
func answers(status int, body string, headers ...string) trouble {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut breaks the connection in the middle of an answer.
func cut(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"data":{"product":`)
	panic(http.ErrAbortHandler)
}

// unnumbered answers as the program does while the index of page numbers is being built. No page is
// found by its number, and the number of pages is unknown.
func unnumbered(w http.ResponseWriter, r *http.Request, program http.Handler) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Variables struct{ Page int } }
	_ = json.Unmarshal(body, &asked)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del("Accept-Encoding") // it is read here
	answer := httptest.NewRecorder()
	program.ServeHTTP(answer, r)
	var said map[string]any
	if json.Unmarshal(answer.Body.Bytes(), &said) == nil {
		spoilNumbers(said, asked.Variables.Page > 1)
	}
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	_ = json.NewEncoder(w).Encode(said)
}

func spoilNumbers(said map[string]any, wholeList bool) {
	data, _ := said["data"].(map[string]any)
	product, _ := data["product"].(map[string]any)
	list, _ := product["list"].(map[string]any)
	missing := func(path ...string) map[string]any {
		return map[string]any{"message": "not yet", "path": append([]string{"product", "list"}, path...), "extensions": map[string]any{"code": "UNAVAILABLE"}}
	}
	if wholeList {
		product["list"], said["errors"] = nil, []any{missing()}
		return
	}
	list["pageCount"], list["pageNumber"] = nil, nil
	said["errors"] = []any{missing("pageCount"), missing("pageNumber")}
}
