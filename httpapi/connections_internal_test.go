package httpapi

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestLeastUsed(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for _, test := range []struct {
		there  []*connection
		want   int // of those there, -1 for the new one
		reason string
	}{
		{[]*connection{{head: &held{}, since: at(1)}, {idle: true, since: at(9)}}, 1, "an idle one goes before one that sends"},
		{[]*connection{{idle: true, since: at(2)}, {idle: true, since: at(1)}}, 1, "of idle ones, the oldest goes"},
		{[]*connection{{idle: true, since: at(2)}, {since: at(1)}}, 1, "one that never sent a byte counts as idle"},
		{[]*connection{{head: &held{}, since: at(2)}, {requests: 1, since: at(1)}}, 1, "of those that send or read, the oldest goes"},
		{[]*connection{{since: at(2)}, {requests: 2, working: 1, since: at(1)}}, 0, "one whose request is being processed stays"},
		{[]*connection{{requests: 1, working: 1}}, -1, "when all others are such, the new one goes"},
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

// A connection to which the end of an answer is written is in use, though the answer's handler has
// returned: a server that stops waits for it.
func TestWritingIsUse(t *testing.T) {
	all := NewConnections(0, 0)
	served, client := net.Pipe() // takes no byte before it is read
	conn := all.accept(served)
	all.enter(conn, &http.Request{ProtoMajor: 1})
	all.leave(conn)
	all.Stop()
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write([]byte("the end"))
		written <- err
	}()
	for conn.writing.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if all.expireQuiet(time.Now().Add(time.Hour)); conn.expired {
		t.Error("a connection may be closed while an answer is written to it")
	}
	if _, err := io.ReadFull(client, make([]byte, len("the end"))); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if all.expireQuiet(time.Now().Add(time.Hour)); !conn.expired {
		t.Error("a quiet connection is not closed")
	}
}

// What comes after the end of a request is of the next one, also before the server is ready for it:
// over TLS, that can be all that its client has sent. The connection is then not quiet.
func TestEarlyBytes(t *testing.T) {
	all := NewConnections(0, 0)
	all.Stop()
	var (
		get   = func(c *connection) { all.enter(c, &http.Request{ProtoMajor: 1}) }
		post  = func(c *connection) { all.enter(c, &http.Request{ProtoMajor: 1, ContentLength: 40}) }
		whole = all.bodyRead
		bytes = func(c *connection) { c.countHead(make([]byte, 40)) }
		leave = all.leave
		idle  = func(c *connection) { all.changed(c, http.StateIdle) }
	)
	for _, test := range []struct {
		steps  []func(*connection)
		quiet  bool
		reason string
	}{
		{[]func(*connection){get, leave, idle}, true, "nothing came"},
		{[]func(*connection){get, bytes, leave, idle}, false, "the next request began while the first was processed"},
		{[]func(*connection){get, leave, bytes, idle}, false, "it began right after the answer"},
		{[]func(*connection){get, leave, idle, bytes}, false, "it began when the server was ready"},
		{[]func(*connection){post, bytes, whole, leave, idle}, true, "all that came is a body"},
		{[]func(*connection){post, bytes, whole, bytes, leave, idle}, false, "more came than a body"},
		{[]func(*connection){post, bytes, leave, bytes, idle}, true, "the rest of a body came that nobody read"},
		{[]func(*connection){get, bytes, leave, idle, get, leave, idle}, true, "the next request has its answer"},
	} {
		served, client := net.Pipe()
		conn := all.accept(served)
		for _, step := range test.steps {
			step(conn)
		}
		if all.expireQuiet(time.Now().Add(time.Hour)); conn.expired != test.quiet {
			t.Errorf("the connection is quiet: %v, though %s", conn.expired, test.reason)
		}
		_ = conn.Close()
		_ = client.Close()
	}
}

// A connection that is about to be closed is read once more, whatever its deadline.
func TestLastRead(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	all := NewConnections(0, 0)
	all.Stop()
	for _, sent := range []string{"", "GET"} {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		served, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn := all.accept(served)
		if _, err := io.WriteString(client, sent); err != nil {
			t.Fatal(err)
		}
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
