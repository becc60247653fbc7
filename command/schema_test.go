package command_test

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo/call"
)

// The server shows the schema that the program was generated from. With introspection off, neither
// way shows it.
func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		off  bool
		want int
	}{{false, 200}, {true, 404}} {
		serve := command.Serve{OperationTimeout: time.Second, NoIntrospection: row.off}
		store := serve.Store(&command.Session{Client: call.NewLocalClient("http://127.0.0.1:1"), Table: "none"}, nil, slog.New(slog.DiscardHandler))
		handler := serve.Handler(store, nil, &auth.Guard{}, command.Terminal{Logger: slog.New(slog.DiscardHandler)})
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/schema.graphql", nil))
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
