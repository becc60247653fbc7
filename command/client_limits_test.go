package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/internal/servertest/programtest"
)

// running is the program that serves within this process.
type running struct {
	address string
	said    *commenttest.Transcript
	stop    func() // the end of the test does it otherwise
}

// serving starts the program until the test ends.
func serving(t *testing.T, arguments ...string) running {
	t.Helper()
	said := &commenttest.Transcript{}
	address, stop := programtest.Serve(t, said, arguments...)
	return running{"http://" + address, said, stop}
}

// limitedReply is an answer with its headers about limits.
type limitedReply struct {
	status            int
	limit, retryAfter string
	body              string
	cost              struct {
		EstimatedReadUnits, UsedReadUnits float64
		Remaining                         int
		ResetAt                           time.Time
	}
}

// left returns how many units are left according to the answer.
func (r limitedReply) left(t *testing.T) int {
	t.Helper()
	_, text, _ := strings.Cut(r.limit, `"read-units";r=`)
	text, _, _ = strings.Cut(text, ";")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.limit, err, r.body)
	}
	return n
}

// ask posts an operation with the token of a sender, from an address that a proxy reports.
func (s running) ask(t *testing.T, token, from, query string) (out limitedReply) {
	t.Helper()
	got := post(t, s.address, operation(query, nil), bearer(token), "X-Forwarded-For: "+from)
	var parsed struct {
		Extensions struct{ Cost json.RawMessage }
	}
	if err := json.Unmarshal([]byte(got.body), &parsed); err == nil && parsed.Extensions.Cost != nil {
		must.Do(t, json.Unmarshal(parsed.Extensions.Cost, &out.cost))
	}
	out.status, out.body = got.status, got.body
	out.limit, out.retryAfter = got.header.Get("RateLimit"), got.header.Get("Retry-After")
	return out
}

const (
	hundred = `{ product(id: "teapot") { comments(first: 100) { nodes { id text } } } }`
	addBy   = `mutation { addComment(input: {productId: "teapot", rating: 5, language: "en", text: "Good.", author: {id: "%s", name: "A"}}) { userErrors { code } comment { id } } }`
)

// A client is charged for what its operations consume of the table, whatever the estimate was. It
// is identified by its customer's token, or by the address that its proxy reports.
func TestClientLimits(t *testing.T) {
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderatorToken)
	t.Setenv("TALKBACK_JWT_KEY", sharedSecret)
	t.Setenv("TALKBACK_VISITOR_SECRET", strings.Repeat("v", 32))
	s := serving(t, append(onTable(t), "--listen", "127.0.0.1:0", "--visitor-votes", "--jwt-algorithm", "HS256", "--roles-claim", "roles", "--trusted-proxy", "127.0.0.0/8",
		"--client-read-units", "1", "--client-burst", "60", "--client-writes", "2")...)
	if !strings.Contains(s.said.String(), "limits    1 read units a second and 2 writes a minute for each client") {
		t.Errorf("the start does not say what bounds clients:\n%s", s.said)
	}
	byRole := func(role string) string {
		return signed(t, jwt.MapClaims{"sub": "u1", "exp": time.Now().Add(time.Hour).Unix(), "roles": []string{role}})
	}
	for who, token := range map[string]string{"the moderators' token": moderatorToken, "a moderator": byRole("moderator"), "the shop": byRole("shop")} {
		for range 5 {
			if got := s.ask(t, token, "203.0.113.9", fmt.Sprintf(addBy, "u1")); got.status != http.StatusOK || got.limit != "" || !strings.Contains(got.body, `"comment":{`) {
				t.Fatalf("%s: %d with %q: %s", who, got.status, got.limit, got.body)
			}
		}
	}
	if got := s.ask(t, byRole("merchant"), "203.0.113.9", fmt.Sprintf(addBy, "u1")); got.limit == "" {
		t.Error("a merchant is not limited")
	}
	s.checkReads(t)
	s.checkWrites(t)
	s.checkVisitors(t)
	s.checkPages(t)
	checkSecrets(t, s.said.String(), "")
}

// refusedPages asks for pages of products by a wrong cursor. Each is refused while statistics are
// being read.
func refusedPages(products int) string {
	var ids strings.Builder
	for i := range products {
		fmt.Fprintf(&ids, "%q ", fmt.Sprint("pan-", i))
	}
	return `{ products(ids: [` + ids.String() + `]) { comments(first: 1, after: "x") { totalCount } } }`
}

