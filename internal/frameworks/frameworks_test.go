// Package frameworks tries the element in the frameworks that shops use. It makes, packs and
// installs the npm package of web/package, builds the apps that the guides show, and drives each in
// a browser against the whole service.
package frameworks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// patience bounds every wait for a program. It is reached only by a failure.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { dynamotest.Main(m) }

// The package has the version of the program, can be imported where there is no document, and has
// types for React 18 and 19. Every app of the guides shows comments, signs a customer in, and hears
// of what they write.
func TestFrameworks(t *testing.T) {
	folder := newFolder(t)
	program := filepath.Join(t.TempDir(), "talkback") // not in bin/, which other tests copy meanwhile
	if !t.Run("package", func(t *testing.T) { install(t, folder, program) }) {
		return
	}
	t.Run("types", func(t *testing.T) {
		node(t, folder, "typescript/bin/tsc", "--project", ".")
		node(t, folder, "typescript/bin/tsc", "--project", "tsconfig.18.json")
	})
	node(t, folder, "vite/bin/vite.js", "build", "--logLevel", "warn")
	ctx := browsertest.Open(t)
	address := openShop(t, folder, program)
	t.Run("next", func(t *testing.T) {
		shown := startNext(t, folder, address) + "/products/lamp?page="
		customerWrites(t, ctx, shown+"1", "next")
		if !drawn(t.Context(), shown+"99") {
			t.Error("a page beyond the last does not say so")
		}
		twice := strings.Replace(shown, "page=", "rating=5&rating=4", 1)
		if !strings.Contains(fetched(t.Context(), twice), "?rating=5&amp;rating=4&amp;rating=3") { // the link to a third
			t.Error("of two ratings that a reader chose, the service drew at most one")
		}
	})
	for _, app := range []string{"plain", "react", "vue", "svelte"} {
		t.Run(app, func(t *testing.T) { customerWrites(t, ctx, address+"/"+app+".html", app) })
	}
	t.Run("a shop moves in", func(t *testing.T) { movesIn(t, ctx, folder, program) })
}

// startNext starts the server of Next.js in front of a shop, and returns its address. It is the one
// for development, since React tells of differences between what the server drew and the browser
// draws there only.
func startNext(t *testing.T, folder, shop string) string {
	t.Helper()
	port := servertest.FreePort(t)
	log := filepath.Join(t.TempDir(), "log")
	next := filepath.Join(folder, "..", "node_modules", "next", "dist", "bin", "next")
	started, err := engine.StartChild(engine.Command{
		Path: provisiontest.Program(t, "env", "Next.js"), Log: log, // a child has no environment of its own
		Args: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NEXT_TELEMETRY_DISABLED=1", "TALKBACK_URL=" + shop,
			"node", next, "dev", filepath.Join(folder, "next"), "--hostname", "127.0.0.1", "--port", fmt.Sprint(port),
		},
	})
	must.Do(t, err)
	t.Cleanup(func() {
		_ = started.Stop(time.Second)
		if t.Failed() {
			t.Logf("Next.js says\n%s", read(t, log))
		}
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must.Do(t, started.Ready(ctx, func(ctx context.Context) bool { return drawn(ctx, address+"/products/lamp") }))
	return address
}

// drawn reports whether a page comes with the inside of the element. It also asks for the page's
// scripts, which are compiled when somebody asks.
func drawn(ctx context.Context, page string) bool {
	html := fetched(ctx, page)
	for _, script := range regexp.MustCompile(`src="(/_next/[^"]+)"`).FindAllStringSubmatch(html, -1) {
		base, _, _ := strings.Cut(page, "/products/")
		fetched(ctx, base+script[1])
	}
	return strings.Contains(html, `<template shadowrootmode="open"><style>`)
}

// fetched is what an address has, empty if there is no answer.
func fetched(ctx context.Context, address string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body) // one that was cut is asked for again
	return string(body)
}

