package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Passing visits mean something only if the watcher works, so the test does each thing that it
// watches for once.
func TestWatcherComplains(t *testing.T) {
	ctx := Open(t)
	for _, test := range []struct {
		name, policy, page string
		want               string // how the first complaint begins; "" for none at all
	}{
		{"an innocent page", "", `<p>hello`, ""},
		{"another host", "", `<img src="http://elsewhere.example/x.png">`, "request to another host: http://elsewhere.example/x.png"},
		{"another port", "", `<img src="http://127.0.0.1:1/x.png">`, "request to another host: http://127.0.0.1:1/x.png"},
		{"data addresses go nowhere", "", `<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">`, ""},
		{"console error", "", `<script>console.error("broken", 1)</script>`, `console error: "broken" 1`},
		{"console warning", "", `<script>console.warn("worker missing")</script>`, `console warning: "worker missing"`},
		{"console chatter", "", `<script>console.log("fine")</script>`, ""},
		{"uncaught error", "", `<script>throw new Error("lost")</script>`, "uncaught: "},
		{"inline script", "script-src 'self'", `<script>document.title = "x"</script>`, "browser error: "},
		{"missing file", "", `<script src="/missing.js"></script>`, "browser error: Failed to load resource"},
	} {
		t.Run(test.name, func(t *testing.T) {
			complaints := visitPage(t, ctx, test.policy, test.page)
			if (test.want == "") != (len(complaints) == 0) || !strings.HasPrefix(strings.Join(complaints, "\n"), test.want) {
				t.Errorf("complaints %q, want %q", complaints, test.want)
			}
		})
	}
}

// A passing check means something only if a broken page fails, within shadow roots too, under a
// policy that allows no script.
func TestAxe(t *testing.T) {
	ctx := Open(t)
	const page = `<html lang="en"><title>t</title><main><h1>t</h1>%s</main>`
	for _, test := range []struct{ name, page, foreign, want string }{
		{"nothing wrong", `<img src="data:," alt="a picture">`, "", ""},
		{"a picture without words", `<img src="data:,">`, "", "image-alt (critical)"},
		{"in a shadow root", `<p><template shadowrootmode="open"><button></button></template></p>`, "", "button-name (critical)"},
		{"somebody else's", `<p id="theirs"><img src="data:,"></p>`, "#theirs", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			visitPage(t, ctx, "default-src 'none'; img-src data:", fmt.Sprintf(page, test.page))
			recorded := &recorder{TB: t}
			Axe(recorded, ctx, strings.Fields(test.foreign)...)
			if (test.want == "") != (len(recorded.errors) == 0) || !strings.Contains(strings.Join(recorded.errors, "\n"), test.want) {
				t.Errorf("findings %q, want %q", recorded.errors, test.want)
			}
		})
	}
}

// A colour during its transition is no finding, here in a shadow root.
func TestAxeWaits(t *testing.T) {
	ctx := Open(t)
	const fading = `<style>b { color: #000; background: #fff; transition: color 1s; @starting-style { color: #eee } }</style><b>words</b>`
	visitPage(t, ctx, "", `<html lang="en"><title>t</title><main><h1>t</h1><p><template shadowrootmode="open">`+fading+`</template></p></main>`)
	Axe(t, ctx)
}

// Faults in a template are found too, for templates contain the parts of an element.
func TestValidHTML(t *testing.T) {
	const page = `<!doctype html><html lang="en"><head><title>t</title></head><body><main>%s</main></body></html>`
	for _, test := range []struct{ name, page, want string }{
		{"nothing wrong", `<p>right</p>`, ""},
		{"a paragraph that a parser ends early", `<p><div></div></p>`, "page, line 1, column "},
		{"in a template", `<p><template shadowrootmode="open"><ul><div></div></ul></template></p>`, "<div> element is not permitted as content under <ul>"},
	} {
		recorded := &recorder{TB: t}
		ValidHTML(recorded, map[string][]byte{"page": fmt.Appendf(nil, page, test.page)})
		if (test.want == "") != (len(recorded.errors) == 0) || !strings.Contains(strings.Join(recorded.errors, "\n"), test.want) {
			t.Errorf("%s: findings %q, want %q", test.name, recorded.errors, test.want)
		}
	}
}

// recorder keeps the errors of a test instead of failing it.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// visitPage serves one page under a Content-Security-Policy, opens it, and returns the watcher's
// complaints.
func visitPage(t *testing.T, ctx context.Context, policy, page string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,">` + page))
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := watch(ctx, server.URL)
	if err := chromedp.Run(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	return watched.all()
}
