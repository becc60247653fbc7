// Package browsertest drives the explorer in a real browser, headless Chromium, for tests.
//
// Every page visited is watched: a request that leaves the host, an error or a warning on the
// console and a violation of the Content-Security-Policy each fail the test. Nothing here waits for
// a length of time; it waits for what a person would wait for, up to a deadline.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/provisiontest"
)

// patience is how long a visit may take in all before the test fails. A busy machine needs some
// seconds for each action.
const patience = 3 * time.Minute

// headlessShell is Debian's Chromium without windows, which takes half the processor time. The
// command on PATH is a script in between, and a test that ends would kill only the script.
const headlessShell = "/usr/lib/chromium/chromium-headless-shell"

// Open starts a browser with an empty profile and returns the context that the other functions
// take. It is closed when the test ends. Without Chromium the test is skipped, except under CI,
// where it fails.
func Open(t testing.TB) context.Context {
	t.Helper()
	program := chromium(t)
	ctx, closeProgram := chromedp.NewExecAllocator(context.Background(), options(program, os.Geteuid())...)
	t.Cleanup(closeProgram)
	// The driver would print each event of the browser that is newer than itself.
	ctx, closeTab := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(closeTab)
	// The browser lives as long as the context of the first call, so that is made here and not by a
	// visit.
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("starting %s: %v", program, err)
	}
	return ctx
}

// NewVisitor opens a tab of another visitor, with empty storage and cache, and returns its context.
// It is closed when the test ends.
func NewVisitor(t testing.TB, browser context.Context) context.Context {
	t.Helper()
	var id target.ID
	if err := chromedp.Run(browser, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		visitor, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(ctx)
		if err != nil {
			return err
		}
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(visitor).WithNewWindow(true).WithWidth(1280).WithHeight(800).Do(ctx)
		return err
	})); err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(closeTab)
	// The tab lives as long as the context of the first call.
	if err := chromedp.Run(ctx, network.Enable()); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{headlessShell, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	provisiontest.LeaveOut(t, fmt.Errorf("the suites of the browser: Chromium is not on PATH; %w", provisiontest.ErrNotInstalled))
	return ""
}

// options are the program's options when a user starts it.
func options(program string, user int) []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program),
		chromedp.WindowSize(1280, 800),
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", user == 0), // Chromium's sandbox refuses to run as root, which containers do
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-default-apps", true),
		chromedp.Flag("disable-dev-shm-usage", true), // containers give it too little
		// No name is found but this machine's: the pages have to work without internet, workers
		// included.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.*, EXCLUDE localhost"),
	}
}

// Visit opens a page, takes the actions on it, and fails the test when an action fails or the page
// misbehaves.
func Visit(t testing.TB, ctx context.Context, url string, actions ...chromedp.Action) {
	t.Helper()
	outer := ctx
	ctx, cancel := context.WithTimeout(outer, patience)
	defer cancel()
	watched := watch(ctx, url)
	for i, action := range append(chromedp.Tasks{chromedp.Navigate(url)}, actions...) {
		if err := chromedp.Run(ctx, action); err != nil {
			t.Errorf("visiting %s: action %d (the first is to go there): %v\non screen: %s", url, i+1, err, onScreen(outer))
			break
		}
	}
	for _, complaint := range watched.all() {
		t.Errorf("visiting %s: %s", url, complaint)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// onScreen is the beginning of a page's text, for the error of an action that waited in vain.
func onScreen(ctx context.Context) (text string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Evaluate(`document.body.innerText.slice(0, 2000)`, &text)); err != nil {
		return err.Error()
	}
	return text
}