// newFolder copies the apps to a folder below the packages of the frameworks, where they find
// these.
func newFolder(t *testing.T) string {
	t.Helper()
	modules := provisiontest.Packages(t, "the frameworks' tests", "internal/frameworks", ".cache/frameworks")
	folder := must.Get(os.MkdirTemp(filepath.Dir(modules), "apps-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	must.Do(t, os.CopyFS(folder, os.DirFS("apps")))
	return folder
}

// install builds the program, makes, packs and installs the package, offline as it depends on
// nothing, and imports it.
func install(t *testing.T, folder, program string) {
	t.Helper()
	must.Do(t, provisiontest.Build("github.com/talkback/talkback", program))
	made := filepath.Join(folder, "made")
	run(t, ".", "../../web/package/build.sh", program, made)
	packed := strings.TrimSpace(run(t, folder, "npm", "pack", "--silent", "./made"))
	run(t, folder, "npm", "install", "--offline", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "./"+packed)
	var installed struct{ Version string }
	must.Do(t, json.Unmarshal([]byte(read(t, filepath.Join(folder, "node_modules", "talkback-comments", "package.json"))), &installed))
	version := strings.Trim(strings.TrimPrefix(strings.Fields(run(t, ".", program, "--version"))[1], "v"), "()")
	if installed.Version != version && installed.Version != "0.0.0-"+version {
		t.Errorf("the package is of version %q, the program of %q", installed.Version, version)
	}
	imported := run(t, folder, "node", "--input-type=module", "--eval", "import { TalkbackComments } from 'talkback-comments'; console.log(TalkbackComments, typeof document)")
	if imported != "undefined undefined\n" {
		t.Errorf("imported without a document, it says %q", imported)
	}
}

// customerWrites drives an app as a customer would: reads, signs in, and writes.
func customerWrites(t *testing.T, ctx context.Context, address, title string) {
	t.Helper()
	click := func(selector string) chromedp.Action { return browsertest.ClickElement(find(selector)) }
	browsertest.Visit(t, ctx, address,
		browsertest.Until(fmt.Sprintf("%squerySelectorAll('.list article').length >= %d", inside, written), nil), // others may have written
		browsertest.Until(find("slot[name=sign-in]")+" !== null", nil),
		browsertest.Click("button"),
		browsertest.Until(find(".write .button")+"?.textContent === 'Tell us what you think'", nil),
		click(".write .button"),
		click(".write [name=rating][value='5']"),
		browsertest.Until(find(".write [name=name]")+" === null", nil), // the app told it
		chromedp.Evaluate(find(".write textarea")+".focus()", nil),
		chromedp.KeyEvent("From "+title),
		click(".write .primary"),
		browsertest.Until("document.querySelector('#thanks')?.textContent === 'Thank you for 5 stars'", nil),
		browsertest.Until(find(".list .text")+"?.textContent === 'From "+title+"'", nil),
		browsertest.Until(find(".list .author")+"?.textContent === 'Ada'", nil),
	)
}

// inside is what is in the element.
const inside = "document.querySelector('talkback-comments')?.shadowRoot?."

func find(selector string) string { return fmt.Sprintf("%squerySelector(%q)", inside, selector) }

// written is how many comments a product has before.
const written = 3

// openShop starts a shop: the apps, sign-in for one customer of its own for each app, and the
// service, which takes its tokens.
func openShop(t *testing.T, folder, program string) string {
	t.Helper()
	secret := strings.Repeat("a secret of the shop ", 3)
	table, reviews := newTable(t), filepath.Join(t.TempDir(), "reviews.csv")
	rows := "product,rating,text,authorName,createdAt\n"
	for n := range written {
		rows += fmt.Sprintf("lamp,4,Bright.,Bob,2024-05-%02d\n", 1+n)
	}
	must.Do(t, os.WriteFile(reviews, []byte(rows), 0o600))
	run(t, ".", program, append([]string{"import", reviews, "--language", "en", "--yes"}, table...)...)
	customers := 0
	mux := http.NewServeMux()
	mux.Handle("/", serve(t, program, secret, nil, table))
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, _ *http.Request) {
		customers++
		signIn(w, secret, customers, "Ada")
	})
	built := http.FileServer(http.Dir(filepath.Join(folder, "dist")))
	for _, path := range []string{"/react.html", "/vue.html", "/svelte.html", "/assets/"} {
		mux.Handle("GET "+path, built)
	}
	mux.HandleFunc("GET /plain.html", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(folder, "plain.html"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// newTable returns the flags of a table of its own.
func newTable(t *testing.T) []string {
	t.Helper()
	return []string{"--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table"}
}

// serve starts the program, whose customers sign in by tokens of a secret, and leads to it.
// Settings of its environment, which a child has none of, come before the flags.
func serve(t *testing.T, program, secret string, settings, flags []string) http.Handler {
	t.Helper()
	env := provisiontest.Program(t, "env", "the whole service")
	service := servertest.Start(t, env, func(port uint16) []string {
		return slices.Concat(settings, []string{"TALKBACK_JWT_KEY=" + secret, program, "serve",
			"--listen", fmt.Sprintf("127.0.0.1:%d", port), "--jwt-algorithm", "HS256"}, flags)
	}, func(address string) bool { return fetched(t.Context(), "http://"+address+"/talkback.js") != "" })
	return httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: service.Address()})
}

// node runs a program of the frameworks' packages.
func node(t *testing.T, folder, program string, arguments ...string) {
	t.Helper()
	run(t, folder, "node", append([]string{filepath.Join("..", "node_modules", filepath.FromSlash(program))}, arguments...)...)
}

// run runs a command in a folder and returns what it prints; unless it succeeds, what it said is
// the failure.
func run(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, name, arguments...)
	process.Dir = folder
	var printed, said bytes.Buffer
	process.Stdout, process.Stderr = &printed, &said
	if err := process.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, arguments, err, &printed, &said)
	}
	return printed.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}
