package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// TestForms has its own table, since it changes comments that others read. The rules of axe-core
// hold with errors beside fields, in a conflict and in the dialog.
func TestForms(t *testing.T) {
	browser := browsertest.Open(t)
	s := openSite(t, func(func(comment.Comment) bool) {})
	for _, test := range []struct {
		name string
		run  func(*testing.T, context.Context, *site)
	}{
		{"the whole way by keyboard", wholeWayByKeyboard},
		{"drafts stay", draftsStay},
		{"lost answers", lostAnswers},
		{"refused and sent twice", refusedAndSentTwice},
		{"conflicts", conflicts},
		{"writes on", writesOn},
		{"tokens", tokens},
		{"votes of visitors", visitorsVote},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, browser, s) })
	}
}

// stored is a comment as the API has it.
type stored struct {
	ID, Title, Text, Language string
	Rating, Version           int
	Author                    struct{ CustomerID, Name string }
}

// writtenIs waits until the list of a product has the wanted comments: lists lag behind the table.
func (s *site) writtenIs(t *testing.T, product string, wanted func([]stored) bool) {
	t.Helper()
	var got struct {
		Product struct{ Comments struct{ Nodes []stored } }
	}
	s.becomes(t, `query($id: ID!) { product(id: $id) { comments { nodes { id title text language rating version author { customerId name } } } } }`,
		product, &got, func() bool { return wanted(got.Product.Comments.Nodes) })
}

// edited changes a comment as another client does.
func (s *site) edited(t *testing.T, id string, version int, text string) {
	t.Helper()
	s.ask(t, `mutation($input: EditCommentInput!) { editComment(input: $input) { comment { id } } }`,
		map[string]any{"input": map[string]any{"id": id, "version": version, "text": text}}, &struct{}{})
}

// enters replaces the value of a field, as typing or pasting does.
func (b *tab) enters(selector, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(fmt.Sprintf(`{
		const field = %s.querySelector(%q);
		field.focus();
		field.value = %q;
		field.dispatchEvent(new Event(field.localName === 'select' ? 'change' : 'input', { bubbles: true }));
	}`, root, selector, value), nil))
}

// has waits until a field has a value.
func (b *tab) has(selector, value string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s.querySelector(%q)?.value === %q", root, selector, value))
}

// focusIn waits until the focused element matches a selector.
func (b *tab) focusIn(selector string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s.activeElement?.matches(%q)", root, selector))
}

// visit opens the page of a product as a guest with a known name.
func (b *tab) visit(address, product string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address + "/products/" + product))
	b.do(chromedp.Evaluate(`localStorage['talkback guest'] = '{"id":"guest-1","name":"Ada"}'`, nil))
	b.until(idle)
	b.until(root + ".querySelector('.write button, .write slot') !== null")
}

// writes fills in the form and sends it.
func (b *tab) writes(text string) {
	b.t.Helper()
	b.until(idle)
	b.mouse(".write > .button")
	b.until(root + ".querySelector('.write form') !== null")
	b.mouse(".write .rate label:nth-child(4) input")
	b.enters("#new-text", text)
	b.mouse(".write .primary")
}

// edits begins to edit the first comment of the list, and replaces its text.
func (b *tab) edits(text string) {
	b.t.Helper()
	b.until(idle)
	b.mouse(".actions button:first-child")
	b.until(root + ".querySelector('.list textarea') !== null")
	b.enters(".list textarea", text)
}

// nothingKept fails the test if a draft is left.
func (b *tab) nothingKept() {
	b.t.Helper()
	b.until("sessionStorage.length === 0")
}

const (
	markup = "</script><b onclick=alert(1)>A & B</b> \u202eold"
	emoji  = "\U0001f600"
)

