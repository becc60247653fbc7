package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

const product = "4711"

// all is the whole list of the product.
var all = pageindex.List{Product: product, Order: comment.NewestFirst}

// entry returns the entry of comment n after change number follows.
func entry(n, follows int) pageindex.Entry {
	cell := comment.Cell{Language: commenttest.Languages[follows%3], Rating: 1 + follows%comment.MaxRating}
	at := comment.PositionAt(commenttest.Epoch.Add(time.Duration(n/10)*time.Millisecond), [10]byte{9: byte(n)})
	return pageindex.Entry{Product: product, Position: at, Cell: &cell, Follows: follow(follows)}
}

func entries(n int) (out []pageindex.Entry) {
	for i := range n {
		out = append(out, entry(i, i))
	}
	return out
}

// openStore opens a store until the test ends.
func openStore(t *testing.T, target string) *Store {
	t.Helper()
	s := open(t, target, "comments")
	t.Cleanup(func() { s.Close() })
	return s
}

// builtStore opens a store that is complete for "all", with 100 comments.
func builtStore(t *testing.T, target string) *Store {
	t.Helper()
	s := openStore(t, target)
	conformance.Build(t, s, entries(100), "all")
	conformance.CheckCovers(t, s, "all")
	return s
}

func checkTotal(t *testing.T, s *Store, want int) {
	t.Helper()
	found, err := s.Find(t.Context(), all, nil)
	if err != nil || found.Counts.Total() != want {
		t.Errorf("%d comments are found (%v), want %d", found.Counts.Total(), err, want)
	}
}

// checkKind looks up everything, and fails unless the error has the kind and names the server, and
// comes soon.
func checkKind(t *testing.T, s *Store, want comment.Kind) {
	t.Helper()
	_, covers := s.Covers(t.Context())
	_, find := s.Find(t.Context(), all, nil)
	_, build := s.Build(t.Context())
	for name, err := range map[string]error{"covers": covers, "find": find, "build": build, "apply": s.Apply(t.Context(), entries(1))} {
		if comment.KindOf(err) != want || !strings.Contains(comment.MessageOf(err), string(s.name)) {
			t.Errorf("%s: %v is of kind %v, want %v and the name of the server", name, err, comment.KindOf(err), want)
		}
	}
}

// A server that is down is Unavailable. When it is back, it is used again.
func TestServerIsAwayAndBack(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	server.Stop(t)
	checkKind(t, s, comment.Unavailable)
	server.Restart(t)
	conformance.CheckCovers(t, s, "") // the server kept nothing
	checkTotal(t, s, 0)
	must.Do(t, s.Apply(t.Context(), entries(3)))
	checkTotal(t, s, 3)
}

// A server that does not answer is a Timeout, after the URL's time or the caller's.
func TestServerHangs(t *testing.T) {
	server := redistest.Start(t)
	patient := builtStore(t, server.URL())
	hasty := openStore(t, server.URL()+"?read_timeout=50ms") // even a healthy server may take longer
	server.Pause(t)
	checkKind(t, hasty, comment.Timeout)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := patient.Find(short, all, nil); comment.KindOf(err) != comment.Timeout {
		t.Errorf("after the caller's time: %v", err)
	}
	server.Resume(t)
	checkTotal(t, patient, 100)
	conformance.CheckCovers(t, patient, "all")
}

// An emptied server is not complete, and a build that began before it was emptied cannot be
// finished.
func TestServerIsEmptied(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	b := must.Get(s.Build(t.Context()))(t)
	must.Do(t, b.Add(t.Context(), entries(50)))
	server.Must(t, "FLUSHALL")
	conformance.CheckCovers(t, s, "")
	checkTotal(t, s, 0)
	for name, err := range map[string]error{"add": b.Add(t.Context(), entries(1)), "finish": b.Finish(t.Context(), "half")} {
		if comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s after that: %v, want a conflict", name, err)
		}
	}
	conformance.CheckCovers(t, s, "")
}

// A server that was restarted may lack the last writes that it acknowledged, even if it keeps data
// on disk.
func TestServerIsRestartedWithItsData(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "everysec")
	s := builtStore(t, server.URL())
	b := must.Get(s.Build(t.Context()))(t)
	must.Do(t, b.Add(t.Context(), entries(50)))
	server.Stop(t)
	server.Restart(t)
	checkTotal(t, s, 100)
	conformance.CheckCovers(t, s, "")
	must.Do(t, b.Finish(t.Context(), "begun before"))
	conformance.CheckCovers(t, s, "")
	conformance.Build(t, s, entries(70), "begun since")
	conformance.CheckCovers(t, s, "begun since")
	checkTotal(t, s, 70)
}

