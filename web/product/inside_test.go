package product

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The inside of an element equals the page's, except that its links lead to another page. A text replaces what cannot
// be shown, such as an impossible choice.
func TestInside(t *testing.T) {
	for _, row := range []struct {
		address, fixture string
		status           int
		shows            string
	}{
		{"/products/espresso-machine/element", "first", 200, `href="/products/espresso-machine"`},
		{"/products/espresso-machine/element?path=/shop/coffee", "first", 200, `href="/shop/coffee"`},
		{"/products/a%2Fb/element?path=/%22%3E%3Cscript%3E", "first", 200, `action="/%22%3e%3cscript%3e"`},
		{"/products/42/element?page=999", "beyond", 404, "?page=151"},
		{"/products/42/element?path=//elsewhere.example", "first", 400, "path=/shop/lamp"},
		{"/products/42/element?path=javascript:alert(1)", "first", 400, "path=/shop/lamp"},
		{"/products/a/b/element", "first", 404, "no product"},
		{"/products//element", "first", 404, "no product"},
		{"/products/42/element", "throttled", 503, `role="alert"`},
		{"/products/42/element?page=7&path=/shop", "refused", 400, `<a class="button" href="/shop">First page</a>`},
	} {
		answer := answerOf(t, row.fixture)
		pages := New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }), []byte(":host{}"))
		page := pages.Inside(httptest.NewRequest(http.MethodGet, row.address, nil))
		body := string(page.Body)
		if page.Status != row.status || !strings.Contains(body, row.shows) || (page.Version != "") != (row.status == 200) {
			t.Errorf("%s: %d, kept %v, want %d with %q:\n%.300s", row.address, page.Status, page.Version != "", row.status, row.shows, body)
		}
		if bare, _, _ := strings.Cut(row.address, "/element"); row.shows == `href="`+bare+`"` {
			if whole := pages.Product(httptest.NewRequest(http.MethodGet, bare, nil), ""); !strings.Contains(string(whole.Body), body) {
				t.Errorf("%s: the page of the product has another inside", row.address)
			}
		}
	}
}