func wholeWayByKeyboard(t *testing.T, browser context.Context, s *site) {
	const product = "by-keyboard"
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.address + "/products/" + product))
	b.do(chromedp.Evaluate(`globalThis.told = []; addEventListener('talkback-written', ({ detail }) => told.push(detail.kind))`, nil))
	b.tabTo(".write button")
	b.press(kb.Enter)
	b.focusIn("#new-rating [value='1']")
	b.tabTo(".write .primary")
	b.press(kb.Enter)

	// What is wrong stands beside each field and is tied to it, and the first has the focus.
	notes := func(selector string) string {
		return fmt.Sprintf("%[1]s.getElementById(%[1]s.querySelector(%[2]q)?.getAttribute('aria-describedby') ?? '')?.textContent", root, selector+"[aria-invalid=true]")
	}
	b.until(root + ".querySelectorAll('[aria-invalid]').length === 2")
	b.until(notes("#new-rating") + " === 'Choose 1 to 5 stars.'")
	b.until(notes("#new-name") + " === 'Fill this in.'")
	b.focusIn("#new-rating [value='1']")
	browsertest.Axe(t, b.ctx)

	b.press(" " + kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	b.until(root + ".querySelectorAll('[aria-invalid]').length === 1") // the field is corrected
	b.tabTo("#new-title")
	b.press("Tea")
	b.enters("#new-title", markup+"\x1b")
	b.enters("#new-text", strings.Repeat(emoji, 10_001))
	b.shows("#new-text-notes .hint", "10,001 of 10,000 characters")
	b.enters("#new-language", "")
	b.enters("#new-tag", "german?")
	b.enters("#new-name", "Ada")
	b.tabTo(".write .primary")
	b.press(kb.Enter)
	b.until(notes("#new-title") + " === 'Characters that cannot be kept: U+001B.'")
	b.until(notes("#new-text") + " === '10,001 of 10,000 charactersAt most 10,000 characters.'")
	b.until(notes("#new-tag") + " === 'Give a language tag, such as en or pt-BR.'")
	b.focusIn("#new-title")

	b.enters("#new-title", markup)
	b.enters("#new-text", strings.Repeat(emoji, 10_000))
	b.enters("#new-tag", "pt-BR")
	b.tabTo(".write .primary")
	b.press(kb.Enter)
	b.until("told.join() === 'added'")
	b.shows(".list .title", markup)
	b.shows(".list .text", strings.Repeat(emoji, 10_000))
	b.focusIn(".list article")
	b.shows(".said", "Thank you. Your comment is published.")
	b.nothingKept()
	s.writtenIs(t, product, func(all []stored) bool {
		return len(all) == 1 && all[0].Title == markup && all[0].Rating == 4 && all[0].Language == "pt-BR" &&
			strings.HasPrefix(all[0].Author.CustomerID, "guest-") && all[0].Author.Name == "Ada"
	})

	b.tabTo(".actions button:first-child")
	b.press(kb.Enter)
	b.focusIn(".list [value='4']:checked")
	b.press(kb.ArrowRight)
	b.tabTo(".list .primary")
	b.press(kb.Enter)
	b.until("told.join() === 'added,edited'")
	b.until(root + ".querySelector('.list article .stars')?.ariaLabel === '5 of 5 stars'")
	b.focusIn(".list article")

	b.tabTo(".actions button:last-child")
	b.press(kb.Enter)
	b.focusIn("dialog:modal .quiet")
	b.press(kb.Escape)
	b.until(root + ".querySelector('dialog') === null")
	b.focusIn(".actions button:last-child")
	b.press(kb.Enter)
	b.focusIn("dialog:modal .quiet")
	// Asked for again before the dialog has told that it is closed.
	b.do(chromedp.Evaluate(root+".querySelector('dialog').close(); "+root+".activeElement.click()", nil))
	b.focusIn("dialog:modal .quiet")
	b.tabTo("dialog .danger")
	b.press(kb.Enter)
	b.until("told.join() === 'added,edited,deleted' && " + root + ".querySelector('.list article, dialog') === null")
	b.focusIn(".empty")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 0 })
	b.quiet()
}

// Only publishing and discarding end a draft.
func draftsStay(t *testing.T, browser context.Context, s *site) {
	const product = "drafts"
	b := newTab(t, browser)
	b.visit(s.address, product)
	b.writes("first")
	b.shows(".list .text", "first")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 1 })
	s.counted(t, product, 1)
	b.visit(s.address, product)
	b.edits("an edit")
	b.mouse(".write > .button")
	b.until(root + ".querySelector('#new-text') !== null")
	b.enters("#new-text", "a new one")
	b.enters("#new-name", "Bo")
	kept := func() {
		t.Helper()
		b.has(".list textarea", "an edit")
		b.has("#new-text", "a new one")
		b.has("#new-name", "Bo")
	}
	b.mouse(".order a[href*=oldest]")
	b.until("location.search === '?order=oldest' && " + idle)
	kept()
	b.do(chromedp.Reload())
	kept()
	b.do(chromedp.Navigate(s.address + "/"))
	b.do(chromedp.NavigateBack())
	b.until("location.pathname === '/products/drafts'")
	kept()
	b.visit(s.address, product+"?rating=1") // whose list does not have the comment
	b.has("#new-text", "a new one")
	b.visit(s.address, "other")
	b.until(root + ".querySelector('form textarea') === null")
	b.visit(s.address, product)
	kept()
	b.mouse(".list form .quiet")
	b.mouse(".write form .quiet")
	b.nothingKept()
	b.shows(".list .text", "first")
}

