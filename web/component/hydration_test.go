package component

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// observed watches what the element does to the server's markup. It wraps the definition of the
// element. It records the state when the markup is taken over, just before the element adds what
// only the script does. It also makes the element draw the same answer from nothing, and compares
// the two, node by node.
const observed = `(() => {
	const define = customElements.define.bind(customElements);
	customElements.define = (name, type) => {
		const element = document.querySelector(name);
		const drawn = element.shadowRoot.querySelector('.root');
		const nodes = [...drawn.querySelectorAll('*')];
		const server = drawn.cloneNode(true);
		const observer = new MutationObserver(() => {});
		observer.observe(element.shadowRoot, { subtree: true, childList: true, attributes: true, characterData: true });
		const later = queueMicrotask.bind(globalThis);
		let copy;
		globalThis.queueMicrotask = (next) => {
			later(next);
			if (globalThis.takenOver) return;
			if (copy) {
				globalThis.takenOver = { ...copy.found, difference: difference(server, copy.shadowRoot.querySelector('.root')) };
				return copy.remove();
			}
			copy = element.cloneNode(true);
			const changes = observer.takeRecords().map(({ type, target, attributeName }) => type + ' ' + (attributeName ?? '') + ' of ' + (target.outerHTML ?? target.textContent).slice(0, 200));
			copy.found = { changes, shown: [...drawn.children].map((part) => part.className), same: [...drawn.querySelectorAll('*')].every((node, i) => node === nodes[i]) };
			element.after(copy);
		};
		define(name, type);
	};
	function difference(a, b) {
		if (a.isEqualNode(b)) return '';
		for (let i = 0; i < Math.max(a.childNodes.length, b.childNodes.length); i++) {
			const [one, other] = [a.childNodes[i], b.childNodes[i]];
			if (one && other && one.cloneNode().isEqualNode(other.cloneNode())) {
				const found = difference(one, other);
				if (found) return found;
			} else if (!one || !other || !one.isEqualNode(other)) {
				return 'server: ' + shown(one) + '\ncomponent: ' + shown(other);
			}
		}
		return 'attributes: ' + shown(a) + '\n' + shown(b);
	}
	function shown(node) { return node ? (node.cloneNode().outerHTML ?? JSON.stringify(node.data)) : 'nothing'; }
})()`

// The element takes over the markup of the server without changing anything, and draws the same by
// itself. The two renderers agree on every address and every kind of answer.
func takesOver(t *testing.T, ctx context.Context, s shop) {
	run(t, ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(observed).Do(ctx)
		return err
	}))
	for _, test := range []struct{ address, language, shows, why string }{
		{"take", "en", "list", "everything, with highlights"},
		{"take?rating=5&rating=4&language=de&language=fr", "de", "list", "filters, in German"},
		{"take?page=3&rating=4&order=oldest", "en", "list", "a page by number"},
		{"take?from=2026-05-20&to=2026-05-21", "de", "list", "dates"},
		{"take?language=ja", "en", "empty", "a language that no comment has"},
		{"take?page=9", "en", "empty", "a page beyond the last"},
		{"huge?page=612", "de", "list", "large numbers, and gaps"},
		{"cursors?after=c19", "en", "list", "no numbers of pages"},
		{"empty", "en", "empty", "no comments"},
		{"empty?rating=5", "en", "empty", "nor any that match"},
		{"single", "de", "list", "one comment"},
		{"first", "en", "list", "a first comment, not counted yet"},
		{"lagging", "de", "list", "a comment that is not counted yet, in a list that is complete"},
		{"lagging?rating=1", "de", "list", "the same with a filter"},
		{"lagging?from=2026-05-20", "de", "list", "the same by dates"},
		{"full", "en", "list", "a comment that is not counted yet, on the second page"},
		{"full?page=2", "en", "list", "that page"},
		{"emptied", "en", "empty", "a last comment, deleted and still counted"},
		{"hostile", "en", "list", "texts that look like markup"},
		{"long", "fr", "list", "long texts, folded"},
		{"broken", "de", "error", "no list"},
		{"throttled", "en", "error", "the API is busy"},
		{"costly?page=3&language=de", "fr", "error", "more than the API reads"},
		{"off?page=2&rating=5", "de", "error", "page numbers are off"},
		{"limited", "de", "error", "the API limits this client"},
		{"secret", "fr", "error", "the service is not public"},
		{"a%2Fb%20c", "en", "list", "an id that has to be escaped"},
		{"visitors", "de", "list", "visitors vote: room is kept for the buttons"},
		{"take?rating=5&rating=4", "ar", "list", "from right to left"},
		{"single", "ar", "list", "a word for a number"},
		{"huge?page=612", "fr", "list", "spaces between thousands"},
		{"huge?page=613&rating=3", "ja", "empty", "a number in the middle of a text"},
		{"take?language=de", "pl", "list", "a plural of its own"},
		{"empty", "zh", "empty", "no comments, in Chinese"},
		{"closed", "en", "list", "no comments can be written: the place of the form is not kept"},
	} {
		var found struct {
			Changes    []string
			Same       bool
			Shown      []string
			Difference string
		}
		s.forgive(productOf(t, test.address))
		s.requests(productOf(t, test.address)) // of other tests
		run(t, ctx,
			network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": test.language}),
			chromedp.Navigate(s.address+"/products/"+test.address),
			browsertest.Until("globalThis.takenOver", &found),
			refresh)
		if len(found.Changes) > 0 || !found.Same {
			t.Errorf("%s (%s): taking over changed %q", test.address, test.why, found.Changes)
		}
		if !slices.Contains(found.Shown, test.shows) {
			t.Errorf("%s (%s): the server shows %q, want %s", test.address, test.why, found.Shown, test.shows)
		}
		if found.Difference != "" {
			t.Errorf("%s (%s): the renderers differ:\n%s", test.address, test.why, found.Difference)
		}
		asked := s.requests(productOf(t, test.address))
		if len(asked) != 2 {
			t.Errorf("%s (%s): %d requests, want one of the server and one of the element", test.address, test.why, len(asked))
		} else if server, element := asked[0].given, asked[1].given; !reflect.DeepEqual(server, element) {
			t.Errorf("%s (%s): the server asked with %v, the element with %v", test.address, test.why, server, element)
		}
	}
}

// productOf returns the id that an address names.
func productOf(t *testing.T, address string) string {
	t.Helper()
	path, _, _ := strings.Cut(address, "?")
	return must.Get(url.PathUnescape(path))(t)
}

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
