package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	tab "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

const followed = `subscription { commentEvents(productId: "kettle") { kind commentId comment { text product { id } } } }`

// news is a stream's message about an event.
type news struct {
	Data *struct {
		CommentEvents struct {
			Kind, CommentID string
			Comment         *struct{ Text string }
		}
	}
	Errors     []struct{ Extensions struct{ Code string } }
	Extensions struct{ Position string }
}

// streamed subscribes over HTTP. It returns the lines that arrive; the channel is closed at the
// end.
func (s *server) streamed(accept, position string) <-chan news {
	s.t.Helper()
	body := must.Get(json.Marshal(map[string]string{"query": followed}))(s.t)
	request := must.Get(http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.address+"/graphql", strings.NewReader(string(body))))(s.t)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	if position != "" {
		request.Header.Set("Last-Event-ID", position)
	}
	response := must.Get(http.DefaultClient.Do(request))(s.t)
	out := make(chan news, 100)
	go func() {
		defer response.Body.Close()
		defer close(out)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			text := strings.TrimPrefix(lines.Text(), "data: ")
			var part struct{ Payload *news }
			var event news
			if !strings.HasPrefix(text, "{") || text == "{}" || json.Unmarshal([]byte(text), &part) != nil || json.Unmarshal([]byte(text), &event) != nil {
				continue
			}
			if part.Payload != nil {
				event = *part.Payload
			}
			out <- event
		}
	}()
	return out
}

// socket subscribes over a WebSocket. It returns the messages that arrive, and the close code.
func (s *server) socket() (events <-chan news, ended <-chan websocket.StatusCode) {
	s.t.Helper()
	conn, response, err := websocket.Dial(s.t.Context(), s.address+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	must.Do(s.t, err)
	if response.Body != nil {
		_ = response.Body.Close()
	}
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	for _, text := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":` + mustJSON(followed) + `}}`} {
		must.Do(s.t, conn.Write(s.t.Context(), websocket.MessageText, []byte(text)))
	}
	out, end := make(chan news, 100), make(chan websocket.StatusCode, 1)
	go func() {
		for {
			_, text, err := conn.Read(s.t.Context())
			if err != nil {
				end <- websocket.CloseStatus(err)
				return
			}
			var message struct {
				Type    string
				Payload json.RawMessage
			}
			var event news
			if json.Unmarshal(text, &message) == nil && message.Type == "next" && json.Unmarshal(message.Payload, &event) == nil {
				out <- event
			}
		}
	}()
	return out, end
}

// next waits for an event.
func next(t *testing.T, events <-chan news) news {
	t.Helper()
	select {
	case event, open := <-events:
		if !open {
			t.Fatal("the stream has ended")
		}
		return event
	case <-time.After(patience):
		t.Fatal("nothing is told")
		return news{}
	}
}

