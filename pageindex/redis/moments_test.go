package redis

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// removals returns entries that delete the first n comments.
func removals(n int) (out []pageindex.Entry) {
	for i := range n {
		e := entry(i, 1000+i)
		e.Cell = nil
		out = append(out, e)
	}
	return out
}

// A lookup notices that all comments of its product went, and also if others came after that.
// Entries without a change do not make it start again.
func TestProductIsReplacedBetweenWaves(t *testing.T) {
	server := redistest.Start(t)
	s, other := openStore(t, server.URL()), openStore(t, server.URL())
	m := &meddler{}
	s.client.AddHook(m)
	for _, test := range []struct {
		name   string
		change func()
		total  int
		idle   bool // changes nothing
	}{
		{"later changes to the same cells", func() {
			same := entries(200)
			for i := range same {
				same[i].Follows = follow(1000 + i)
			}
			must.Do(t, other.Apply(t.Context(), same))
		}, 200, true},
		{"all go", func() { must.Do(t, other.Apply(t.Context(), removals(200))) }, 0, false},
		{"others come", func() {
			must.Do(t, other.Apply(t.Context(), removals(200)))
			must.Do(t, other.Apply(t.Context(), versions(150, 30)))
		}, 150, false},
	} {
		server.Must(t, "FLUSHALL")
		must.Do(t, s.Apply(t.Context(), entries(200)))
		targets := []pageindex.Target{{Rank: 120, Exact: true}}
		still := must.Get(s.Find(t.Context(), all, targets))(t)
		m.times, m.change = 1, test.change
		found, err := s.Find(t.Context(), all, targets)
		if err != nil || found.Counts.Total() != test.total || test.idle && found.Cost != still.Cost {
			t.Errorf("%s: got %+v, %v", test.name, found, err)
		}
	}
}

// Each wave of a lookup is one call: for the generations and the state, for positions and dates,
// and for what the search reads.
func TestCostOfLookups(t *testing.T) {
	s := openStore(t, redistest.Start(t).URL())
	must.Do(t, s.Apply(t.Context(), entries(2000)))
	dated := all
	dated.Filter.CreatedBefore = new(entry(1500, 0).Position.Time())
	at := entry(1000, 0).Position
	for _, row := range []struct {
		why    string
		list   pageindex.List
		target []pageindex.Target
		calls  int
	}{
		{"counts", all, nil, 2},
		{"dates", dated, nil, 3},
		{"a rank", all, []pageindex.Target{{Rank: 700}}, 4},
		{"the beginning", all, []pageindex.Target{{Rank: 0}}, 2},
		{"a position, of the same millisecond as nine others", all, []pageindex.Target{{At: &at}}, 4},
		{"no comments", pageindex.List{Product: "none", Order: comment.NewestFirst}, []pageindex.Target{{At: &at}}, 3},
		{"no such cell", pageindex.List{Product: product, Order: comment.NewestFirst, Filter: comment.Filter{Languages: []comment.Language{"none"}}}, []pageindex.Target{{At: &at}}, 2},
	} {
		found := must.Get(s.Find(t.Context(), row.list, row.target))(t)
		if want := (pageindex.Cost{Calls: row.calls, Waves: row.calls}); found.Cost != want {
			t.Errorf("%s: it costs %+v, want %+v", row.why, found.Cost, want)
		}
	}
}

// A lookup whose generation ends before it is read answers from the next one.
func TestGenerationEndsBetweenReads(t *testing.T) {
	server := redistest.Start(t)
	s, other := builtStore(t, server.URL()), openStore(t, server.URL())
	s.client.AddHook(&meddler{before: "hgetall", times: 1, change: func() { conformance.Build(t, other, entries(70), "next") }})
	checkTotal(t, s, 70)
}

// The version of a product is the time in microseconds: it never comes back, though all of the
// product may go. It rises even if the clock of its server was set back.
func TestVersionOfAClockSetBack(t *testing.T) {
	s := builtStore(t, redistest.Start(t).URL())
	g := must.Get(s.generations(t.Context()))(t)
	state := s.keys.of(product, g.current) + stateName
	if at := must.Get(s.client.HGet(t.Context(), state, fieldVersion).Int64())(t); time.Since(time.UnixMicro(at)).Abs() > time.Hour {
		t.Errorf("the version is %d", at)
	}
	const ahead = "8000000000000000"
	must.Do(t, s.client.HSet(t.Context(), state, fieldVersion, ahead).Err())
	must.Do(t, s.Apply(t.Context(), removals(1)))
	if got := must.Get(s.client.HGet(t.Context(), state, fieldVersion).Result())(t); got != "8000000000000001" {
		t.Errorf("the version after %s is %s", ahead, got)
	}
}

