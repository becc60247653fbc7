package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// attack asks an engine at each address for its tables, like a malicious page. It returns the
// answers, or the errors. The engine allows such requests from pages of every origin.
const attack = `Promise.all(%s.map(async (address) => {
	try {
		const answer = await fetch(address, {
			method: 'POST',
			headers: {
				'content-type': 'application/x-amz-json-1.0',
				'x-amz-target': 'DynamoDB_20120810.ListTables',
				'x-amz-date': '20260101T000000Z',
				authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/b/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
			},
			body: '{}',
		});
		return await answer.text();
	} catch (error) {
		return 'none: ' + error.message;
	}
}))`

// TestPagesDoNotFindTheEngine opens a page of another origin that knows the engine's port. The page
// tries it on every name and address that a page can know for this machine. A page that knows the
// address gets an answer, which shows that the other attempts fail for the right reason.
func TestPagesDoNotFindTheEngine(t *testing.T) {
	ctx := browsertest.Open(t)
	e := running(t, options(t))
	apiOf(t, e).createTable("comments")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`)
	}))
	defer page.Close()

	address := netip.MustParseAddrPort(strings.TrimPrefix(e.Endpoint(), "http://"))
	addresses := []string{e.Endpoint()}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "127.0.1.1", "127.1"} {
		addresses = append(addresses, fmt.Sprintf("http://%s:%d", host, address.Port()))
	}
	list := must.Get(json.Marshal(addresses))(t)
	var answers []string
	if err := chromedp.Run(ctx, chromedp.Navigate(page.URL), chromedp.Evaluate(fmt.Sprintf(attack, list), &answers,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil {
		t.Fatal(err)
	}
	for i, answer := range answers {
		if got, told := strings.Contains(answer, "TableNames"), addresses[i] == e.Endpoint(); got != told {
			t.Errorf("a page that asks %s gets %q", addresses[i], answer)
		}
	}
}