// A server that has begun to delete keys since the build is refused. Its deletions make the store
// incomplete, even if its policy is changed back.
func TestServerThatEvicts(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	server.Must(t, "CONFIG", "SET", "maxmemory-policy", "volatile-random")
	must.Do(t, s.client.Set(t.Context(), "others", "x", time.Hour).Err())
	conformance.CheckCovers(t, s, "all") // its memory has no limit
	server.Must(t, "CONFIG", "SET", "maxmemory", "1")
	if _, err := s.Covers(t.Context()); comment.KindOf(err) != comment.Unavailable || !strings.Contains(comment.MessageOf(err), "set maxmemory-policy noeviction") {
		t.Errorf("%v", err)
	}
	_ = s.client.Set(t.Context(), "more", "x", 0) // makes it delete what expires
	server.Must(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	conformance.CheckCovers(t, s, "") // and its limit is no reason to refuse it
}

// nameless is a server that does not report its run_id, as behind some proxies.
type nameless struct{ meddler }

func (nameless) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		err := next(ctx, command)
		if info, ok := command.(*goredis.StringCmd); ok && command.Name() == "info" {
			info.SetVal(strings.ReplaceAll(info.Val(), "run_id:", "hidden:"))
		}
		return err
	}
}

// A server that does not identify itself is refused: another server could be mistaken for it.
func TestServerWithoutIdentity(t *testing.T) {
	server := redistest.Start(t)
	s := openStore(t, server.URL())
	s.client.AddHook(&nameless{})
	_, building := s.Build(t.Context())
	_, covers := s.Covers(t.Context())
	for _, err := range []error{building, covers} {
		if comment.KindOf(err) != comment.Unavailable || !strings.Contains(comment.MessageOf(err), "run_id") {
			t.Errorf("%v", err)
		}
	}
}

// A server that was a replica for a while has the data of its master, which may be less.
func TestServerThatWasReplica(t *testing.T) {
	server, other := redistest.Start(t), redistest.Start(t)
	s := builtStore(t, server.URL())
	host, port, _ := strings.Cut(other.Address(), ":")
	server.Must(t, "REPLICAOF", host, port)
	server.Must(t, "REPLICAOF", "NO", "ONE")
	conformance.CheckCovers(t, s, "")
}

// A master that another server replaced has the data of that one, which may be less, and keeps its
// name. A client that is still connected is told so.
func TestServerBecomesReplica(t *testing.T) {
	const atOnce = "--repl-diskless-sync-delay"
	server, other := redistest.Start(t, atOnce, "0"), redistest.Start(t, atOnce, "0")
	s := builtStore(t, server.URL())
	follows := func(replica, master *redistest.Server) {
		host, port, _ := strings.Cut(master.Address(), ":")
		replica.Must(t, "REPLICAOF", host, port)
		client := goredis.NewClient(&goredis.Options{Addr: replica.Address()})
		defer client.Close()
		for !strings.Contains(client.Info(t.Context(), "replication").Val(), "master_link_status:up") {
			time.Sleep(time.Millisecond) // the test's own timeout ends the wait
		}
	}
	follows(other, server)
	other.Must(t, "REPLICAOF", "NO", "ONE")
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(1000, 1000)})) // the other server never gets this
	checkTotal(t, s, 101)
	follows(server, other)
	checkTotal(t, s, 100)
	if covers, err := s.Covers(t.Context()); comment.KindOf(err) != comment.Unavailable || !strings.Contains(comment.MessageOf(err), "replica") {
		t.Errorf("it covers %q, and the error is %v", covers, err)
	}
}

// moved is the name of a server, which may move to another address.
type moved struct {
	meddler
	to atomic.Value
}

func (m *moved) DialHook(next goredis.DialHook) goredis.DialHook {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return next(ctx, network, m.to.Load().(string))
	}
}