// A sorted set that lacks a comment makes a lookup fail rather than answer wrongly, and so does a
// count that is no number.
func TestSetIsDamaged(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	g := must.Get(s.generations(t.Context()))(t)
	e := entry(0, 0)
	must.Do(t, s.client.Del(t.Context(), s.keys.of(product, g.current)+cellText(e.Cell)).Err())
	if _, err := s.Find(t.Context(), all, []pageindex.Target{{Rank: 50, Exact: true}}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	must.Do(t, s.client.HSet(t.Context(), s.keys.of(product, g.current)+stateName, cellText(e.Cell), "x").Err())
	if _, err := s.Find(t.Context(), all, nil); comment.KindOf(err) != comment.Unavailable {
		t.Errorf("%v", err)
	}
}

// A build's products are not listed before its end, and its name is not kept after it. The next
// build deletes what an unfinished one left.
func TestBuildsLeaveNothing(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	if g := must.Get(s.generations(t.Context()))(t); g.building != "" {
		t.Errorf("after a build: %+v", g)
	}
	other := entry(1, 1)
	other.Product = "other"
	must.Do(t, must.Get(s.Build(t.Context()))(t).Add(t.Context(), []pageindex.Entry{other}))
	must.Do(t, s.Products(t.Context(), func(listed string) {
		if listed != product {
			t.Errorf("product %q is listed", listed)
		}
	}))
	must.Get(s.Build(t.Context()))(t)
	if keys := held(t, server.URL(), "comments", "other"); len(keys) > 0 {
		t.Errorf("left: %q", keys)
	}
}

// Two processes that find an empty store, as after a failover, write into the same content.
func TestTwoBeginAnEmptyStore(t *testing.T) {
	server := redistest.Start(t)
	s, other := openStore(t, server.URL()), openStore(t, server.URL())
	s.client.AddHook(&meddler{before: "hset", times: 1, change: func() { must.Do(t, other.Apply(t.Context(), entries(5))) }})
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(7, 7)}))
	checkTotal(t, s, 6)
}

// lossy loses an answer when lose is set, so the call times out.
type lossy struct {
	meddler
	lose *atomic.Bool
}

func (l *lossy) DialHook(next goredis.DialHook) goredis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		return &lossyConn{conn, l.lose}, err
	}
}

type lossyConn struct {
	net.Conn
	lose *atomic.Bool
}

func (c *lossyConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if err == nil && c.lose.CompareAndSwap(true, false) {
		return c.Conn.Read(into)
	}
	return n, err
}

// A script whose answer is lost is sent again, which changes nothing more. A build whose end is
// told to nobody has ended all the same.
func TestAnswerIsLost(t *testing.T) {
	t.Parallel() // it waits most of the time, for answers that are lost
	server := redistest.Start(t)
	s := openStore(t, server.URL())
	lose := &atomic.Bool{}
	hook := &lossy{lose: lose, meddler: meddler{change: func() { lose.Store(true) }}}
	s.client.AddHook(hook)
	must.Do(t, s.Apply(t.Context(), entries(100)))
	hook.times = 1
	must.Do(t, s.Apply(t.Context(), versions(100, 1)))
	if lose.Load() || hook.times > 0 {
		t.Error("no answer was lost")
	}
	checkHolds(t, s, versions(100, 1))

	b := must.Get(s.Build(t.Context()))(t)
	must.Do(t, finish.Load(t.Context(), s.client).Err())
	lose.Store(true)
	must.Do(t, b.Finish(t.Context(), "all"))
	conformance.CheckCovers(t, s, "all")
}

// A build deletes the store's earlier content, including the rest of an unfinished build, without
// reading other keys of the server. These may be many millions.
func TestSweepLooksAtOwnKeysOnly(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	gone := entry(5, 200)
	gone.Cell = nil
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{gone}))
	must.Do(t, must.Get(s.Build(t.Context()))(t).Add(t.Context(), entries(40))) // and is left unfinished
	server.Must(t, "SET", "another", "1")
	other := entry(7, 1)
	other.Product = "a product {of} two words"
	conformance.Build(t, s, []pageindex.Entry{entry(1, 1), other}, "anew")
	checkTotal(t, s, 1)

	g := must.Get(s.generations(t.Context()))(t)
	keys := must.Get(s.client.Keys(t.Context(), "*").Result())(t)
	for _, key := range keys {
		if strings.Contains(key, "{") && !strings.Contains(key, ":"+goneName) && !strings.Contains(key, ":"+g.current+":") {
			t.Errorf("%q is left", key)
		}
	}
	if len(keys) != 10 || !slices.Contains(keys, "another") { // two of the store, 3 of each product, the foreign one, and that of the deleted comment
		t.Errorf("%d keys: %q", len(keys), keys)
	}
	stats := must.Get(s.client.Info(t.Context(), "commandstats").Result())(t)
	if strings.Contains(stats, "cmdstat_scan:") || !strings.Contains(stats, "cmdstat_sscan:") {
		t.Errorf("the server was asked for:\n%s", stats)
	}

	other.Cell, other.Follows = nil, follow(300)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{other}))
	if listed := must.Get(s.client.SMembers(t.Context(), s.keys.products()).Result())(t); len(listed) != 1 || listed[0] != listedAs(product, g.current) {
		t.Errorf("the set of products has %q, and one of the two has a comment", listed)
	}
}
