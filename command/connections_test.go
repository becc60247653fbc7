package command_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// With more connections than file descriptors, whatever they are used for, new clients and health
// checks are answered. The same holds for the admin port.
func TestMoreConnectionsThanDescriptors(t *testing.T) {
	t.Parallel()
	program := binary(t)
	admin := freeAddress(t)
	s := follow(t, exec.Command("sh", "-c", `ulimit -n 300 && exec "$0" "$@"`, program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", admin,
		"--endpoint", dynamotest.Dynoxide(t), "--create-table", "--table", dynamotest.TableName(t)))
	for _, row := range []struct{ sent, reason string }{
		{"", "they say nothing"},
		{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "they wait for their next request"},
		{"GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Filler: ", "they do not end a head"},
		{"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "they do not end a body"},
	} {
		occupy(t, strings.TrimPrefix(s.address, "http://"), 400, row.sent)
		occupy(t, admin, 40, row.sent)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 4 * time.Second} // below the time for a head
		for _, url := range []string{
			s.address + "/healthz", s.address + "/readyz", s.address + "/graphql?query={__typename}",
			"http://" + admin + "/healthz", "http://" + admin + "/readyz", "http://" + admin + "/metrics",
		} {
			answer, err := client.Get(url)
			if err != nil {
				t.Errorf("while %s: %v", row.reason, err)
				continue
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("while %s: %s is %s", row.reason, url, answer.Status)
			}
		}
	}
}

// occupy opens connections until the test ends, and sends the same text over each.
func occupy(t *testing.T, address string, connections int, sent string) {
	t.Helper()
	for range connections {
		conn := must.Get(net.Dial("tcp", address))(t)
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, sent) // it may be closed
		if !strings.HasPrefix(sent, "GET /healthz") {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(4 * time.Second)) // fails once the connection is closed
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 200 {
			t.Errorf("an idle connection is not answered: %v", err)
			return
		}
	}
}

// A server that has no file descriptors to start with says what to do, wherever it lacks one.
func TestStartWithoutDescriptors(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"9", "11", "13"} {
		process := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n `+limit+` && exec "$0" "$@"`, binary(t),
			"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--engine", dynamotest.DynoxideBinary(t))
		said, err := process.CombinedOutput()
		if err == nil || !strings.HasSuffix(string(said), "too many open files; raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)\n") {
			t.Errorf("%s descriptors: %v: %s", limit, err, said)
		}
	}
}

// One client with hundreds of connections is refused by its own limit, and another is answered. The
// number of requests in progress is fixed: on a busy machine, an adaptive limit refuses both.
func TestManyConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	const connections = 300
	places := strconv.Itoa(2 * connections)
	s := startServer(t, append(onTable(t), "--trusted-proxy", "127.0.0.0/8", "--client-read-units", "20", "--client-burst", "20",
		"--min-in-flight", places, "--max-in-flight", places)...)
	many := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	t.Cleanup(many.CloseIdleConnections)
	ask := func(client http.RoundTripper, address string) int {
		got, err := send(t.Context(), client, http.MethodPost, s.address+"/graphql", operation(`{ product(id: "cup") { comments(first: 3) { nodes { id } } } }`, nil), "X-Forwarded-For: "+address)
		if err != nil {
			t.Error(err)
		}
		return got.status
	}
	var answered, limited atomic.Int64
	var crowd sync.WaitGroup
	for range connections {
		crowd.Go(func() {
			for range 2 {
				switch ask(many, "203.0.113.1") {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusTooManyRequests:
					limited.Add(1)
				}
			}
		})
	}
	for range 20 {
		if status := ask(http.DefaultTransport, "203.0.113.2"); status != http.StatusOK {
			t.Errorf("another client gets %d", status)
		}
	}
	crowd.Wait()
	if limited.Load() < connections || answered.Load() == 0 {
		t.Errorf("%d requests are answered, and %d refused by the limit of the client", answered.Load(), limited.Load())
	}
}
