package endtoend

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// hold lets the next request through the troubled address arrive, and answers it when release is
// closed.
func (d *desk) hold(answer trouble) (arrived <-chan struct{}, release chan<- struct{}) {
	came, goesOn := make(chan struct{}), make(chan struct{})
	d.site.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		d.site.meet(nil)
		close(came)
		<-goesOn
		answer(w, r, program)
	})
	return came, goesOn
}

// late is no trouble but the wait before it.
func late(w http.ResponseWriter, r *http.Request, program http.Handler) { program.ServeHTTP(w, r) }

// What a moderator typed is kept until it is saved or cancelled: after their token has expired,
// while an answer is under way, when Escape closes the dialog or the page is loaded again, and
// beside a decision that was not taken.
func keepWhatWasTyped(t *testing.T, d *desk) {
	reply := d.reply
	id := d.write("en", "title", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	reply("")
	d.press("Thank")
	d.press(kb.Escape)
	reply("Thank")
	d.press(" you")
	d.do(chromedp.Reload())
	d.titles("title")
	reply("Thank you")
	d.press(".")
	d.expire("#reply [type=submit]")
	d.titles("title")
	reply("Thank you.")

	// The answer comes when the dialog is closed.
	arrived, release := d.hold(answers(500, "oh no"))
	d.click("#reply [type=submit]")
	<-arrived
	d.press(kb.Escape)
	close(release)
	d.says(".notice", "The server could not answer. Try again in a moment.")
	reply("Thank you.")

	// It comes while more is typed, after a second press, which does nothing.
	arrived, release = d.hold(late)
	d.click("#reply [type=submit]")
	<-arrived
	d.click("#reply [type=submit]")
	d.click("#reply-text")
	d.press(" Bye.")
	close(release)
	d.says(".said", "Thank you.")
	d.click("#reply [type=submit]")
	d.says(".said", "Thank you. Bye.")
	d.until(`!document.querySelector('#reply').open && document.querySelector('.notice').hidden`)
	reply("Thank you. Bye.")
	d.press("!")
	d.click("#reply-cancel")
	reply("Thank you. Bye.")
	d.press(kb.Escape)

	d.mouse(0, ".reject")
	d.press("1")
	d.click("#note")
	d.press("As before.")
	d.click("#reject [type=submit]")
	d.site.edited(t, id, 1, "other text")
	d.click("#refresh")
	d.says(".notice", "The comment was changed meanwhile. This is how it is now. Decide again.")
	d.mouse(0, ".reject")
	d.until(`document.querySelector('#note').value === 'As before.'`)
	d.press("1" + kb.Enter)
	d.expire("#sign-out") // what was decided is not sent yet
	d.decided(id, "REJECTED")

	// Signing out drops no decision without a word.
	d.write("en", "another", "text")
	d.click("#refresh")
	d.titles("another")
	reply("")
	d.press("Never sent.")
	d.press(kb.Escape)
	d.mouse(0, ".approve")
	d.site.meet(answers(500, "oh no"))
	d.click("#sign-out")
	d.says("#trouble span", "The server could not answer. Try again in a moment. 1 decision is not saved.")
	d.states("failed")
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token' && document.querySelector('article') === null && sessionStorage.length === 0`)
}

// reply opens the dialog of the first comment, which begins with a text.
func (d *desk) reply(want string) {
	d.t.Helper()
	d.mouse(0, ".reply")
	d.until(fmt.Sprintf(`document.activeElement?.id === 'reply-text' && document.activeElement.value === %q`, want))
}

// expire has the token expire at a click, and signs in again.
func (d *desk) expire(selector string) {
	d.t.Helper()
	d.site.meet(answers(401, `{"errors":[{"message":"","extensions":{"code":"UNAUTHENTICATED"}}]}`))
	d.click(selector)
	d.says("#sign-in-error", "Sign in again. Your decisions and texts are kept.")
	d.until(`document.activeElement?.id === 'token'`)
	d.site.meet(nil)
	d.press("x" + kb.Enter) // which a server without tokens does not require
}

// A comment that changed or disappeared before the decision is shown in its present state.
func decisionConflicts(t *testing.T, d *desk) {
	one, two, three := d.write("en", "one", "text"), d.write("en", "two", "text"), d.write("en", "three", "text")
	d.visit(d.site.address)
	d.click("#select-all")
	d.click("#approve-all")
	d.site.edited(t, one, 1, "spam instead")
	d.site.ask(t, `mutation($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": two}, &struct{}{})
	d.click("#refresh")
	d.states("open", "gone", "saved")
	d.says("[data-state=open] .text", "spam instead")
	d.says("[data-state=open] .notice", "The comment was changed meanwhile. This is how it is now. Decide again.")
	d.decided(one, "PENDING")
	d.decided(three, "APPROVED")
	d.mouse(0, ".reject")
	d.press("1" + kb.Enter)
	d.click("#refresh")
	d.decided(one, "REJECTED")
	d.quiet()
}

// A comment that waits no longer is not shown as one to decide about: its author took it back, or
// another moderator decided about its edit.
func decideWhatWaitsNoMore(t *testing.T, d *desk) {
	one, two, three := d.write("en", "one", "text"), d.write("en", "two", "text"), d.write("en", "three", "text")
	d.site.ask(t, `mutation($id: ID!) { approveComment(input: {id: $id, version: 1}) { comment { id } } }`, map[string]any{"id": two}, &struct{}{})
	d.site.edited(t, two, 1, "an edit")
	d.unhurried()
	d.visit(d.site.address)
	d.titles("one", "three", "two")
	d.mouse(1, ".history summary")
	d.until(`document.querySelector('.history li')?.textContent === 'No decision yet.'`)
	d.click("#select-all")
	d.click("#approve-all")
	d.site.ask(t, `mutation($id: ID!) { withdrawComment(input: {id: $id, version: 1}) { comment { id } } }`, map[string]any{"id": one}, &struct{}{})
	d.site.ask(t, `mutation($id: ID!) { rejectComment(input: {id: $id, version: 2, reason: SPAM}) { comment { id } } }`, map[string]any{"id": two}, &struct{}{})
	d.site.edited(t, three, 1, "an edit")
	d.click("#refresh")
	d.states("gone", "open", "gone")
	d.says("[data-state=gone] .state", "Waits no more: deleted, taken back, edited or decided meanwhile")
	d.says("#count", "1 comment waits")
	d.until(`document.querySelector('[data-state=open] .history:not([open])') !== null`) // what it shows is from before
	d.decided(one, "WITHDRAWN")
	d.decided(two, "APPROVED")
	d.click("#refresh")
	d.titles("three")

	// It is shown once it waits again.
	for range 20 {
		d.write("en", "more", "text")
	}
	d.click("#refresh")
	d.until(`document.querySelectorAll('article').length === 20`)
	d.mouse(0, ".approve")
	d.site.ask(t, `mutation($id: ID!) { withdrawComment(input: {id: $id, version: 2}) { comment { id } } }`, map[string]any{"id": three}, &struct{}{})
	d.do(chromedp.Evaluate("pass()", nil))
	d.until(`document.querySelector('article').dataset.state === 'gone'`)
	d.site.edited(t, three, 2, "another edit")
	d.click("#more")
	d.until(`[...document.querySelectorAll('[data-state=open] .title')].at(-1).textContent === 'three'`)
	d.quiet()
}

// A decision that is under way is not lost when its moderator signs out, or leaves the page.
func leaveWhileItSends(t *testing.T, d *desk) {
	id := d.write("en", "one", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	d.do(chromedp.Evaluate(`sessionStorage.setItem('talkback moderator', 'x')`, nil), chromedp.Reload()) // which a server without tokens does not require
	d.titles("one")
	decide := func() (release chan<- struct{}) {
		arrived, release := d.hold(answers(500, "oh no"))
		d.mouse(0, ".approve")
		d.do(chromedp.Evaluate("pass()", nil))
		<-arrived
		d.states("sending")
		return release
	}
	release := decide()
	d.click("#sign-out")
	close(release)
	d.says("#trouble span", "The server could not answer. Try again in a moment. 1 decision is not saved.")
	d.click("[data-state=failed] .undo")
	release = decide()
	defer close(release)
	d.do(chromedp.Navigate(d.site.troubled + "/"))
	d.decided(id, "APPROVED")
}

// What is decided while signing out waits for another decision is sent, too.
func decideWhileSigningOut(t *testing.T, d *desk) {
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	d.do(chromedp.Evaluate(`sessionStorage.setItem('talkback moderator', 'x')`, nil), chromedp.Reload()) // which a server without tokens does not require
	d.titles("one", "two")
	d.mouse(0, ".approve")
	arrived, release := d.hold(late)
	d.click("#sign-out")
	<-arrived
	d.mouse(0, ".approve")
	d.states("sending", "decided")
	close(release)
	d.until(`document.activeElement?.id === 'token'`)
	d.decided(one, "APPROVED")
	d.decided(two, "APPROVED")
	d.quiet()
}

// What is decided while the list is being loaded stays decided when it is there, also in a dialog
// that was open.
func decideWhileItLoads(t *testing.T, d *desk) {
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	for _, decide := range []func(release chan<- struct{}){
		func(release chan<- struct{}) {
			d.says("#count", "Loading comments")
			d.mouse(0, ".approve")
			close(release)
			d.titles("two", "more")
		},
		func(release chan<- struct{}) {
			d.mouse(0, ".reject")
			close(release)
			d.titles("two", "more", "more")
			d.press("1" + kb.Enter)
			d.titles("more", "more")
		},
	} {
		d.write("en", "more", "text")
		arrived, release := d.hold(late)
		d.click("#refresh")
		<-arrived
		decide(release)
	}
	d.states("decided", "open", "open")
	d.click("#refresh")
	d.titles("more", "more")
	d.decided(one, "APPROVED")
	d.decided(two, "REJECTED")
	d.quiet()
}

// The page works in a browser that stores nothing, because of a script, until the page is left.
func moderateWithoutStorage(t *testing.T, d *desk, script string) {
	id := d.write("en", "one", "text")
	d.onEachPage(script)
	d.visit(d.site.troubled)
	d.reply("")
	d.press("Thank you.")
	d.click("#reply [type=submit]")
	d.says(".said", "Thank you.")
	d.until(`!document.querySelector('#reply').open`)
	d.press("a")
	d.click("#refresh")
	d.decided(id, "APPROVED")
	d.quiet()
	d.write("en", "two", "text")
	d.click("#refresh")
	d.titles("two")
	d.reply("")
	d.press("Kept.")
	d.expire("#reply [type=submit]")
	d.titles("two")
	d.reply("Kept.")
}

// tellsTaken has the page set "taken" once it took an answer.
func (d *desk) tellsTaken() {
	d.t.Helper()
	d.do(chromedp.Evaluate(`{
		const { json } = Response.prototype;
		Response.prototype.json = async function () {
			const answer = await json.call(this);
			setTimeout(() => globalThis.taken = true); // what waits for the answer goes on first
			return answer;
		};
	}`, nil))
}

// A list that arrives after its moderator signed out is not shown.
func signOutWhileItLoads(t *testing.T, d *desk) {
	d.write("en", "one", "text")
	d.visit(d.site.troubled)
	d.do(chromedp.Evaluate(`sessionStorage.setItem('talkback moderator', 'x')`, nil), chromedp.Reload()) // which a server without tokens does not require
	d.titles("one")
	d.tellsTaken()
	arrived, release := d.hold(late)
	d.click("#refresh")
	<-arrived
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token'`)
	close(release)
	d.until(`globalThis.taken`)
	d.until(`document.querySelector('#desk').hidden && document.querySelector('article') === null`)
	d.quiet()
}

// Decisions stay decided while they cannot be sent.
func moderateInTrouble(t *testing.T, d *desk) {
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.site.meet(answers(500, "oh no"))
	d.unhurried()
	d.do(chromedp.Navigate(d.site.troubled + "/moderation"))
	d.says("#trouble span", "The server could not answer. Try again in a moment.")
	d.site.meet(nil)
	d.click("#retry")
	d.titles("one", "two")
	for _, row := range []struct {
		trouble trouble
		want    string
	}{
		{cut, "The server cannot be reached right now. 1 decision is not saved."},
		{answers(503, `{"errors":[{"message":"","extensions":{"code":"OVERLOADED"}}]}`), "The server has too much to do right now. 1 decision is not saved."},
		{answers(200, `{"data":{"decideComments":null},"errors":[{"message":"","extensions":{"code":"FORBIDDEN"}}]}`), "This token may not moderate any more. 1 decision is not saved."},
		{answers(200, `{"data":{"decideComments":{"results":[]}}}`), "The server could not answer. Try again in a moment. 1 decision is not saved."},
	} {
		d.site.meet(row.trouble)
		d.mouse(0, ".approve")
		d.click("#refresh")
		d.says("#trouble span", row.want)
		d.states("failed", "open")
		d.click("[data-state=decided] .undo, [data-state=failed] .undo")
		d.states("open", "open")
		d.until(`document.querySelector('#trouble').hidden`)
	}
	d.mouse(0, ".approve")
	d.site.meet(answers(401, `{"errors":[{"message":"","extensions":{"code":"UNAUTHENTICATED"}}]}`))
	d.click("#refresh")
	d.says("#sign-in-error", "Sign in again. Your decisions and texts are kept.")
	d.site.meet(nil)
	d.click("#token")
	d.press("x" + kb.Enter) // which a server without tokens does not require
	d.decided(one, "APPROVED")
	d.decided(two, "PENDING")
	d.titles("two")

	d.mouse(0, ".reject")
	d.press("1")
	d.do(chromedp.Evaluate(`document.querySelector('#note').value = '\x1b'`, nil))
	d.click("#reject [type=submit]")
	d.click("#refresh")
	d.says(".notice", "The note has characters that cannot be stored. Decide again.")
	d.decided(two, "PENDING")
}

func moderatorsSignIn(t *testing.T, browser context.Context) {
	secret, moderator := strings.Repeat("a secret of the shop ", 3), strings.Repeat("m", 40)
	t.Setenv("TALKBACK_JWT_KEY", secret)
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderator)
	address := serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--moderation", "hold", "--jwt-algorithm", "HS256")
	customer := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix()}).SignedString([]byte(secret)))(t)
	(&site{address: address, token: customer}).ask(t, `mutation { addComment(input: {
		productId: "lamp", rating: 1, language: "en", title: "title", text: "text", author: {id: "ada", name: "Ada"}
	}) { comment { id } } }`, nil, &struct{}{})
	d := &desk{newTab(t, browser), nil}
	d.do(chromedp.Navigate(address + "/moderation"))
	d.until(`document.activeElement?.id === 'token'`)
	browsertest.Axe(t, d.ctx)
	for _, row := range []struct{ token, want string }{
		{"", "Fill in the token."},
		{"wrong", "This token is not valid, or no longer. Try another one."},
		{"wröng €", "This token is not valid, or no longer. Try another one."}, // no header can contain it
		{customer, "This token is not that of a moderator. Try another one."},
	} {
		d.do(chromedp.Evaluate("token.value = ''; document.querySelector('#sign-in-error').textContent = ''; token.focus()", nil))
		d.press(row.token + kb.Enter)
		d.says("#sign-in-error", row.want)
	}
	d.press(moderator + kb.Enter)
	d.titles("title")
	d.do(chromedp.Reload())
	d.titles("title")
	kept := eval[string](d.tab, `JSON.stringify([location.href, history.state, document.cookie, {...localStorage}, token.value])`)
	if strings.Contains(kept, moderator) {
		t.Errorf("the token is kept in %s", kept)
	}
	d.mouse(0, ".approve")
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token' && document.querySelector('article') === null && sessionStorage.length === 0`)
	d.press(moderator + kb.Enter)
	d.says("#empty", "No comment waits.")
	d.quiet()
}

