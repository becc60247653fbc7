package endtoend

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/dynamotest"
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

// A visitor without an account votes on the server's own page, and finds the vote there after a
// reload. The buttons fill the space that the server reserved for them.
func visitorsVote(t *testing.T, browser context.Context, _ *site) {
	t.Setenv("TALKBACK_VISITOR_SECRET", strings.Repeat("v", 40))
	s := &site{address: serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--visitor-votes")}
	s.ask(t, `mutation { addComment(input: {productId: "voted", rating: 5, language: "en", text: "Good", author: {id: "ada", name: "Ada"}}) { comment { id } } }`, nil, &struct{}{})
	s.counted(t, "voted", 1)
	votes := func(helpful int) {
		t.Helper()
		var got struct {
			Product struct {
				Comments struct {
					Nodes []struct{ Votes struct{ Helpful int } }
				}
			}
		}
		s.becomes(t, `query($id: ID!) { product(id: $id) { comments { nodes { votes { helpful } } } } }`, "voted", &got,
			func() bool {
				nodes := got.Product.Comments.Nodes
				return len(nodes) == 1 && nodes[0].Votes.Helpful == helpful
			})
	}
	b := newTab(t, browser)
	b.onEachPage(shifts)
	b.visit(s.address, "voted")
	if moved := eval[[]string](b, "shifted"); len(moved) > 0 {
		t.Errorf("what moves: %q", moved)
	}
	b.mouse(".votes button")
	b.shows(".votes [role=status]", "Your vote counts.")
	votes(1)
	b.do(chromedp.Reload())
	b.until(root + "?.querySelector('.votes button')?.ariaPressed === 'true'")
	b.shows(".votes button", "Helpful (1)")
	b.mouse(".votes button")
	b.shows(".votes [role=status]", "Your vote is taken back.")
	b.shows(".votes button", "Helpful")
	votes(0)
	b.quiet()
}