// After a failover, the name of the server belongs to the new master, while the old one, now a
// replica, still answers on the connections that there are.
func TestNameOfMasterMoves(t *testing.T) {
	t.Parallel() // it waits most of the time, for connections to become old
	server, other := redistest.Start(t), redistest.Start(t)
	s, name := openStore(t, server.URL()+"?conn_max_lifetime=1s"), &moved{}
	name.to.Store(server.Address())
	s.client.AddHook(name)
	conformance.Build(t, s, entries(100), "all")
	name.to.Store(other.Address())
	host, port, _ := strings.Cut(other.Address(), ":")
	server.Must(t, "REPLICAOF", host, port)
	for _, err := s.Covers(t.Context()); err != nil; _, err = s.Covers(t.Context()) {
		time.Sleep(time.Millisecond) // the test's own timeout ends the wait
	}
	conformance.Build(t, s, entries(100), "all")
	checkTotal(t, s, 100)
}

// A server without memory left returns an error, and keeps its content.
func TestServerIsFull(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	server.Must(t, "CONFIG", "SET", "maxmemory", "1")
	if err := s.Apply(t.Context(), []pageindex.Entry{entry(1000, 1000)}); comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("%v", err)
	}
	checkTotal(t, s, 100)
}

// Passwords are sent to the server and appear in no error.
func TestPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "s3cret")
	right := openStore(t, "redis://:s3cret@"+server.Address())
	checkTotal(t, right, 0)
	for target, kind := range map[string]comment.Kind{
		"redis://:wr0ng@" + server.Address():                         comment.Unavailable,
		"redis://:wr0ng@127.0.0.1:1":                                 comment.Unavailable,
		"redis://:wr0ng@127.0.0.1:1/x":                               comment.BadInput,
		"redis://:12#wr0ng@127.0.0.1:1":                              comment.BadInput,
		"redis://:wr0ng@127.0.0.1:port":                              comment.BadInput,
		"redis://:wr0ng@127.0.0.1:1/0?read_timeout=wr0ng":            comment.BadInput,
		"redis://:wr0ng@127.0.0.1:1?cluster=true&read_timeout=wr0ng": comment.BadInput,
		"memcache://:wr0ng@127.0.0.1:1":                              comment.BadInput,
		"redis:":                                                     comment.BadInput,
	} {
		s, err := Open(t.Context(), target, "comments")
		if err == nil {
			_, err = s.Covers(t.Context())
			s.Close()
		}
		if comment.KindOf(err) != kind || strings.Contains(fmt.Sprintf("%+v", err), "wr0ng") {
			t.Errorf("%s: %v is of kind %v, want %v and no password", target, err, comment.KindOf(err), kind)
		}
	}
}

// Traffic to rediss:// is encrypted.
func TestTLS(t *testing.T) {
	server, port := redistest.StartTLS(t)
	s := openStore(t, fmt.Sprintf("rediss://127.0.0.1:%d?skip_verify=true", port))
	checkTotal(t, s, 0)
	unknown := openStore(t, fmt.Sprintf("rediss://127.0.0.1:%d", port))
	checkKind(t, unknown, comment.Unavailable)
	checkTotal(t, openStore(t, server.URL()), 0)
}

// Stores of two tables in one server do not affect each other, even while one is swept.
func TestTablesDoNotMix(t *testing.T) {
	server := redistest.Start(t)
	here := builtStore(t, server.URL())
	other := open(t, server.URL(), "comments:2")
	defer other.Close()
	conformance.CheckCovers(t, other, "")
	checkTotal(t, other, 0)
	conformance.Build(t, other, nil, "nothing")
	checkTotal(t, here, 100)
	conformance.CheckCovers(t, here, "all")
}

// Redis itself deletes the trace of a deletion after some days.
func TestDeletionsExpire(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	gone := entry(3, 500)
	gone.Cell = nil
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{gone}))
	keys := must.Get(s.client.Keys(t.Context(), "*"+goneName+"*").Result())(t)
	if len(keys) != 1 {
		t.Fatalf("%q", keys)
	}
	if left := s.client.TTL(t.Context(), keys[0]).Val(); left > pageindex.Remember || left < pageindex.Remember-time.Minute {
		t.Errorf("it stays for %v", left)
	}
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(3, 501)}))
	if n := s.client.Exists(t.Context(), keys[0]).Val(); n != 0 {
		t.Error("it stays although the comment is back")
	}
}

// meddler makes a change before each of the next few pipelines is sent or, if before is set, before
// each of the next few single commands whose names begin with it.
type meddler struct {
	goredis.Hook
	before string
	times  int
	change func()
}

func (m *meddler) meet(met bool) {
	if met && m.times > 0 {
		m.times--
		m.change()
	}
}

func (m *meddler) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (m *meddler) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		m.meet(m.before != "" && strings.HasPrefix(command.Name(), m.before))
		return next(ctx, command)
	}
}

