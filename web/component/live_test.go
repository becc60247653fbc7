package component

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
)

// follower is a subscription to the comments of a product at the stand-in.
type follower struct {
	Extensions struct{ Position string } // as it came

	product string
	filter  any
	do      chan func(http.ResponseWriter) // nil ends it
	left    <-chan struct{}                // closed when the client has gone
	over    chan struct{}                  // closed when the follower is finished
}

// serve follows a test's instructions.
func (f follower) serve(s *service, w http.ResponseWriter, r *http.Request, query string, variables object) {
	if err := s.check(query, variables, listed()); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.product, f.filter = variables["product"].(string), variables["filter"]
	f.do, f.left, f.over = make(chan func(http.ResponseWriter)), r.Context().Done(), make(chan struct{})
	defer close(f.over)
	s.followers <- &f
	for {
		select {
		case do := <-f.do:
			if do == nil {
				return
			}
			do(w)
			_ = http.NewResponseController(w).Flush()
		case <-f.left:
			return
		}
	}
}

// then returns an action on a follower.
func (f *follower) then(do func(http.ResponseWriter)) {
	select {
	case f.do <- do:
	case <-f.over:
	}
}

// tells sends messages, which have an empty line between them.
func (f *follower) tells(messages ...string) {
	f.then(func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, message := range messages {
			_, _ = io.WriteString(w, message+"\n\n")
		}
	})
}

// refuses answers with a status and a code in place of a stream.
func (f *follower) refuses(status int, code string) {
	f.then(func(w http.ResponseWriter) { reply(w, status, refused(code, nil)) })
	f.then(nil)
}

// came is the message that a comment of a customer came.
func came(id, customer string) string {
	return fmt.Sprintf(`event: next
id: 1.1.1.%s
data: {"data":{"commentEvents":{"kind":"ADDED","commentId":"c_%[1]s","comment":{"author":{"customerId":"%s"}}}}}`, id, customer)
}

// happened is the message of another event of a comment.
func happened(kind, id string) string {
	return fmt.Sprintf(`event: next
data: {"data":{"commentEvents":{"kind":"%s","commentId":"c_%s","comment":null}}}`, kind, id)
}

// failedWith is the message that ends a stream with an error.
func failedWith(code string) string {
	return fmt.Sprintf(`event: next
data: {"errors":[{"message":"no","extensions":{"code":"%s"}}]}`, code)
}

// follows waits for the next subscription to a product.
func (s shop) follows(product string, use func(*follower)) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		select {
		case f := <-s.followers:
			if f.product != product {
				return fmt.Errorf("%s is followed instead of %s", f.product, product)
			}
			use(f)
			return nil
		case <-ctx.Done():
			return fmt.Errorf("nobody follows %s: %w", product, ctx.Err())
		}
	})
}

// leaves waits until a client has ended its subscription.
func leaves(f **follower) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		select {
		case <-(*f).left:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("the subscription goes on: %w", ctx.Err())
		}
	})
}

// does is an action of the test itself.
func does(do func()) chromedp.Action {
	return chromedp.ActionFunc(func(context.Context) error { do(); return nil })
}

// hurried makes pages wait a fiftieth of their usual times, except for the service.
func hurried(t *testing.T, ctx context.Context) {
	t.Helper()
	run(t, ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`{
			const later = window.setTimeout;
			window.setTimeout = (next, wait) => later(next, wait === 45_000 ? wait : wait / 50);
			let hidden = false;
			Object.defineProperty(document, 'visibilityState', { get: () => (hidden ? 'hidden' : 'visible') });
			window.hide = (now) => { hidden = now; document.dispatchEvent(new Event('visibilitychange')); };
		}`).Do(ctx)
		return err
	}))
}

// fresh is the notice of new comments.
const fresh = ".fresh a"

// places are the positions of everything that is read.
const places = `(() => JSON.stringify([...` + root + `.querySelectorAll('.summary, .filters, .result, .list > li, .pages, .compose')].map((element) => {
	const { x, y, width, height } = element.getBoundingClientRect();
	return [x, y, width, height];
})))()`

