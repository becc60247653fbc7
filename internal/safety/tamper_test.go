package safety

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/workload"
)

// lie changes an answer to an operation of a name.
type lie struct {
	why, operation string
	pattern, by    string
	// unsaid has the operation not performed at all.
	unsaid bool
}

// Each wrong answer is noticed: without this, a workload that finds nothing says nothing.
func TestLiesAreNoticed(t *testing.T) {
	t.Parallel()
	s := open(t)
	target := must.Get(url.Parse(s.url))(t)
	for _, l := range []lie{
		{why: "the first comment of a page is missing", operation: "query Page", pattern: `"edges":\[\{.*?\}\}\},?`, by: `"edges":[`},
		{why: "a comment comes twice", operation: "query Page", pattern: `"edges":\[(\{.*?\}\}\}),?`, by: `"edges":[$1,$1,`},
		{why: "a text is another", operation: "query Page", pattern: `"text":"text `, by: `"text":"Text `},
		{why: "a page is said to be the last", operation: "query Page", pattern: `"hasNextPage":true`, by: `"hasNextPage":false`},
		{why: "more pages are said to follow", operation: "query Page", pattern: `"hasNextPage":false`, by: `"hasNextPage":true`},
		{why: "an old version is shown", operation: "query One", pattern: `"version":\d`, by: `"version":9`},
		{why: "a comment by id is lost", operation: "query One", pattern: `"comment":\{.*\}\}`, by: `"comment":null`},
		{why: "one is counted too much", operation: "query Count", pattern: `"totalCount":`, by: `"totalCount":9`},
		{why: "a rating is counted too often", operation: "query Count", pattern: `"rating":5,"count":`, by: `"rating":5,"count":9`},
		{why: "a leader has too many", operation: "query Leaders", pattern: `"count":`, by: `"count":9`},
		{why: "nothing is on the leaderboard", operation: "query Leaders", pattern: `"leaderboard":\[.*\]`, by: `"leaderboard":[]`},
		{why: "a page by number shows the page before", operation: "query Number", pattern: `"page":\d`, by: `"page":1`, unsaid: true},
		{why: "an edit is not made", operation: "editComment", pattern: `"text":"`, by: `"text":"un`, unsaid: true},
		{why: "an error has an unknown code", operation: "query Page", pattern: `^.*$`, by: `{"errors":[{"message":"","extensions":{"code":"INTERNAL"}}]}`},
	} {
		t.Run(l.why, func(t *testing.T) {
			liar := httptest.NewServer(l.over(target))
			defer liar.Close()
			load := workload.New(liar.URL, commenttest.Rand(t).Uint64N(1e6))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			go func() {
				for ; load.Err() == nil && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				}
				cancel()
			}()
			if load.Run(ctx) == nil {
				t.Errorf("it goes unnoticed: %s", load.Tally())
			}
		})
	}
}

// marked is the header of a request whose answer is to be changed.
const marked = "X-Lie"

// over is a proxy that lies.
func (l lie) over(target *url.URL) http.Handler {
	pattern := regexp.MustCompile(l.pattern)
	proxy := &httputil.ReverseProxy{
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // of calls that are broken off
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			if response.Request.Header.Get(marked) == "" {
				return nil
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			body = pattern.ReplaceAll(body, []byte(l.by))
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response.Header.Del("Content-Length")
			return nil
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(body), l.operation) {
			if l.unsaid {
				body = pattern.ReplaceAll(body, []byte(l.by))
			} else {
				r.Header.Set(marked, "yes")
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(w, r)
	})
}