// losing passes requests on, and loses the answers to mutations.
func losing(w http.ResponseWriter, r *http.Request, program http.Handler) {
	if !mutates(r) {
		program.ServeHTTP(w, r)
		return
	}
	program.ServeHTTP(httptest.NewRecorder(), r)
	w.Header().Set("Content-Length", "1000") // otherwise the browser retries by itself
	_, _ = io.WriteString(w, "{")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func lostAnswers(t *testing.T, browser context.Context, s *site) {
	const product, kept = "lost", "Your comment could not be published.The comments cannot be reached right now.Try again in a moment.Your text is kept."
	b := newTab(t, browser)
	b.visit(s.troubled, product)
	s.meet(losing)
	defer s.meet(nil)
	b.writes("only once")
	b.shows(".trouble", kept)
	b.do(chromedp.Reload())
	b.has("#new-text", "only once")
	s.meet(nil)
	b.mouse(".write .primary")
	b.shows(".said", "Thank you. Your comment is published.") // it was listed before
	b.shows(".list .text", "only once")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 1 })

	// The retry of an edit meets its own first attempt, which is no conflict.
	s.meet(losing)
	b.edits("edited once")
	b.mouse(".list .primary")
	b.shows(".trouble", strings.Replace(kept, "Your comment could not be published.", "Your changes could not be saved.", 1))
	s.meet(nil)
	b.mouse(".list .primary")
	b.shows(".list .text", "edited once")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 1 && all[0].Version == 2 })

	// So does the retry of a deletion.
	s.meet(losing)
	b.until(idle)
	b.mouse(".actions button:last-child")
	b.mouse("dialog .danger")
	b.shows("dialog .error", "The comments cannot be reached right now. Try again in a moment.")
	browsertest.Axe(t, b.ctx)
	s.meet(nil)
	b.mouse("dialog .danger")
	b.until(root + ".querySelector('.list article, dialog') === null")
	b.nothingKept()

	// An attempt that was written before the text changed.
	s.meet(losing)
	b.writes("before")
	b.shows(".trouble", kept)
	s.meet(nil)
	b.enters("#new-text", "after")
	b.mouse(".write .primary")
	b.shows(".trouble", "An earlier attempt was saved with other words. Publish again to add these too.")
	b.mouse(".write .primary")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 2 })
	b.nothingKept()
}

func refusedAndSentTwice(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.visit(s.troubled, "refused")
	defer s.meet(nil)
	s.meet(answers(http.StatusServiceUnavailable, `{"errors":[{"message":"busy","extensions":{"code":"OVERLOADED"}}]}`, "Retry-After", "7"))
	b.writes("text")
	b.shows(".trouble", "Your comment could not be published.Too many people are asking right now.Try again in 7 seconds.Your text is kept.")
	b.focusIn(".trouble")
	for _, row := range []struct{ code, want string }{
		{"FORBIDDEN", "You may not change this comment."},
		{"UNAVAILABLE", "That did not work.Try again in a moment."},
		{"THROTTLED", "Too many people are asking right now.Try again in a moment."},
	} {
		s.meet(answers(http.StatusOK, `{"data":{"value":null},"errors":[{"message":"no","path":["value"],"extensions":{"code":"`+row.code+`"}}]}`))
		b.mouse(".write .primary")
		b.shows(".trouble", "Your comment could not be published."+row.want+"Your text is kept.")
	}

	release, sent := make(chan struct{}), atomic.Int32{}
	s.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		if mutates(r) {
			sent.Add(1)
			wait(r, release)
		}
		program.ServeHTTP(w, r)
	})
	b.mouse(".write .primary")
	b.shows(".write .primary[aria-disabled]", "Saving…")
	b.mouse(".write .primary")
	b.press(kb.Enter)
	close(release)
	b.shows(".list .text", "text")
	if n := sent.Load(); n != 1 {
		t.Errorf("%d mutations were sent, want 1", n)
	}
}