// What one moderator decided and typed before their token expired is not sent in the name of
// another who signs in.
func anotherModeratorSignsIn(t *testing.T, browser context.Context) {
	secret := strings.Repeat("a secret of the shop ", 3)
	t.Setenv("TALKBACK_JWT_KEY", secret)
	s := &site{address: serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table",
		"--moderation", "hold", "--jwt-algorithm", "HS256", "--roles-claim", "roles", "--shop-name", "Lamps")}
	s.openTroubled(t)
	token := func(subject string, roles ...string) string {
		claims := jwt.MapClaims{"sub": subject, "roles": append([]string{}, roles...), "exp": time.Now().Add(time.Hour).Unix()}
		return must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret)))(t)
	}
	s.token = token("ada")
	d := &desk{newTab(t, browser), s}
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.unhurried()
	d.do(chromedp.Navigate(s.troubled + "/moderation"))
	signIn := func(token string) {
		t.Helper()
		d.until(`document.activeElement?.id === 'token'`)
		d.press(token + kb.Enter)
	}
	signIn(token("eve", "moderator", "merchant"))
	d.titles("one", "two")
	expire := func() {
		t.Helper()
		s.meet(answers(401, `{"errors":[{"message":"","extensions":{"code":"UNAUTHENTICATED"}}]}`))
		d.click("#refresh")
		d.says("#sign-in-error", "Sign in again. Your decisions and texts are kept.")
	}

	// A token that may not moderate drops nothing, nor does another one of the same moderator.
	d.mouse(0, ".approve")
	expire()
	s.meet(nil)
	signIn(s.token)
	d.says("#sign-in-error", "This token is not that of a moderator. Try another one.")
	signIn(token("eve", "moderator", "merchant"))
	d.titles("two")
	d.decided(one, "APPROVED")

	d.reply("")
	d.press("Eve's")
	d.press(kb.Escape)
	d.mouse(0, ".reject")
	d.press("1" + kb.Enter)
	d.states("decided")
	expire()
	s.meet(cut)
	signIn(token("mallory", "moderator", "merchant"))
	d.says("#sign-in-error", "The server cannot be reached right now.")
	s.meet(answers(200, `{}`)) // of something between the page and the program
	d.click("#token")
	d.press(kb.Enter)
	d.says("#sign-in-error", "The server could not answer. Try again in a moment.")
	s.meet(nil)
	d.do(chromedp.Evaluate(`sessionStorage.setItem('of the shop', 'kept')`, nil))
	d.press(kb.Enter)
	d.titles("two")
	d.until(`sessionStorage.getItem('of the shop') === 'kept'`)
	d.reply("")
	d.press(kb.Escape)
	d.click("#refresh")
	d.titles("two")
	d.decided(two, "PENDING")
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(two, "APPROVED")
	var got struct {
		Moderation struct{ Audit []struct{ By string } }
	}
	(&site{address: s.address, token: token("eve", "moderator")}).ask(t, `query($id: ID!) { moderation { audit(commentId: $id) { by } } }`, map[string]any{"id": two}, &got)
	if by := fmt.Sprint(got.Moderation.Audit); by != "[{mallory}]" {
		t.Errorf("decisions about the second comment are by %s, want mallory's approval alone", by)
	}

	// Of two tokens, the one that was given last counts, whichever answer comes first. Enter again
	// asks nothing again.
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token'`)
	arrived, release := d.hold(late)
	d.press(token("eve", "moderator") + kb.Enter)
	<-arrived
	var asked atomic.Int32
	s.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		asked.Add(1)
		program.ServeHTTP(w, r)
	})
	d.press(kb.Enter)
	d.do(chromedp.Evaluate(`document.querySelector('#token').select()`, nil))
	d.press(token("mallory", "moderator", "merchant") + kb.Enter)
	d.says("#empty", "No comment waits.")
	if asked := asked.Load(); asked != 2 { // who it is, and the queue
		t.Errorf("%d requests sign a moderator in, want 2", asked)
	}
	d.tellsTaken()
	close(release)
	d.until(`globalThis.taken`)
	d.until(`JSON.parse(atob(sessionStorage.getItem('talkback moderator').split('.')[1])).sub === 'mallory'`)
}