func (m *meddler) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, commands []goredis.Cmder) error {
		m.meet(m.before == "" && commands[0].Name() != "hello")
		return next(ctx, commands)
	}
}

// failing fails one call.
type failing struct {
	meddler
	calls, fails int
}

func (f *failing) call() error {
	if f.calls++; f.calls == f.fails {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (f *failing) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		if err := f.call(); err != nil {
			command.SetErr(err)
			return err
		}
		return next(ctx, command)
	}
}

func (f *failing) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, commands []goredis.Cmder) error {
		if err := f.call(); err != nil {
			return err
		}
		return next(ctx, commands)
	}
}

// Whichever call fails, so does what made it.
func TestEachCallFails(t *testing.T) {
	s, f := openStore(t, redistest.Start(t).URL()), &failing{}
	s.client.AddHook(f)
	var b pageindex.Build
	find := func(list pageindex.List, targets ...pageindex.Target) error {
		_, err := s.Find(t.Context(), list, targets)
		return err
	}
	dated := all
	dated.Filter.CreatedBefore = new(commenttest.Epoch.Add(time.Hour))
	for name, do := range map[string]func() error{
		"apply":    func() error { return s.Apply(t.Context(), entries(10)) },
		"find":     func() error { return find(all, pageindex.Target{Rank: 50, Exact: true}) },
		"dated":    func() error { return find(dated) },
		"none":     func() error { return find(pageindex.List{Product: "none", Order: comment.OldestFirst}) },
		"covers":   func() error { _, err := s.Covers(t.Context()); return err },
		"renew":    func() error { return s.Renew(t.Context(), "all", "all") },
		"products": func() error { return s.Products(t.Context(), func(string) {}) },
		"build":    func() error { _, err := s.Build(t.Context()); return err },
		"add":      func() error { return b.Add(t.Context(), entries(10)) },
	} {
		f.fails = 0
		conformance.Build(t, s, entries(100), "all")
		b = must.Get(s.Build(t.Context()))(t)
		must.Do(t, b.Add(t.Context(), entries(3))) // which another build has to delete
		for f.fails = 1; ; f.fails++ {
			f.calls = 0
			err := do()
			if f.calls < f.fails {
				if err != nil {
					t.Errorf("%s: no call fails, and the error is %v", name, err)
				}
				break
			}
			if comment.KindOf(err) != comment.Unavailable {
				t.Errorf("%s: call %d fails, and the error is %v", name, f.fails, err)
			}
		}
	}
	f.calls, f.fails = 0, 1
	if err := b.Finish(t.Context(), "again"); comment.KindOf(err) != comment.Unavailable {
		t.Errorf("the last call fails, and the error is %v", err)
	}
}

// If a product changes between two waves, the lookup starts again. If it changes all the time, the
// lookup fails rather than answer wrongly.
func TestChangesBetweenWaves(t *testing.T) {
	server := redistest.Start(t)
	s, other := openStore(t, server.URL()), openStore(t, server.URL())
	must.Do(t, s.Apply(t.Context(), entries(200)))
	n := 1000
	m := &meddler{change: func() {
		n++
		must.Do(t, other.Apply(t.Context(), []pageindex.Entry{entry(n%100, n)}))
	}}
	s.client.AddHook(m)
	for times := range 4 {
		m.times = times
		found, err := s.Find(t.Context(), all, []pageindex.Target{{Rank: 120, Exact: true}})
		if err != nil || found.Counts.Total() != 200 || found.Boundaries[0].Rank != 120 || *found.Boundaries[0].After != entry(80, 0).Position {
			t.Errorf("after %d changes: %+v %v", times, found, err)
		}
	}
	m.times = 1000
	if _, err := s.Find(t.Context(), all, []pageindex.Target{{Rank: 120}}); comment.KindOf(err) != comment.Unavailable {
		t.Errorf("while it always changes: %v", err)
	}
}

// A generation that begins while entries are written gets them too.
func TestBuildBeginsDuringApply(t *testing.T) {
	server := redistest.Start(t)
	s, other := openStore(t, server.URL()), openStore(t, server.URL())
	s.client.AddHook(&meddler{times: 1, change: func() { conformance.Build(t, other, entries(2), "built meanwhile") }})
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(2, 2)}))
	checkTotal(t, other, 3)
	conformance.CheckCovers(t, other, "built meanwhile")
}

// follow returns the position of a record.
func follow(n int) stream.Position { return stream.PositionOf("2026-01-01", fmt.Sprint(n)) }