func conflicts(t *testing.T, browser context.Context, s *site) {
	const product = "conflicts"
	b := newTab(t, browser)
	b.visit(s.address, product)
	b.writes("mine")
	b.shows(".list .text", "mine")
	id := eval[string](b, root+".querySelector('.list article').id")
	// meanwhile begins an edit to a text, and saves it after something else happened.
	meanwhile := func(text string, other func()) {
		b.edits(text)
		other()
		b.mouse(".list .primary")
	}

	meanwhile("mine again", func() { s.edited(t, id, 1, "theirs") })
	b.shows(".theirs .text", "theirs")
	b.has(".list textarea", "mine again")
	b.focusIn(".trouble")
	browsertest.Axe(t, b.ctx)
	b.mouse(".list .primary") // keep mine
	b.shows(".list .text", "mine again")
	s.writtenIs(t, product, func(all []stored) bool { return len(all) == 1 && all[0].Text == "mine again" && all[0].Version == 3 })

	meanwhile("never", func() { s.edited(t, id, 3, "theirs again") })
	b.shows(".theirs .text", "theirs again")
	b.mouse(".list form .quiet") // take theirs
	b.shows(".list .text", "theirs again")
	b.nothingKept()

	meanwhile("the last words", func() {
		s.ask(t, `mutation($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": id}, &struct{}{})
	})
	b.shows(".list .trouble", "The comment was deleted meanwhile. You can publish your text as a new one.")
	b.do(chromedp.Reload())
	b.has("#new-text", "the last words")
	b.mouse(".write .primary")
	b.shows(".list .text", "the last words")
	b.nothingKept()

	// Another edit came first, and then the comment was deleted.
	b.visit(s.troubled, "conflicts too")
	b.writes("early")
	b.shows(".list .text", "early")
	b.edits("too late")
	defer s.meet(nil)
	s.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		said := `{"data":{"value":null}}`
		if mutates(r) {
			said = `{"data":{"value":{"comment":null,"errors":[{"code":"CONFLICT","message":"no","path":["input","version"]}]}}}`
		}
		answers(http.StatusOK, said)(w, r, program)
	})
	b.mouse(".list .primary")
	b.shows(".list .trouble", "The comment was deleted meanwhile. You can publish your text as a new one.")
}

func tokens(t *testing.T, browser context.Context, _ *site) {
	secret := strings.Repeat("a secret of the shop ", 3)
	moderator := strings.Repeat("m", 40)
	t.Setenv("TALKBACK_JWT_KEY", secret)
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderator)
	address := serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--jwt-algorithm", "HS256")
	token := func(customer string, until time.Duration) string {
		return must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": customer, "exp": time.Now().Add(until).Unix()}).SignedString([]byte(secret)))(t)
	}
	b := newTab(t, browser)
	as := func(token string) {
		t.Helper()
		b.do(chromedp.Evaluate(fmt.Sprintf(`{
			const element = document.querySelector('talkback-comments');
			element.token = () => Promise.resolve(%q);
			element.customerName = 'Ada';
			element.refresh();
		}`, token), nil))
	}
	actions := func(want int) {
		t.Helper()
		b.until(fmt.Sprintf("%s && %s.querySelectorAll('.actions').length === %d", idle, root, want))
	}
	b.visit(address, "guarded")
	b.shows(".write slot p", "Sign in to write a comment.")
	as(token("u1", time.Hour))
	b.until(root + ".querySelector('.write slot') === null")
	b.writes("by u1")
	b.shows(".list .text", "by u1")
	b.shows(".list .author", "Ada")
	actions(1)

	as(token("u2", time.Hour))
	actions(0)
	as(token("u1", -time.Hour))
	b.shows(".write slot p", "Sign in again to write or vote.")
	actions(0)
	as("") // signed out, and in again as a page of the shop that is no token
	b.shows(".write slot p", "Sign in to write a comment.")
	as("<!doctype html>\n<title>Anmelden für Kunden</title>\n<p>Войти")
	b.shows(".write slot p", "Sign in again to write or vote.")
	as("")
	b.shows(".write slot p", "Sign in to write a comment.")
	b.do(chromedp.Evaluate(`{
		const element = document.querySelector('talkback-comments');
		element.token = async () => { throw new Error('signed out'); };
		element.refresh();
	}`, nil))
	b.shows(".write slot p", "Sign in again to write or vote.")
	as(moderator + "\n")
	b.until(root + ".querySelector('.write slot') === null")
	actions(1)

	// Others say whether it helps, and take that back. Its author only sees how many do.
	const helpful, not = ".list .votes :nth-child(1)", ".list .votes :nth-child(2)"
	as(token("u2", time.Hour))
	b.mouse(helpful)
	b.shows(".list .votes [role=status]", "Your vote counts.")
	b.shows(helpful, "Helpful (1)")
	as(token("u2", time.Hour)) // the vote is counted, or remembered until then
	b.until(idle + "&& " + root + ".querySelector('" + helpful + "').ariaPressed === 'true'")
	as(token("u1", time.Hour))
	b.shows(".list .helpful", "Helpful (1)")
	as(token("u2", time.Hour))
	b.mouse(not)
	b.shows(helpful, "Helpful")
	b.mouse(not)
	b.shows(".list .votes [role=status]", "Your vote is taken back.")

	// A token that expires while its customer types.
	as(token("u1", time.Hour))
	actions(1)
	b.edits("still here")
	as(token("u1", -time.Hour))
	b.shows(".write slot p", "Sign in again to write or vote.")
	b.mouse(".list .primary")
	b.shows(".list .trouble", "Your changes could not be saved.Sign in again to write or vote.Your text is kept.")
	as(token("u1", time.Hour))
	b.until(root + ".querySelector('.write slot') === null")
	b.has(".list textarea", "still here")
	b.mouse(".list .primary")
	b.shows(".list .text", "still here")
}

// mutates reports whether a request is a mutation.
func mutates(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked struct{ Query string }
	_ = json.Unmarshal(body, &asked)
	return strings.HasPrefix(asked.Query, "mutation")
}
