package endtoend

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// written is a product that begins without comments.
const written = "written"

// ownComment writes the first comment of a product, edits it while another client changes it, and
// deletes it. Typed text outlives a reload.
func ownComment(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.address + "/products/" + written))
	b.until(root + `.querySelector('.write > .button') !== null`)
	b.mouse(".write > .button")
	b.mouse(".write [name=rating][value='4']")
	b.typeInto(".write [name=title]", "A title")
	b.typeInto(".write textarea", "First words")
	b.typeInto(".write [name=name]", "Ada")
	b.do(chromedp.Reload())
	b.until(root + `?.querySelector('.write textarea')?.value === 'First words'`)
	b.mouse(".write .buttons .primary")
	b.shows(".list .text", "First words")
	b.list("/products/"+written, s.idsOf(t, written))
	id := s.idsOf(t, written)[0]

	b.mouse(".list .actions button:first-child")
	b.typeInto(".list textarea", "My words")
	const edit = `mutation($id: ID!) { editComment(input: {id: $id, version: 1, text: "Their words"}) { comment { version } userErrors { code message } } }`
	var changed struct {
		EditComment struct{ Comment struct{ Version int } }
	}
	if s.ask(t, edit, map[string]any{"id": id}, &changed); changed.EditComment.Comment.Version != 2 {
		t.Fatalf("the change elsewhere: %+v", changed)
	}
	b.mouse(".list .buttons .primary")
	b.shows(".theirs .text", "Their words")
	b.until(root + `.querySelector('.list textarea').value === 'My words'`)
	b.mouse(".list .buttons .primary")
	b.shows(".list .text", "My words")
	if got := s.textOf(t, id); got != "My words" {
		t.Errorf("after the conflict the comment is %q", got)
	}

	b.mouse(".list .actions button:last-child")
	b.mouse("dialog .danger")
	b.until(root + `.querySelector('.list, dialog') === null && ` + root + `.querySelector('.empty') !== null`)
	if ids := s.idsOf(t, written); len(ids) != 0 {
		t.Errorf("%v is not deleted", ids)
	}
	b.quiet()
}

// textOf asks the API for the text of a comment.
func (s *site) textOf(t *testing.T, id string) string {
	t.Helper()
	var got struct{ Node struct{ Text string } }
	s.ask(t, `query($id: ID!) { node(id: $id) { ... on Comment { text } } }`, map[string]any{"id": id}, &got)
	return got.Node.Text
}

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
