package endtoend

import (
	"context"
	"net/http"
	"testing"
)

// The list is read again after a comment is published. A reader who writes meanwhile is not
// interrupted.
func writesOn(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.visit(s.troubled, "written on")
	b.writes("first")
	b.shows(".list .text", "first")
	b.until(idle)
	release := make(chan struct{})
	s.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		if !mutates(r) {
			wait(r, release)
		}
		program.ServeHTTP(w, r)
	})
	defer s.meet(nil)
	b.writes("second")
	b.shows(".list .text", "second")
	b.mouse(".list li:last-child .actions button:first-child")
	b.focusIn(".list [value='4']:checked")
	close(release)
	b.until(idle)
	b.focusIn(".list [value='4']:checked")
}

// wait waits until a request is released, or the browser gives it up.
func wait(r *http.Request, released <-chan struct{}) {
	select {
	case <-released:
	case <-r.Context().Done():
	}
}