// All servers report what is written at one of them, over all transports. A subscriber resumes at
// another server where it was. A server that stops says so to its subscribers, and does not wait
// for them.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	if err := outbox.New(a.session.Client, a.session.Table).Want(t.Context(), "test", time.Hour); err != nil { // or the first events might be missed
		t.Fatal(err)
	}
	flags := []string{"--endpoint", a.session.Address, "--table", a.session.Table, "--max-subscriptions", "10"}
	admin := freeAddress(t)
	one, other := startServer(t, append(slices.Clone(flags), "--admin-listen", admin)...), startServer(t, append(flags, "--no-count")...)
	events, multipart := one.streamed("text/event-stream", ""), other.streamed("multipart/mixed;subscriptionSpec=1.0, application/json", "")
	socket, ended := other.socket()
	atOne, _ := one.socket()
	// A socket is subscribed some time after its message, so it may miss the first events.
	for len(socket) == 0 || len(atOne) == 0 {
		id := one.added(t, "kettle")
		for _, events := range []<-chan news{events, multipart} {
			if event := next(t, events); event.Data == nil || event.Data.CommentEvents.Kind != "ADDED" || event.Data.CommentEvents.CommentID != id || event.Data.CommentEvents.Comment.Text != "Hot." {
				t.Fatalf("%+v", event)
			}
		}
	}
	measured := scrape(t, admin)
	for _, transport := range []string{"sse", "websocket"} {
		if open := measured[fmt.Sprintf("talkback_subscriptions_open{talkback_transport=%q}", transport)]; open != 1 {
			t.Errorf("%v subscriptions are open by %s", open, transport)
		}
	}
	if _, read := measured["talkback_outbox_age_seconds"]; !read || measured["talkback_subscriptions_connections"] != 2 || measured["talkback_subscriptions_sent_total"] == 0 {
		t.Errorf("measured: %v", since(nil, measured, "talkback_subscriptions", "talkback_outbox"))
	}
	last := one.added(t, "kettle")
	position := next(t, events).Extensions.Position
	next(t, multipart)
	if text := one.ask(fmt.Sprintf(`mutation { deleteComment(input: {id: %q}) { userErrors { code } } }`, last)); strings.Contains(text, "code") {
		t.Fatal(text)
	}
	for _, events := range []<-chan news{events, multipart, other.streamed("text/event-stream", position)} {
		if event := next(t, events); event.Data.CommentEvents.Kind != "GONE" || event.Data.CommentEvents.CommentID != last || event.Data.CommentEvents.Comment != nil {
			t.Errorf("%+v", event)
		}
	}
	other.signal(syscall.SIGTERM)
	if event := next(t, multipart); len(event.Errors) != 1 || event.Errors[0].Extensions.Code != "UNAVAILABLE" {
		t.Errorf("%+v", event)
	}
	if code := <-ended; code != websocket.StatusGoingAway {
		t.Errorf("closed with %d", code)
	}
	if status, said := other.wait(); status != 0 || strings.Contains(said, "cut off") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// A reader with the product page open is told of a new comment, and a press shows it. That includes
// a server that runs only its own documents.
func TestPageTellsOfNewComments(t *testing.T) {
	t.Parallel()
	visitor := browsertest.NewVisitor(t, browsertest.Open(t))
	a := newAPI(t, dynamotest.Dynoxide(t))
	if err := outbox.New(a.session.Client, a.session.Table).Want(t.Context(), "test", time.Hour); err != nil { // or the first events might be missed
		t.Fatal(err)
	}
	flags := []string{"--endpoint", a.session.Address, "--table", a.session.Table}
	manifest := filepath.Join(t.TempDir(), "none.json")
	writeFile(t, manifest, `{"format":"apollo-persisted-query-manifest","version":1,"operations":[]}`)
	one, other := startServer(t, append(flags, "--max-subscriptions", "1", "--trusted-documents", manifest, "--trusted-only")...), startServer(t, append(flags, "--no-count")...)
	other.added(t, "kettle")
	if err := chromedp.Run(visitor, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := tab.AddScriptToEvaluateOnNewDocument(`{
			const { fetch } = window;
			window.fetch = async (address, init) => {
				const response = await fetch(address, init);
				if (response.headers.get('Content-Type').startsWith('text/event-stream')) window.follows = true;
				return response;
			};
		}`).Do(ctx)
		return err
	})); err != nil {
		t.Fatal(err)
	}
	const root = "document.querySelector('talkback-comments').shadowRoot"
	browsertest.Visit(t, visitor, one.address+"/products/kettle",
		browsertest.Until("window.follows === true", nil),
		chromedp.ActionFunc(func(context.Context) error { other.added(t, "kettle"); return nil }),
		browsertest.Until(root+".querySelector('.fresh a')?.textContent === '1 new comment'", nil),
		browsertest.ClickElement(root+".querySelector('.fresh a')"),
		browsertest.Until(root+".querySelector('.fresh').childElementCount === 0 && "+root+".querySelectorAll('.list > li').length === 2", nil),
	)
}

// added adds a comment and returns its id.
func (s *server) added(t *testing.T, product string) string {
	t.Helper()
	var out struct {
		Data struct {
			AddComment struct{ Comment struct{ ID string } }
		}
	}
	text := s.ask(`mutation { addComment(input: {productId: "` + product + `", rating: 5, language: "en", text: "Hot.", author: {id: "u", name: "U"}}) { comment { id } userErrors { code } } }`)
	if err := json.Unmarshal([]byte(text), &out); err != nil || out.Data.AddComment.Comment.ID == "" {
		t.Fatal(text, err)
	}
	return out.Data.AddComment.Comment.ID
}
