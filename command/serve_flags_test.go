package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Each flag sets what it is named for.
func TestFlagsOfHTTP(t *testing.T) {
	t.Parallel()
	s := serving(t, append(onTable(t), "--listen", "127.0.0.1:0",
		"--max-body", "100", "--max-query", "50", "--cors-origin", "https://shop.example", "--cors-origin", "https://m.shop.example")...)
	for _, test := range []struct{ body, origin, want string }{
		{`{"query": "{ __typename }"}`, "https://m.shop.example", `{"data":{"__typename":"Query"}}`},
		{strings.Repeat(" ", 101), "https://shop.example", `BODY_TOO_LARGE`},
		{`{"query": "` + strings.Repeat(" ", 51) + `"}`, "https://shop.example", `QUERY_TOO_LONG`},
	} {
		got := post(t, s.address, test.body, "Origin: "+test.origin)
		if allowed := got.header.Get("Access-Control-Allow-Origin"); !strings.Contains(got.body, test.want) || allowed != test.origin {
			t.Errorf("%s, allowed origin %q; want %s and %q", got.body, allowed, test.want, test.origin)
		}
	}
}

// A server that gets SIGHUP reads its manifests again, while it answers. A damaged manifest changes
// nothing.
func TestTrustedDocumentsAreReadAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	manifest := filepath.Join(folder, "manifest.json")
	write := func(text string) {
		writeFile(t, manifest+".new", text)
		must.Do(t, os.Rename(manifest+".new", manifest))
	}
	write(`{"one": "query One { __typename }"}`)
	s := startServer(t, append(onTable(t), "--trusted-documents", manifest, "--trusted-only")...)
	answers := func(id string) bool { return strings.Contains(s.post(`{"documentId": "`+id+`"}`), `"data"`) }
	if !answers("one") || answers("two") || !strings.Contains(s.ask("{ __typename }"), "DOCUMENT_NOT_TRUSTED") {
		t.Errorf("%s, %s, %s", s.post(`{"documentId": "one"}`), s.post(`{"documentId": "two"}`), s.ask("{ __typename }"))
	}
	write(`{"two": "query Two { __typename }"}`)
	s.signal(syscall.SIGHUP)
	must.Wait(t, "the new manifest counts", func() bool { return answers("two") && !answers("one") })
	write(`{"two": "query Two { price }"}`)
	s.signal(syscall.SIGHUP)
	write(`{"one": "query One { __typename }"}`) // in force at the next signal at the latest
	s.signal(syscall.SIGHUP)
	must.Wait(t, "a later manifest counts", func() bool { return answers("one") })
	s.stop()
}
