package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Chromium keeps its sandbox unless root starts it, since it would not run then.
func TestSandbox(t *testing.T) {
	for _, test := range []struct {
		why     string
		user    int
		without bool
	}{
		{"root", 0, true},
		{"anyone else", 1000, false},
	} {
		folder := t.TempDir()
		program, noted := filepath.Join(folder, "chromium"), filepath.Join(folder, "arguments")
		script := "#!/bin/sh\nfor a; do echo \"$a\"; done >" + noted + "\n"
		must.Do(t, os.WriteFile(program, []byte(script), 0o755))
		ctx, cancel := chromedp.NewExecAllocator(context.Background(), options(program, test.user)...)
		tab, closeTab := chromedp.NewContext(ctx)
		if err := chromedp.Run(tab); err == nil {
			t.Error("a script passes for a browser")
		}
		closeTab()
		cancel()
		arguments := must.Get(os.ReadFile(noted))(t)
		if got := slices.Contains(strings.Fields(string(arguments)), "--no-sandbox"); got != test.without {
			t.Errorf("%s: without a sandbox %v, want %v", test.why, got, test.without)
		}
	}
}