// A reader is told how many comments came, in the current list and language, and nothing moves. A
// press shows them. Only new comments of other people count.
func tellsNewComments(t *testing.T, ctx context.Context, s shop) {
	hurried(t, ctx)
	for scheme, width := range map[string]int64{"light": 1280, "dark": 360} {
		var before, after string
		var moved float64
		var f *follower
		browsertest.Visit(t, ctx, s.address+"/shop/signed",
			emulation.SetDeviceMetricsOverride(width, 800, 1, false),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			holds(idle),
			chromedp.Evaluate("document.documentElement.style.cssText = 'background: Canvas; color-scheme: light dark'", nil),
			chromedp.Evaluate(root+".querySelector('.list > :nth-child(4)').scrollIntoView()", nil),
			chromedp.Evaluate("window.moved = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) moved += value; }).observe({ type: 'layout-shift' })", nil),
			chromedp.Evaluate(places, &before),
			chromedp.Evaluate("document.querySelector('talkback-comments').setAttribute('live', '')", nil),
			s.follows("signed", func(it *follower) { f = it }),
			does(func() {
				f.tells("id: 1.1.1.0", came("1", "you"), came("1", "you"), came("mine", "me"), came("00000000000000000000000000", "you"), happened("CHANGED", "9"), happened("GONE", "8"))
			}),
			says(fresh, "1 new comment"),
			does(func() { f.tells(came("2", "you"), came("3", "you"), came("4", "you"), happened("GONE", "3")) }),
			says(fresh, "3 new comments"),
			holds(root+".querySelector('.fresh[role=status]').getBoundingClientRect().top > 0"), // in view
			chromedp.Evaluate(places, &after),
			chromedp.Evaluate("moved", &moved),
		)
		if before != after || moved != 0 {
			t.Errorf("%d, %s: the page moved by %v:\n%s\n%s", width, scheme, moved, before, after)
		}
		t.Run("rules, "+scheme, func(t *testing.T) { browsertest.Axe(t, ctx) })
		s.requests("signed")
		run(t, ctx, click(fresh), focused(".list"), holds(root+".querySelector('.fresh').childElementCount === 0"))
		if asked := s.requests("signed"); len(asked) != 1 {
			t.Errorf("%d requests for one press", len(asked))
		}
		run(t, ctx, does(func() { f.tells(came("5", "you")) }), says(fresh, "1 new comment"), chromedp.Navigate("about:blank"), leaves(&f))
	}
}

// Only a list that begins with the newest comments is followed, with its filter, while it is in
// view. The page must be visible, and of two elements the later one counts. A hundred are enough.
func followsOneList(t *testing.T, ctx context.Context, s shop) {
	hurried(t, ctx)
	var first, second, third *follower
	var loaded int
	enough, told := make(chan struct{}), make(chan struct{})
	const element = "document.querySelector('talkback-comments')"
	s.opens(t, ctx, "lamp?a-filter=language%3Dde%26rating%3D5&a-lang=pl",
		chromedp.Evaluate("performance.getEntriesByType('resource').filter(({ name }) => name.includes('/live-')).length", &loaded),
		chromedp.Evaluate(element+".setAttribute('live', '')", nil),
		s.follows("lamp", func(f *follower) { first = f }),
		does(func() { first.tells("id: 7.7.7.7", came("1", "you"), came("2", "you"), came("3", "you")) }),
		says(fresh, "3 nowe opinie"),
		chromedp.Evaluate("hide(true)", nil),
		leaves(&first),
		chromedp.Evaluate("hide(false)", nil),
		s.follows("lamp", func(f *follower) { second = f }),
		click(".order a[href*=oldest]"),
		holds(root+".querySelector('.fresh').childElementCount === 0"),
		leaves(&second),
		click(".order a:not([href*=order])"),
		s.follows("lamp", func(f *follower) { second = f }),
		chromedp.Evaluate("window.removed = "+element+"; removed.remove()", nil),
		leaves(&second),
		chromedp.Evaluate("document.querySelector('main').append(removed)", nil),
		s.follows("lamp", func(f *follower) { second = f }),
		chromedp.Evaluate("{ const other = removed.cloneNode(); other.setAttribute('product', 'single'); removed.before(other); }", nil),
		s.follows("single", func(f *follower) { third = f }),
		leaves(&second),
		chromedp.Evaluate(element+".remove()", nil),
		leaves(&third),
		does(func() {
			go func() { // while elements come and go, the list may leave the view for a moment, and be followed again
				defer close(told)
				for {
					select {
					case f := <-s.followers:
						if f.product != "lamp" {
							t.Errorf("%s is followed instead of lamp", f.product)
						}
						for i := range 150 {
							f.tells(came(fmt.Sprint(i), "you"))
						}
						first = f
					case <-enough:
						return
					case <-t.Context().Done():
						return
					}
				}
			}()
		}),
		says(fresh, "99+ nowych opinii"),
		does(func() { close(enough); <-told }),
		leaves(&first),
		click(fresh),
		s.follows("lamp", func(f *follower) { first = f }),
		chromedp.Evaluate(element+".removeAttribute('live')", nil),
		leaves(&first),
	)
	if loaded != 0 {
		t.Error("the script that follows lists is loaded by a page that does not want it")
	}
	if want := (object{"languages": []any{"de"}, "ratings": []any{5.0}}); !reflect.DeepEqual(first.filter, want) {
		t.Errorf("followed with %v", first.filter)
	}
}

