package httpapi

import (
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
