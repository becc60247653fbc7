package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/provisiontest"
)

// Axe fails the test for each finding of axe-core on the page that ctx shows, open shadow roots
// included. All its rules are checked, those it calls best practices too. Parts that match one of
// the CSS selectors in foreign are left out: what a library draws, and only with a reason beside
// the call.
//
// Without axe-core, which `make provision` fetches, the test is skipped, except under CI, where it
// fails. So call it in a test or subtest of its own.
func Axe(t testing.TB, ctx context.Context, foreign ...string) {
	t.Helper()
	source, err := os.ReadFile(provisiontest.Fetched(t, "the rules of accessibility", ".cache/axe/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var findings []finding
	// The browser's own debugger evaluates it, so the page's Content-Security-Policy can stay. Once
	// is enough for a page.
	load := "if (!globalThis.axe) {" + string(source) + "}"
	excluded, _ := json.Marshal(append([]string{}, foreign...)) // a list of strings has no way to fail
	run := fmt.Sprintf(`axe.run({ exclude: %s.map((selector) => [selector]) }, { resultTypes: ['violations'] }).then(({ violations }) => violations)`, excluded)
	if err := chromedp.Run(ctx, chromedp.Evaluate(settled, nil, awaited), chromedp.Evaluate(load, nil), chromedp.Evaluate(run, &findings, awaited)); err != nil {
		t.Fatalf("axe-core: %v", err)
	}
	for _, found := range findings {
		t.Errorf("axe-core: %s", found)
	}
}

// finding is one rule that a page breaks, with the elements that break it.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target         json.RawMessage // a list of CSS selectors; lists of them within shadow roots
		FailureSummary string
	}
}

// String names the rule, then each element and how to mend it.
func (f finding) String() string {
	text := fmt.Sprintf("%s (%s): %s", f.ID, f.Impact, f.Help)
	for _, node := range f.Nodes {
		text += fmt.Sprintf("\n  %s\n    %s", node.Target, strings.ReplaceAll(node.FailureSummary, "\n", "\n    "))
	}
	return text
}

// settled waits until the transitions of the page have ended: colours in between belong to no
// design.
const settled = `(async () => {
	const rootsOf = (root) => [root, ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => shadowRoot ? rootsOf(shadowRoot) : [])];
	const transitions = rootsOf(document).flatMap((root) => root.getAnimations()).filter((animation) => animation instanceof CSSTransition);
	await Promise.allSettled(transitions.map(({ finished }) => finished));
})()`

// awaited makes an evaluation wait for its promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
