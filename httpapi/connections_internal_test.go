package httpapi

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

func TestLeastUsed(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for _, test := range []struct {
		there  []*connection
		want   int // of those there, -1 for the new one
		reason string
	}{
		{[]*connection{{head: &held{}, since: at(1)}, {since: at(9)}}, 1, "an idle one goes before one that sends"},
		{[]*connection{{since: at(2)}, {since: at(1)}}, 1, "of idle ones, the oldest goes"},
		{[]*connection{{head: &held{}, since: at(2)}, {busy: true, since: at(1)}}, 1, "of those that send or read, the oldest goes"},
		{[]*connection{{since: at(2)}, {busy: true, working: 1, since: at(1)}}, 0, "one whose request is being processed stays"},
		{[]*connection{{busy: true, working: 1}}, -1, "when all others are such, the new one goes"},
	} {
		added := &connection{since: at(10)}
		c := &Connections{open: map[*connection]struct{}{added: {}}}
		for _, other := range test.there {
			c.open[other] = struct{}{}
		}
		want := added
		if test.want >= 0 {
			want = test.there[test.want]
		}
		if c.leastUsed(added) != want {
			t.Error(test.reason)
		}
	}
}

// A connection that is about to be closed is read once more, whatever its deadline.
func TestLastRead(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "localhost:0"))(t)
	defer listener.Close()
	all := NewConnections(0, 0)
	all.Stop()
	for _, sent := range []string{"", "GET"} {
		client := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
		served := must.Get(listener.Accept())(t)
		conn := all.accept(served)
		must.Get(io.WriteString(client, sent))(t)
		if all.expireQuiet(time.Now().Add(time.Hour)); !conn.expired {
			t.Fatal("a quiet connection is not closed")
		}
		_ = served.SetReadDeadline(time.Unix(1, 0)) // that of expireQuiet comes in an hour
		read := make([]byte, 8)
		if n, err := conn.Read(read); string(read[:n]) != sent || (err == nil) != (sent != "") {
			t.Errorf("read %q, %v of %q", read[:n], err, sent)
		}
		_ = conn.Close()
		_ = client.Close()
	}
}

// A connection that is idle before its first request is one of HTTP/2, on which no head is counted.
// It is drained like others.
func TestIdleBeforeTheFirstRequest(t *testing.T) {
	for _, busy := range []bool{false, true} {
		client, served := net.Pipe()
		all := NewConnections(0, 0)
		conn := all.accept(served)
		if busy {
			conn.update(func() { conn.busy = true })
		}
		all.changed(conn, http.StateIdle)
		if conn.http2 == busy {
			t.Errorf("after a request: %t; it is one of HTTP/2: %t", busy, conn.http2)
		}
		if open := all.expireQuiet(time.Now().Add(time.Hour)); open != 1 || !conn.expired {
			t.Errorf("after a request: %t; %d connections are open, and it is expired: %t", busy, open, conn.expired)
		}
		_ = conn.Close()
		_ = client.Close()
	}
}
