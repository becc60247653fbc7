package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

func TestRedirectsStayWithinTheirOrigin(t *testing.T) {
	for _, row := range []struct {
		from, to string
		follows  bool
	}{
		{"https://login.example.com/jwks.json", "https://login.example.com/keys", true},
		{"http://localhost:80/jwks.json", "http://localhost:80/keys", true},
		{"https://login.example.com/jwks.json", "http://login.example.com/jwks.json", false},
		{"http://localhost/jwks.json", "https://localhost/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://keys.login.example.com/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://login.example.com:8443/jwks.json", false},
	} {
		before, next := httptest.NewRequest(http.MethodGet, row.from, nil), httptest.NewRequest(http.MethodGet, row.to, nil)
		if err := CheckRedirect(next, []*http.Request{before}); (err == nil) != row.follows {
			t.Errorf("from %s to %s: %v", row.from, row.to, err)
		}
	}
}

// An error says why an address has no answer, and nothing of what it sends.
func TestBrokenAnswersAreInNoError(t *testing.T) {
	const word = "of-the-other-side"
	long := strings.Repeat(word, 1000)
	for name, answer := range map[string]string{
		"no HTTP":       long + "\r\n\r\n",
		"a bad version": "HTTP/" + long + " 200 OK\r\n\r\n",
		"nothing":       "",
		"a bad status":  "HTTP/1.1 " + long + "\r\n\r\n",
		"a bad header":  "HTTP/1.1 200 OK\r\n" + long + "\r\n\r\n",
		"a bad length":  "HTTP/1.1 200 OK\r\nContent-Length: " + long + "\r\n\r\n",
		"a bad coding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + long + "\r\n\r\n",
		"a bad chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + long + "\r\n",
		"a bad leader":  "HTTP/1.1 302 Found\r\nLocation: :" + long + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			other := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer other.Close()
			go func() {
				conn, err := other.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, _ = io.WriteString(conn, answer)
			}()
			_, err := New(2*time.Minute, 1<<20, nil).Get(t.Context(), "http://"+other.Addr().String(), nil)
			if err == nil || strings.Contains(err.Error(), word) || len(err.Error()) > 300 {
				t.Errorf("the error is %.300v", err)
			}
		})
	}
}

// A connection of HTTP/2 that fell silent is left for another one.
func TestConnectionsThatFallSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connections atomic.Int64
		client := New(10*time.Second, 1<<20, nil)
		transport := client.HTTP.Transport.(*http.Transport)
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			connections.Add(1)
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			return here, nil
		}
		for _, want := range []struct {
			connections int64
			reason      string
		}{{1, "deadline exceeded"}, {1, "it fell silent"}, {2, "deadline exceeded"}} {
			_, err := client.Get(t.Context(), "http://shop.example", nil)
			if connections.Load() != want.connections || err == nil || !strings.Contains(err.Error(), want.reason) {
				t.Errorf("%d connections, %v; want %v", connections.Load(), err, want)
			}
			time.Sleep(5 * time.Second)
		}
		time.Sleep(time.Minute) // until the client has given up all of them
	})
}

// What no stranger may reach through the server is refused, whatever form the address has.
func TestReach(t *testing.T) {
	for _, row := range []struct {
		public, inside bool
		addresses      []string
	}{
		{true, true, []string{"8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "100.63.255.255", "172.32.0.1"}},
		{false, true, []string{"127.0.0.1", "127.8.9.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1"}},
		{false, false, []string{
			"169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "fd00:ec2::254%eth0", "64:ff9b::a9fe:a9fe%eth0", "fe80::1", "fe80::1%eth0", "0.0.0.0", "::", "0.1.2.3", "100.100.100.200",
			"255.255.255.255", "224.0.0.1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "::7f00:1",
		}},
	} {
		for _, text := range row.addresses {
			a := netip.MustParseAddr(text)
			if Public(a) != row.public || PublicOrInside(a) != row.inside {
				t.Errorf("%s: public %t, or inside %t", text, Public(a), PublicOrInside(a))
			}
		}
	}
}

// Files have a bound, and errors name the file and the cure.
func TestFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.txt")
	must.Do(t, os.WriteFile(path, []byte("12345"), 0o600))
	if content, err := File(path, 5); err != nil || string(content) != "12345" {
		t.Errorf("%q, %v", content, err)
	}
	for _, row := range []struct {
		path, want string
		is         error
	}{
		{path, "a.txt has more than 4 bytes, which is all that is read: make it shorter", nil},
		{filepath.Join(folder, "b.txt"), "b.txt cannot be read (no such file or directory): give the path of a file that this user may read", fs.ErrNotExist},
		{folder, " cannot be read (is a directory): give the path of a file that this user may read", nil},
	} {
		content, err := File(row.path, 4)
		if content != nil || err == nil || !strings.HasSuffix(err.Error(), row.want) || !strings.HasPrefix(err.Error(), folder) || row.is != nil && !errors.Is(err, row.is) {
			t.Errorf("%s: %q, %v; want %q", row.path, content, err, row.want)
		}
	}
}
