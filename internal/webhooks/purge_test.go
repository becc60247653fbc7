package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/stream"
)

const purgeToken = "a-token"

// cdn accepts purges, and refuses every other request.
type cdn struct {
	*httptest.Server
	t    *testing.T
	name string

	mu     sync.Mutex
	calls  int
	most   int // greatest number of tags in one request
	purged []string
}

func newCDN(t *testing.T, name string) *cdn {
	c := &cdn{t: t, name: name}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cdn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls%2 == 1 {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	tags, token := strings.Fields(r.Header.Get("Surrogate-Key")), r.Header.Get("Fastly-Key")
	if c.name == "cloudflare" {
		var body struct{ Tags []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			c.t.Error(err)
		}
		tags, token = body.Tags, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if r.Method != http.MethodPost || r.URL.Path != "/purge" || token != purgeToken || len(tags) == 0 || len(tags) > 30 || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s: %s %s by %q of %v", c.name, r.Method, r.URL.Path, token, tags)
	}
	for i, tag := range tags {
		if slices.Contains(tags[:i], tag) {
			c.t.Errorf("%s: %v names a tag twice", c.name, tags)
		}
	}
	c.purged, c.most = append(c.purged, tags...), max(c.most, len(tags))
}

// has reports whether the CDN has purged the tags.
func (c *cdn) has(tags []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(c.purged, tag) })
}

// The products of comments that are or were shown are purged, many in one request, however often
// the CDN refuses.
func TestPurges(t *testing.T) {
	tab := newTable(t)
	token := func(name string) (string, bool) { return purgeToken, name == "TOKEN" }
	var cdns []*cdn
	for _, name := range []string{"fastly", "cloudflare"} {
		at := newCDN(t, name)
		hook := webhooks.Hook{URL: at.URL + "/purge", Purge: name, SecretEnv: "TOKEN", AllowPrivate: true, GiveUp: time.Hour}
		must.Get(tab.store.Add(t.Context(), hook))(t)
		cdns = append(cdns, at)
	}
	var records []stream.Record
	var tags []string
	hidden := map[string]bool{}
	for i := range 500 {
		product := fmt.Sprintf("Product %d, number %d", i%100, i)
		c := commenttest.Many(commenttest.Rand(t), product, 1)[0]
		if c.Status = comment.Approved; i%5 == 0 {
			c.Status, c.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: c.CreatedAt()}
			hidden[edge.Tag(product)] = true
		} else {
			tags = append(tags, edge.Tag(product))
		}
		records = append(records, stream.Record{Position: stream.PositionOf("l", fmt.Sprint(i)), Created: time.Now(), Keys: layout.CommentKey(c.ID), New: layout.Encode(c)})
	}
	tab.append(records)
	tab.deliver(tab.client, func(o *webhooks.Options) {
		o.Send, o.Ready = webhooks.NewSender(token).Send, webhooks.NewSender(token).Ready
	})
	for _, at := range cdns {
		tab.await(at.name, func() bool { return at.has(tags) })
		at.mu.Lock()
		if at.most < 2 || slices.ContainsFunc(at.purged, func(tag string) bool { return hidden[tag] }) {
			t.Errorf("%s: %d requests purge %d of %d tags, at most %d at once", at.name, at.calls, len(at.purged), len(tags), at.most)
		}
		at.mu.Unlock()
	}
}

// Without a token, a purge is not tried, and the token is in no error.
func TestPurgeWithoutToken(t *testing.T) {
	sender := webhooks.NewSender(func(name string) (string, bool) {
		return map[string]string{"LINES": purgeToken + "\r\nX: y"}[name], true
	})
	for _, name := range []string{"NONE", "LINES"} {
		hook := webhooks.Hook{URL: "http://127.0.0.1:1", Purge: "fastly", SecretEnv: name, AllowPrivate: true}
		for _, err := range []error{sender.Ready(hook), sender.Send(t.Context(), hook, outbox.Event{Product: "espresso"})} {
			if err == nil || !strings.Contains(err.Error(), name+" holds no token") || strings.Contains(err.Error(), purgeToken) {
				t.Error(err)
			}
		}
	}
}