func (s running) checkReads(t *testing.T) {
	t.Helper()
	for range 8 { // each is estimated at 13 units
		begun := time.Now()
		got := s.ask(t, "", "203.0.113.1", hundred)
		if got.status != http.StatusOK || got.cost.EstimatedReadUnits != 13 || got.cost.UsedReadUnits > 2 {
			t.Fatalf("%d: %s", got.status, got.body)
		}
		missing := time.Duration(60-got.cost.Remaining) * time.Second
		soonest, latest := begun.Add(missing-2*time.Second), time.Now().Add(missing+2*time.Second)
		if at := got.cost.ResetAt; got.left(t) != got.cost.Remaining || at.Before(soonest) || at.After(latest) {
			t.Errorf("%d and %d units are left, all again at %v", got.left(t), got.cost.Remaining, at)
		}
	}
	begun := time.Now()
	before := s.ask(t, "", "203.0.113.1", hundred).left(t)
	got := s.ask(t, "", "198.51.100.7, 203.0.113.1", hundred).left(t)
	if again := 1 + int(time.Since(begun).Seconds()); got > before+again {
		t.Errorf("with an invented address before its own, a client has %d units left, after %d", got, before)
	}
	refused := s.ask(t, "", "203.0.113.40", refusedPages(40))
	if refused.cost.UsedReadUnits != 20 || refused.left(t) > 42 || strings.Count(refused.body, "BAD_CURSOR") != 20 {
		t.Errorf("the statistics of 40 products, which no field shows, are not charged: %s, %s", refused.limit, refused.body)
	}
	if got := s.ask(t, "", "203.0.113.2", hundred).left(t); got < 58 {
		t.Errorf("another address has %d units left", got)
	}
	must.Wait(t, "an operation that may cost more than is left is refused", func() bool {
		got := s.ask(t, "", "203.0.113.1", fiveProducts()) // a client with its full allowance may go into debt
		return got.status == http.StatusTooManyRequests && strings.Contains(got.body, "may cost") && got.retryAfter != ""
	})
}

// checkVisitors gets tokens of visitors. Each counts as a write of the address, not of the visitor.
func (s running) checkVisitors(t *testing.T) {
	t.Helper()
	token := ""
	for range 2 {
		got := s.ask(t, token, "203.0.113.5", `mutation { createVisitorToken { token } }`)
		_, after, found := strings.Cut(got.body, `"token":"`)
		if token, _, _ = strings.Cut(after, `"`); !found || got.status != http.StatusOK {
			t.Fatalf("a visitor: %d: %s", got.status, got.body)
		}
	}
	vote := `mutation { voteOnComment(input: {id: "c_01HZ0000000000000000000000", vote: HELPFUL}) { userErrors { code } } }`
	if got := s.ask(t, token, "203.0.113.5", vote); got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "made the 2 writes") {
		t.Errorf("a vote of an address that has no writes left: %d: %s", got.status, got.body)
	}
	if got := s.ask(t, token, "203.0.113.6", vote); got.status != http.StatusOK || !strings.Contains(got.body, "NOT_FOUND") {
		t.Errorf("the same visitor at another address: %d: %s", got.status, got.body)
	}
}

func (s running) checkWrites(t *testing.T) {
	t.Helper()
	ada, bob := tokenOf(t, "ada", time.Hour), tokenOf(t, "bob", time.Hour)
	for i := range 2 {
		if got := s.ask(t, ada, "203.0.113.3", fmt.Sprintf(addBy, "ada")); got.status != http.StatusOK || !strings.Contains(got.limit, `"writes";r=`+strconv.Itoa(1-i)) {
			t.Fatalf("write %d: %d with %q: %s", i, got.status, got.limit, got.body)
		}
	}
	if got := s.ask(t, ada, "203.0.113.4", fmt.Sprintf(addBy, "ada")); got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "RATE_LIMITED") || !strings.Contains(got.body, "made the 2 writes") {
		t.Errorf("a third write of a customer, from another address: %d: %s", got.status, got.body)
	}
	if got := s.ask(t, ada, "203.0.113.3", hundred); got.status != http.StatusOK {
		t.Errorf("it may still read: %d: %s", got.status, got.body)
	}
	if got := s.ask(t, bob, "203.0.113.3", fmt.Sprintf(addBy, "bob")); got.status != http.StatusOK {
		t.Errorf("another customer at the same address: %d: %s", got.status, got.body)
	}
}

