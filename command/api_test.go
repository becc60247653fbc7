package command_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/httpapi/gateway"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) {
	status := dynamotest.Run(m)
	_ = os.Remove(binaryPath) // built only if a test needed it
	os.Exit(status)
}

// api is the whole service over a table of its own, which tests call as clients do.
type api struct {
	tb      testing.TB
	session *command.Session
	server  *httptest.Server
	log     *bytes.Buffer
	store   *dynamo.Store // the server's

	sequence   int              // of the last change that was counted
	pages      pageindex.Index  // finds pages by number; none if nil
	watermark  dynamo.Watermark // up to which time changes are counted; unknown if nil
	authorizer auth.Authorizer  // decides who may write; everyone may if nil
	header     string           // of requests, such as "Authorization: Bearer x"; none if empty
	serve      command.Serve    // all other flags
}

// newAPI starts the service on an engine.
func newAPI(tb testing.TB, endpoint string) *api {
	tb.Helper()
	a := &api{tb: tb, session: newSession(tb, endpoint)}
	a.serve.MediaBase = "https://media.example/"
	a.markCounted()
	a.useClient(a.session.Client)
	return a
}

// newAPIOf starts the service over a table that commands made.
func newAPIOf(tb testing.TB, endpoint, table string) *api {
	tb.Helper()
	a := &api{tb: tb, session: &command.Session{Client: call.NewLocalClient(endpoint), Table: table, Address: endpoint}}
	a.useClient(a.session.Client)
	return a
}

// newSession makes a table on an engine.
func newSession(tb testing.TB, endpoint string) *command.Session {
	tb.Helper()
	session := &command.Session{Client: call.NewLocalClient(endpoint), Table: dynamotest.TableName(tb), Address: endpoint}
	must.Do(tb, dynamo.CreateTable(tb.Context(), session.Client, session.Table))
	return session
}

// markCounted marks a fresh table as counted, as the program does at its start.
func (a *api) markCounted() {
	a.tb.Helper()
	journal := leases.NewLeases(a.session.Client, a.session.Table)
	must.Do(a.tb, stream.MarkComplete(a.tb.Context(), journal, stream.State{}, time.Now()))
}

// useClient restarts the service with another client for its table.
func (a *api) useClient(client *dynamodb.Client) {
	serve := a.serve
	serve.OperationTimeout, serve.Watermark, serve.StatisticsAge = 30*time.Second, a.watermark, cmp.Or(serve.StatisticsAge, 5*time.Second)
	a.log = &bytes.Buffer{}
	if a.authorizer == nil {
		a.authorizer = &auth.Guard{}
	}
	a.store = serve.Store(&command.Session{Client: client, Table: a.session.Table}, a.pages, slog.New(slog.DiscardHandler))
	log := slog.New(slog.NewTextHandler(a.log, nil))
	handler := serve.Handler(a.store, erasure.New(client, a.session.Table, "", ""), a.authorizer, command.Terminal{Err: io.Discard, Logger: log})
	a.server = httptest.NewServer(lambdatest.Front(a.tb, handler, gateway.New(handler, log)))
	a.tb.Cleanup(a.server.Close)
}

// load puts comments into the table.
func (a *api) load(comments ...comment.Comment) {
	a.tb.Helper()
	loader := dynamo.NewLoader(a.session.Client, a.session.Table, 0)
	must.Get(loader.Load(context.Background(), comments))(a.tb)
}

// delete removes a comment from the table.
func (a *api) delete(id comment.ID) {
	a.tb.Helper()
	must.Get(a.session.Client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &a.session.Table, Key: layout.CommentKey(id)}))(a.tb)
}

// answer is the answer to an operation.
type answer struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []struct {
		Message    string         `json:"message"`
		Path       []any          `json:"path,omitempty"`
		Extensions map[string]any `json:"extensions,omitempty"`
	} `json:"errors,omitempty"`
}

// tooSlow reports whether the only errors are that the table took too long.
func (a answer) tooSlow() bool {
	for _, err := range a.Errors {
		if err.Extensions["code"] != "TIMEOUT" {
			return false
		}
	}
	return len(a.Errors) > 0
}

// ask posts an operation.
func (a *api) ask(query string, variables map[string]any) (out answer) {
	a.tb.Helper()
	a.asked(query, variables, &out)
	return out
}

// said posts an operation, and returns the data of the answer and the codes of its errors.
func (a *api) said(query string, variables map[string]any) string {
	a.tb.Helper()
	got := a.ask(query, variables)
	out := string(got.Data)
	for _, err := range got.Errors {
		out += fmt.Sprintf(" %v", err.Extensions["code"])
	}
	return out
}

// asked posts an operation and reads its whole answer.
func (a *api) asked(query string, variables map[string]any, out any) {
	a.tb.Helper()
	must.Do(a.tb, json.Unmarshal([]byte(post(a.tb, a.server.URL, operation(query, variables), a.header).body), out))
}

// mustAsk posts an operation that has to succeed and reads its data. A query whose table was too
// slow is asked again, as clients do: DynamoDB Local can take ten seconds for a read while other
// tests write.
func (a *api) mustAsk(query string, variables map[string]any, data any) {
	a.tb.Helper()
	got := a.ask(query, variables)
	for again := 0; again < 5 && got.tooSlow() && !strings.HasPrefix(query, "mutation"); again++ {
		got = a.ask(query, variables)
	}
	if len(got.Errors) > 0 {
		a.tb.Fatalf("%v\nvariables %v\n%s", got.Errors, variables, a.log)
	}
	must.Do(a.tb, json.Unmarshal(got.Data, data))
}