// A stream that ends resumes where it ended. After a refusal, the element gives up, and the page
// goes on without. A page of another origin needs nothing more for it. A script that could not be
// loaded is loaded for the next list.
func followsThroughTrouble(t *testing.T, ctx context.Context, s shop) {
	hurried(t, ctx)
	var f *follower
	run(t, ctx,
		network.Enable(),
		network.SetBlockedURLs([]string{"*/live-*"}),
		chromedp.Navigate(s.elsewhere+"/shop/lamp?a-live="),
		holds(idle),
		chromedp.Evaluate(root+".querySelector('.list').scrollIntoView()", nil),
		holds("performance.getEntriesByType('resource').some(({ name }) => name.includes('/live-'))"),
		network.SetBlockedURLs([]string{}),
		click(".order a[href*=oldest]"),
		holds(idle),
		click(".order a:not([href*=order])"),
		s.follows("lamp", func(it *follower) { f = it }),
		chromedp.Navigate("about:blank"),
		leaves(&f),
	)
	var at []string
	next := func(do func(f *follower)) chromedp.Action {
		return s.follows("lamp", func(f *follower) {
			at = append(at, f.Extensions.Position)
			do(f)
		})
	}
	run(t, ctx,
		chromedp.Navigate(s.elsewhere+"/shop/lamp?a-live="),
		holds(idle),
		chromedp.Evaluate(root+".querySelector('.list').scrollIntoView()", nil),
		next(func(f *follower) { f.refuses(http.StatusBadGateway, "") }),
		next(func(f *follower) { f.refuses(http.StatusServiceUnavailable, "UNAVAILABLE") }),
		next(func(f *follower) { f.tells("id: 5.5.5.5"); f.then(nil) }), // the server stops
		next(func(f *follower) { f.tells(came("1", "you"), failedWith("UNAVAILABLE")); f.then(nil) }),
		says(fresh, "1 new comment"),
		next(func(f *follower) { f.tells(failedWith("BAD_INPUT")); f.then(nil) }), // too much happened
		next(func(f *follower) { f.tells(":", came("2", "you")); f.then(nil) }),
		says(fresh, "2 new comments"),
		next(func(f *follower) { f.refuses(http.StatusServiceUnavailable, "TOO_MANY_SUBSCRIPTIONS") }),
		chromedp.Evaluate("hide(true); hide(false)", nil),
		chromedp.Evaluate("new Promise((resolve) => setTimeout(resolve, 30_000))", nil, awaited),
		says(fresh, "2 new comments"),
	)
	// A proxy that knows no streams has a page for whatever it is asked, which is no place to ask
	// again.
	run(t, ctx,
		chromedp.Navigate(s.elsewhere+"/shop/lamp?a-live="),
		holds(idle),
		chromedp.Evaluate(root+".querySelector('.list').scrollIntoView()", nil),
		s.follows("lamp", func(f *follower) {
			f.then(func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<!doctype html>") })
			f.then(nil)
		}),
		chromedp.Evaluate("new Promise((resolve) => setTimeout(resolve, 30_000))", nil, awaited),
	)
	if got, want := strings.Join(at, " "), "   5.5.5.5 1.1.1.1  1.1.1.2"; got != want {
		t.Errorf("resumed at %q, want %q", got, want)
	}
	select {
	case <-s.followers:
		t.Error("a page that was refused asks again")
	default:
	}
}