// A rejected edit leaves the comment as everyone sees it. If that was reported, it waits on, and
// the page says so.
func rejectAReportedEdit(t *testing.T, browser context.Context) {
	secret, moderator := strings.Repeat("a secret of the shop ", 3), strings.Repeat("m", 40)
	t.Setenv("TALKBACK_JWT_KEY", secret)
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderator)
	address := serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table",
		"--moderation", "hold", "--report-threshold", "1", "--jwt-algorithm", "HS256")
	as := func(customer string) *site {
		claims := jwt.MapClaims{"sub": customer, "exp": time.Now().Add(time.Hour).Unix()}
		return &site{address: address, token: must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret)))(t)}
	}
	var got struct {
		AddComment struct{ Comment struct{ ID string } }
	}
	as("ada").ask(t, `mutation { addComment(input: {
		productId: "lamp", rating: 1, language: "en", title: "title", text: "text", author: {id: "ada", name: "Ada"}
	}) { comment { id } } }`, nil, &got)
	id := map[string]any{"id": got.AddComment.Comment.ID}
	(&site{address: address, token: moderator}).ask(t, `mutation($id: ID!) { approveComment(input: {id: $id, version: 1}) { comment { id } } }`, id, &struct{}{})
	for _, reporter := range []string{"bob", "cy"} { // the approval has doubled the threshold
		as(reporter).ask(t, `mutation($id: ID!) { reportComment(input: {id: $id, reason: SPAM}) { userErrors { code } } }`, id, &struct{}{})
	}
	as("ada").edited(t, got.AddComment.Comment.ID, 1, "another text")

	d := &desk{newTab(t, browser), nil}
	d.do(chromedp.Navigate(address + "/moderation"))
	d.until(`document.activeElement?.id === 'token'`)
	d.press(moderator + kb.Enter)
	d.says(".text ins", "added: another ")
	reasons := func(want string) {
		t.Helper()
		d.until(fmt.Sprintf(`[...document.querySelectorAll('.reasons li')].map(({ textContent }) => textContent).join() === %q`, want))
	}
	reasons("Every comment is looked at,Was edited,Was reported")

	// Another moderator rejects the edit first.
	d.mouse(0, ".approve")
	id["version"] = 2
	(&site{address: address, token: moderator}).ask(t, `mutation($id: ID!, $version: Int!) { rejectComment(input: {id: $id, version: $version, reason: SPAM}) { comment { id } } }`, id, &struct{}{})
	d.click("#refresh")
	d.says(".notice", "The comment was changed meanwhile. This is how it is now. Decide again.")
	reasons("Was reported")
	as("ada").edited(t, got.AddComment.Comment.ID, 1, "another text")
	d.click("#refresh")
	d.says(".text ins", "added: another ")

	reject := func() {
		t.Helper()
		d.mouse(0, ".reject")
		d.press("1" + kb.Enter)
		d.until(`document.querySelector('[data-state=decided]') !== null`)
		d.click("#refresh")
	}
	reject()
	d.says(".notice", "The edit is rejected. The comment without it was reported, and waits on. Decide about that too.")
	d.says(".text", "text")
	d.says("#count", "1 comment waits")
	reasons("Was reported")
	reject()
	d.says("#empty", "No comment waits.")

	// What was reported may be read when its author submits it again.
	as("ada").edited(t, got.AddComment.Comment.ID, 1, "a third text")
	d.click("#refresh")
	d.titles("title")
	d.mouse(0, ".reports summary")
	d.until(`document.querySelectorAll('.reports li').length === 2`)
	d.quiet()
}