// fiveProducts asks for pages of five products, estimated at 65 units.
func fiveProducts() string {
	var query strings.Builder
	for i := range 5 {
		fmt.Fprintf(&query, `p%d: product(id: "teapot-%d") { comments(first: 100) { nodes { id } } } `, i, i)
	}
	return "{" + query.String() + "}"
}

// checkPages asks for pages from an address that has used up its units.
func (s running) checkPages(t *testing.T) {
	t.Helper()
	get := func(path string) sent {
		return fetch(t, http.MethodGet, s.address+path, "X-Forwarded-For: 203.0.113.5")
	}
	page := get("/products/teapot")
	for i := 0; i < 1000 && page.status == http.StatusOK; i++ {
		page = get("/products/teapot")
	}
	if page.status != http.StatusTooManyRequests || page.header.Get("Retry-After") == "" {
		t.Errorf("a product page: %d with Retry-After %q", page.status, page.header.Get("Retry-After"))
	}
	for _, path := range []string{"/", "/healthz", "/talkback.js"} {
		if got := get(path); got.status != http.StatusOK || path == "/" && (strings.Contains(got.body, "RATE_LIMITED") || strings.Contains(got.body, "resetAt")) {
			t.Errorf("%s: %d, or it shows everyone what a client has left", path, got.status)
		}
	}
}

// Servers that share a Redis count together. A server on a loopback address has no limits by
// default.
func TestServersShareLimits(t *testing.T) {
	cache := redistest.Start(t)
	t.Setenv("TALKBACK_CLIENT_LIMITS_REDIS", cache.URL())
	common := append(onTable(t), "--listen", "127.0.0.1:0")
	const burst, half = 1000, 500
	limited := append(common, "--client-read-units", "1", "--client-burst", strconv.Itoa(burst), "--client-limits-servers", "2")
	admin := freeAddress(t)
	one, other, free := serving(t, limited...), serving(t, append(limited, "--admin-listen", admin)...), serving(t, common...)
	// left asks until Redis answers in time. Until then, a server counts by itself from its half.
	left := func(s running, query string) (units int) {
		must.Wait(t, "a server counts in Redis", func() bool {
			units = s.ask(t, "", "", query).left(t)
			return units > half
		})
		return units
	}
	must.Wait(t, "a client has used 150 units", func() bool { return left(one, fiveProducts()) <= burst-150 })
	if got := left(other, hundred); got > burst-20 { // more than its first page may cost
		t.Errorf("%d units are left at the second server, after the client used 150 at the first", got)
	}
	const store, known = "talkback_client_limits_store_available", `talkback_client_limits_clients{talkback_policy="read-units"}`
	must.Wait(t, "the metrics tell of Redis and of one client", func() bool {
		now := scrape(t, admin)
		return now[store] == 1 && now[known] == 1
	})
	cache.Stop(t)
	if got := other.ask(t, "", "", hundred); got.status != http.StatusOK || got.left(t) > half || got.left(t) < half/2 {
		t.Errorf("without Redis: %d with %q, want the server's half", got.status, got.limit)
	}
	if now := scrape(t, admin); now[store] != 0 {
		t.Error("the metrics do not tell that Redis is away")
	}
	if got := free.ask(t, "", "", hundred); got.status != http.StatusOK || got.limit != "" || !strings.Contains(free.said.String(), "limits    any number of read units and any number of writes for each client") {
		t.Errorf("a server without limits: %d with %q", got.status, got.limit)
	}
}

// A password in a variable is taken and told to nobody. On the command line it is refused:
// TestRefusals.
func TestPasswordInAVariable(t *testing.T) {
	t.Setenv("TALKBACK_PAGES", "redis://user:hush@127.0.0.1:1/x") // refused for its path
	for _, arguments := range [][]string{{"stream", "--endpoint"}, {"verify", "--pages", "--endpoint"}} {
		status, _, said := talkback(t.Context(), append(arguments, dynamotest.Dynoxide(t))...)
		if status == 0 || strings.Contains(said, "instead") || strings.Contains(said, "hush") {
			t.Errorf("%v: status %d: %s", arguments, status, said)
		}
	}
}
