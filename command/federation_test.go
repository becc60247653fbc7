package command_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// withoutTable returns a service that cannot reach its table.
func withoutTable(serve command.Serve) http.Handler {
	serve.OperationTimeout = time.Minute
	store := serve.Store(&command.Session{Client: call.NewLocalClient("http://127.0.0.1:1"), Table: "none"}, nil, slog.New(slog.DiscardHandler))
	return serve.Handler(store, nil, &auth.Guard{}, command.Terminal{Logger: slog.New(slog.DiscardHandler)})
}

// Only a subgraph answers queries for entities and for its schema. Without introspection it hides
// the schema, and still answers gateways.
func TestFederation(t *testing.T) {
	t.Parallel()
	const (
		service  = `{ _service { sdl } }`
		entities = `{ _entities(representations: [{__typename: "Product", id: "vase"}]) { ... on Product { id } } }`
	)
	for _, row := range []struct {
		why, query, want string
		serve            command.Serve
	}{
		{"a subgraph's schema", service, `@key(fields: \"id\")`, command.Serve{Federation: true}},
		{"its entities", entities, `{"data":{"_entities":[{"id":"vase"}]}`, command.Serve{Federation: true}},
		{"what collides can be asked directly", `{ product(id: "vase") { id } }`, `{"data":{"product":{"id":"vase"}}`, command.Serve{Federation: true}},
		{"its schema without introspection", service, "INTROSPECTION_OFF", command.Serve{Federation: true, NoIntrospection: true}},
		{"its entities without introspection", entities, `{"data":{"_entities":[{"id":"vase"}]}`, command.Serve{Federation: true, NoIntrospection: true}},
		{"no subgraph's schema", service, `Cannot query field \"_service\"`, command.Serve{}},
		{"no subgraph's entities", entities, `Cannot query field \"_entities\"`, command.Serve{}},
		{"no subgraph's types", `{ __type(name: "_Entity") { name } a: __type(name: "FieldSet") { name } }`, `{"data":{"__type":null,"a":null}`, command.Serve{}},
	} {
		server := httptest.NewServer(withoutTable(row.serve))
		var got json.RawMessage
		(&api{tb: t, server: server}).asked(row.query, nil, &got)
		if !strings.Contains(string(got), row.want) {
			t.Errorf("%s: %s", row.why, got)
		}
		server.Close()
	}
}

// The server shows the schema that the program was generated from. With introspection off, neither
// way shows it.
func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	file := must.Get(os.ReadFile("../schema.graphqls"))(t)
	for _, row := range []struct {
		off  bool
		want int
	}{{false, 200}, {true, 404}} {
		w := httptest.NewRecorder()
		withoutTable(command.Serve{NoIntrospection: row.off}).ServeHTTP(w, httptest.NewRequest("GET", "/schema.graphql", nil))
		if w.Code != row.want {
			t.Errorf("introspection off %v: %d, want %d", row.off, w.Code, row.want)
		}
		if same := w.Body.String() == string(file); same == row.off {
			t.Errorf("introspection off %v: the file's own text %v", row.off, same)
		}
		if etag := w.Header().Get("ETag"); !row.off && etag == "" {
			t.Error("no ETag")
		}
	}
}
