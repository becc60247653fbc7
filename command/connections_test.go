package command_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/dynamotest"
)

// With more connections than there are file descriptors, whatever they are used for, new clients
// are answered, and so is who asks for the server's health.
func TestMoreConnectionsThanDescriptors(t *testing.T) {
	t.Parallel()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := follow(t, exec.Command("sh", "-c", `ulimit -n 300 && exec "$0" "$@"`, program, "serve", "--listen", "127.0.0.1:0",
		"--engine", dynamotest.DynoxideBinary(t), "--data", filepath.Join(t.TempDir(), "data")))
	for _, row := range []struct{ sent, reason string }{
		{"", "they say nothing"},
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "they wait for their next request"},
		{"GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Filler: ", "they do not end a head"},
		{"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "they do not end a body"},
	} {
		for range 400 {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			_, _ = io.WriteString(conn, row.sent) // it may be closed
			if strings.HasPrefix(row.sent, "GET /healthz") {
				if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 200 {
					t.Fatalf("while %s: %v", row.reason, err)
				}
			}
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 4 * time.Second} // below the time for a head
		for _, path := range []string{"/healthz", "/readyz", "/graphql?query={__typename}"} {
			answer, err := client.Get(s.address + path)
			if err != nil {
				t.Fatalf("while %s: %v", row.reason, err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("while %s: %s is %s", row.reason, path, answer.Status)
			}
		}
	}
}
