package httpapi

import (
	"io"
	"net"
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
	all.enter(conn, 1)
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
