package call

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
)

// countingConn is a connection that counts its writes. Once broken is set, the next write fails.
type countingConn struct {
	net.Conn
	writes *atomic.Int64
	broken *atomic.Bool
}

func (c countingConn) Write(p []byte) (int, error) {
	if c.broken.Swap(false) {
		return 0, io.ErrClosedPipe
	}
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// countingClient returns a client whose connections count their writes.
func countingClient(t *testing.T) (client *dynamodb.Client, writes *atomic.Int64, broken *atomic.Bool) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	t.Cleanup(server.Close)
	writes, broken = new(atomic.Int64), new(atomic.Bool)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return countingConn{conn, writes, broken}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return Over(NewLocalClient(server.URL), direct{transport}), writes, broken
}

// Every call of a client is one write, so that a quick answer cannot come between head and body.
func TestRequestIsOneWrite(t *testing.T) {
	client, writes, _ := countingClient(t)
	for name, call := range map[string]func() error{
		"Query": func() error { _, err := client.Query(t.Context(), queryOf("42")); return err },
		"PutItem": func() error {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: layout.CommentKey("c")})
			return err
		},
	} {
		writes.Store(0)
		if err := call(); err != nil || writes.Load() != 1 {
			t.Errorf("%s: %d writes, %v", name, writes.Load(), err)
		}
	}
}

// A redirect is not followed: the signature and the session token are sent only to the host that
// they are for.
func TestRedirectIsNotFollowed(t *testing.T) {
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL, status))
		_, err := NewLocalClient(server.URL).Query(t.Context(), queryOf("42"), NoRetries)
		if err == nil || followed {
			t.Errorf("status %d: %v, followed: %v", status, err, followed)
		}
		server.Close()
	}
}

// A connection that broke while it was idle uses up no attempt of the call.
func TestBrokenIdleConnectionIsReplaced(t *testing.T) {
	client, writes, broken := countingClient(t)
	for range 2 {
		if _, err := client.Query(t.Context(), queryOf("42"), NoRetries); err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
	}
	if writes.Load() != 2 {
		t.Errorf("%d requests were written", writes.Load())
	}
}
