package command

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.URL.Path+"\n")
	}))
	defer server.Close()
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	ask := func(listen string) (string, error) {
		var out strings.Builder
		c := Health{ListenFlags: ListenFlags{Listen: listen}}
		err := c.Run(t.Context(), Terminal{Out: &out})
		return out.String(), err
	}
	for _, listen := range []string{"127.0.0.1:" + port, "0.0.0.0:" + port, ":" + port, "[::]:" + port} {
		if said, err := ask(listen); said != "/readyz\n" || err != nil {
			t.Errorf("of a server on %s: %q, %v", listen, said, err)
		}
	}
	status = http.StatusServiceUnavailable
	if _, err := ask(":" + port); err == nil || !strings.Contains(err.Error(), "503 Service Unavailable: /readyz") {
		t.Errorf("of a server that is not ready: %v", err)
	}
	server.Close()
	if _, err := ask(":" + port); err == nil || !strings.Contains(err.Error(), "no server answers at 127.0.0.1:"+port) {
		t.Errorf("without a server: %v", err)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Health{ListenFlags: ListenFlags{Listen: ":" + port}}).Run(interrupted, Terminal{}); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
	for _, wrong := range []string{"8080", "127.0.0.1:80x", "127.0.0.1:-1", "127.0.0.1:99999", ":" + port + "\n"} {
		var usage *usageError
		if _, err := ask(wrong); !errors.As(err, &usage) || !strings.Contains(err.Error(), "give host and port") {
			t.Errorf("%q is no address: %v", wrong, err)
		}
	}
}
