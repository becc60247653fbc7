package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/commenttest/must"
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

// In trouble, the first view is a page that says so. After a change of the filter, the earlier list
// stays until the error is shown. Both offer to try again, and that works.
func inTrouble(t *testing.T, browser context.Context, s *site) {
	const busy = "Too many people are asking right now. Try again in a moment."
	for _, row := range []struct {
		name          string
		trouble       trouble
		first, change string // the error at the first view, if one is possible, and at a change of the filter
	}{
		{"a connection that breaks", cut, "", "The comments cannot be reached right now.Try again"}, // the first view needs none
		{"too many requests", answers(429, `{"errors":[{"message":"","extensions":{"code":"OVERLOADED"}}]}`, "Retry-After", "7"), busy + "Try again", busy + "Try again in 7 seconds.Try again"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newTab(t, browser)
			if row.first != "" {
				firstViewInTrouble(t, b, s, row.trouble, row.first)
			}
			changeInTrouble(t, b, s, row.trouble, row.change)
		})
	}
	t.Run("no page numbers", func(t *testing.T) { withoutNumbers(t, browser, s) })
	t.Run("slow", func(t *testing.T) { slowly(t, browser, s) })
}

func firstViewInTrouble(t *testing.T, b *tab, s *site, spoil trouble, want string) {
	const address = "/products/" + many + "?page=2&rating=5"
	s.meet(spoil)
	defer s.meet(nil)
	response := must.Get(http.Get(s.troubled + address))(t)
	response.Body.Close()
	status := response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); status != 503 && status != 429 || err != nil || seconds < 1 {
		t.Errorf("the first view has status %d, Retry-After %q", status, response.Header.Get("Retry-After"))
	}
	b.do(chromedp.Navigate(s.troubled + address))
	b.shows(".error", want)
	s.meet(nil)
	b.tabTo(".error a")
	b.press(kb.Enter)
	b.list(address, s.idsAt(t, address))
	if count, _ := b.asked(); count != 1 {
		t.Errorf("%d requests by the browser, want one, for the second try", count)
	}
}

func changeInTrouble(t *testing.T, b *tab, s *site, spoil trouble, want string) {
	b.do(chromedp.Navigate(s.troubled + "/products/" + many))
	before := s.idsAt(t, "/products/"+many)
	b.list("/products/"+many, before)
	earlier, _ := b.asked()
	s.meet(spoil)
	defer s.meet(nil)
	b.mouse(".bar[href='?rating=4']")
	b.shows(".error", want)
	const address = "/products/" + many + "?rating=4"
	b.list(address, before) // the earlier list is still there
	s.meet(nil)
	b.mouse(".error a")
	b.list(address, s.idsAt(t, address))
	b.until(root + `.querySelector('.error') === null`)
	if count, _ := b.asked(); count-earlier != 2 {
		t.Errorf("%d requests by the browser, want one for each try", count-earlier)
	}
}

// withoutNumbers turns pages by cursors, and gets an offer of the first page in place of one that
// cannot be found.
func withoutNumbers(t *testing.T, browser context.Context, s *site) {
	s.meet(unnumbered)
	defer s.meet(nil)
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.troubled + "/products/" + many + "?page=4&rating=5"))
	b.shows(".error p", "This page cannot be found right now. The first pages can.")
	b.said() // the status of the page is 503
	b.mouse(".error a:last-child")
	first := "/products/" + many + "?rating=5"
	b.list(first, s.idsAt(t, first))
	b.until(root + `.querySelector('.pages ol, .pages form') === null`)
	b.mouse(".pages [rel=next]")
	second := fmt.Sprint(s.idsAt(t, first+"&page=2"))
	b.until(fmt.Sprintf("location.search.includes('after=') && %s && `[${%s.join(' ')}]` === %q", idle, ids, second))
	b.do(chromedp.Reload())
	b.until(fmt.Sprintf("%s && `[${%s.join(' ')}]` === %q", idle, ids, second))
	b.mouse(".pages [rel=prev]")
	b.until(fmt.Sprintf("location.search.includes('before=') && %s && `[${%s.join(' ')}]` === %q", idle, ids, fmt.Sprint(s.idsAt(t, first))))
	b.quiet()
}

// slowly changes the filter twice while the API takes its time: the first list stays, and the last
// choice wins.
func slowly(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.troubled + "/products/" + many))
	before := s.idsAt(t, "/products/"+many)
	b.list("/products/"+many, before)
	release := make(chan struct{})
	s.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		<-release
		program.ServeHTTP(w, r)
	})
	defer s.meet(nil)
	b.mouse(".bar[href='?rating=4']")
	b.until(root + `.querySelector('.root[aria-busy=true]') !== null`)
	if got := eval[[]string](b, ids); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("while the answer is awaited, the list is %v", got)
	}
	b.mouse(".bar[href='?rating=4&rating=3'], .bar[href='?rating=3']")
	close(release)
	address := b.address()
	b.list(address, s.idsAt(t, address))
	b.quiet()
}
