package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// nth returns the n-th entry, each of another comment.
func nth(n int) pageindex.Entry {
	return pageindex.Entry{
		Product: "espresso", Position: comment.PositionAt(time.UnixMilli(int64(1_700_000_000_000+n)), [10]byte{9: 1}),
		Cell: &comment.Cell{Language: "de", Rating: 1 + n%comment.MaxRating}, Follows: stream.Position(fmt.Sprintf("run/%040d", n)),
	}
}

// check compares the places of all comments with those of entries 0 to n-1.
func check(t *testing.T, s *Store, n int) {
	t.Helper()
	var targets []pageindex.Target
	for rank := range n {
		targets = append(targets, pageindex.Target{Rank: rank + 1, Exact: true})
	}
	found := must.Get(s.Find(t.Context(), pageindex.List{Product: "espresso", Order: comment.OldestFirst}, targets))(t)
	if found.Counts.Total() != n {
		t.Fatalf("there are %d comments, want %d", found.Counts.Total(), n)
	}
	for rank, b := range found.Boundaries {
		if *b.After != nth(rank).Position {
			t.Fatalf("another comment has the rank %d", rank)
		}
	}
}

// until repeats work while its error may be temporary.
func until(t *testing.T, work func() error) {
	t.Helper()
	for range 50 {
		err := work()
		if err == nil {
			return
		}
		if kind := comment.KindOf(err); kind != comment.Unavailable && kind != comment.Timeout && kind != comment.Internal {
			t.Fatal(err)
		}
	}
	t.Fatal("it fails again and again")
}

// fault spoils one call of a client.
type fault struct {
	nth   int64 // 1 for the first call
	mode  string
	calls atomic.Int64
}

var errCut = errors.New("the connection was cut")

// RoundTrip implements http.RoundTripper.
func (f *fault) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.calls.Add(1) != f.nth {
		return http.DefaultTransport.RoundTrip(r)
	}
	switch f.mode {
	case "refused":
		return nil, errCut
	case "busy":
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", Body: io.NopCloser(strings.NewReader("")), Header: http.Header{}, Request: r}, nil
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	return nil, errCut // the answer is lost
}

// Calls of a process that applies, merges and builds fail in turn, in three ways, with the SDK's
// retries and without. In the end the store has exactly what it acknowledged. make torture spoils
// each of their calls, make test some.
func TestEachCallFails(t *testing.T) {
	server := s3test.Start(t)
	r, step := commenttest.Rand(t), int64(commenttest.Times(8, 1))
	for _, mode := range []string{"refused", "busy", "lost"} {
		for attempts := 1; attempts <= 2; attempts++ {
			for nth := 1 + r.Int64N(step); ; nth += step {
				f := &fault{nth: nth, mode: mode}
				failing(t, server, f, attempts)
				if t.Failed() {
					t.Fatalf("call %d %s, with %d attempts", nth, mode, attempts)
				}
				if f.calls.Load() < nth {
					break
				}
			}
		}
	}
}

func failing(t *testing.T, server *s3test.Server, f *fault, attempts int) {
	t.Helper()
	prefix := newPrefix()
	other := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, quiet)
	var mine *Store
	until(t, func() (err error) {
		mine, err = openAt(t.Context(), &bucket{client(server, f, attempts), s3test.Bucket, prefix}, quiet)
		return err
	})
	defer func() { _ = mine.Close() }()
	n := 0
	apply := func(s *Store) {
		until(t, func() error { return s.Apply(t.Context(), []pageindex.Entry{nth(n)}) })
		n++
	}
	apply(mine)
	apply(other)
	apply(mine)
	until(t, func() error { return mine.merger.mergeLogs(t.Context()) })
	apply(other)
	until(t, func() error {
		b, err := mine.Build(t.Context())
		if err != nil {
			return err
		}
		for i := range n {
			if err := b.Add(t.Context(), []pageindex.Entry{nth(i)}); err != nil {
				return err
			}
		}
		if err := other.Apply(t.Context(), []pageindex.Entry{nth(n)}); err != nil {
			return err
		}
		if err := b.Finish(t.Context(), "built"); comment.KindOf(err) != comment.Conflict {
			return err
		}
		return nil // the build was finished, and the answer lost
	})
	n++
	apply(mine)
	until(t, func() error { _, err := mine.Covers(t.Context()); return err })
	check(t, other, n)
	conformance.CheckCovers(t, other, "built")
}

// Two processes write, merge and collect at the same time. Nothing is lost.
func TestTwoWriters(t *testing.T) {
	server := s3test.Start(t)
	set, prefix := small, newPrefix()
	set.logGrace, set.collectEvery = -time.Minute, 0
	const each = 60
	var all sync.WaitGroup
	for half := range 2 {
		s := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)
		all.Go(func() {
			for n := range each {
				if err := s.Apply(t.Context(), []pageindex.Entry{nth(2*n + half)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	check(t, mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, quiet), 2*each)
}

// A writer that was asleep uses a log number that was since merged and deleted. It notices.
func TestStaleWriter(t *testing.T) {
	server := s3test.Start(t)
	set, prefix := quiet, newPrefix()
	set.logGrace = -time.Minute // the service's clocks show seconds
	stale := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)
	busy := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)
	apply := func(s *Store, n int) {
		t.Helper()
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(n)}))
	}
	apply(stale, 0)
	for n := 1; n < 4; n++ {
		apply(busy, n)
	}
	must.Do(t, errors.Join(busy.merger.merge(t.Context()), busy.merger.collect(t.Context())))
	if left, err := os.ReadDir(server.Path(prefix + logFolder)); err == nil && len(left) > 0 {
		t.Fatalf("%d logs are left after they were merged", len(left))
	}
	apply(stale, 4)
	for _, s := range []*Store{stale, busy, mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)} {
		check(t, s, 5)
	}
}

// careless is a storage that ignores conditions of puts.
type careless struct {
	storage
	missing, same bool // which conditions it ignores
}

func (s careless) put(ctx context.Context, name string, data []byte, was string) (string, error) {
	there, err := s.get(ctx, name, "")
	if err == nil && (was == "" && s.missing || was != "" && s.same) {
		was = there.tag
	}
	return s.storage.put(ctx, name, data, was)
}

// A service that ignores conditions is not used for page numbers, and nothing is left there.
func TestConditionsAreIgnored(t *testing.T) {
	server := s3test.Start(t)
	for _, ignores := range []careless{{missing: true}, {same: true}} {
		prefix := newPrefix()
		s := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, quiet)
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
		ignores.storage = s.core.storage
		s.core.storage = ignores
		if _, err := s.Build(t.Context()); comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "conditional writes") {
			t.Errorf("%+v: the build begins: %v", ignores, err)
		}
		left := must.Get(s.core.storage.list(t.Context(), ""))(t)
		if len(left) != 2 { // the root and a log
			t.Errorf("%+v: left are %v", ignores, left)
		}
	}
}

// keeping is a storage that lets nobody delete objects.
type keeping struct{ storage }

var errDenied = errors.New("AccessDenied")

func (keeping) remove(context.Context, string) error { return errDenied }

// Who may not delete what merges replace is told so when a build begins.
func TestNothingCanBeDeleted(t *testing.T) {
	s := mustOpen(t, t.TempDir(), quiet)
	s.core.storage = keeping{s.core.storage}
	if _, err := s.Build(t.Context()); comment.KindOf(err) != comment.Unavailable || !errors.Is(err, errDenied) {
		t.Errorf("the build begins: %v", err)
	}
}

// A merge whose call is never answered ends, so that later ones can succeed.
func TestMergeIsNeverAnswered(t *testing.T) {
	server := s3test.Start(t)
	c := client(server, http.DefaultTransport, 1)
	s := mustOpenBucket(t, c, newPrefix(), quiet)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
	server.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bucket := s.core.storage.(*bucket)
	bucket.client = s3.New(c.Options(), func(o *s3.Options) { o.HTTPClient = httpClient(200 * time.Millisecond) })
	if err := s.merger.merge(ctx); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("the merge ended with %v, its context with %v", err, ctx.Err())
	}
	server.Resume(t)
	bucket.client = c
	must.Do(t, s.merger.merge(t.Context()))
	if s.core.current().root.Merged == 0 {
		t.Error("nothing was merged when the service answered again")
	}
}

// chunkPut calls a function before a chunk is put.
type chunkPut func()

func (f chunkPut) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/"+chunkFolder) {
		f()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// leasePut calls a function once the lease is put, before the answer arrives.
type leasePut func()

func (f leasePut) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/"+leaseObject) {
		return http.DefaultTransport.RoundTrip(r)
	}
	answer, err := http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	f()
	return answer, cmp.Or(err, r.Context().Err())
}

// A process that is stopped while it merges, or while it takes the lease, frees it. So the next one
// merges at once.
func TestStoppedMergeFreesTheLease(t *testing.T) {
	server := s3test.Start(t)
	for name, stopping := range map[string]func(stop func()) http.RoundTripper{
		"merging":   func(stop func()) http.RoundTripper { return chunkPut(stop) },
		"the lease": func(stop func()) http.RoundTripper { return leasePut(stop) },
	} {
		ctx, stop := context.WithCancel(t.Context())
		s := mustOpenBucket(t, client(server, stopping(stop), 3), newPrefix(), quiet)
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
		if err := s.merger.merge(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the merge ended with %v", name, err)
		}
		if lease := must.Get(s.core.storage.get(t.Context(), leaseObject, ""))(t); len(lease.data) > 0 {
			t.Errorf("%s: the lease is still held: %s", name, lease.data)
		}
	}
}

// A merger that died holds the lease until the lease has not changed for a while.
func TestDeadMerger(t *testing.T) {
	server := s3test.Start(t)
	set, prefix := quiet, newPrefix()
	set.lease = 300 * time.Millisecond
	s := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
	must.Get(s.core.storage.put(t.Context(), leaseObject, []byte("dead"), ""))(t)
	for tries := 0; ; tries++ {
		must.Do(t, s.merger.merge(t.Context()))
		if s.core.current().root.Merged > 0 {
			if tries < 2 {
				t.Errorf("the lease was taken over after %d tries", tries)
			}
			break
		}
		time.Sleep(10 * time.Millisecond) // until the lease ends; the test's own timeout ends the wait
	}
	check(t, s, 1)
}

// The service is down, hangs, and comes back. Then the bucket is emptied.
func TestDownSlowEmptied(t *testing.T) {
	server := s3test.Start(t)
	s := mustOpenBucket(t, client(server, &http.Transport{}, 1), "", quiet)
	conformance.Build(t, s, entriesTo(40), "first")
	check(t, s, 40)
	fails := func(ctx context.Context, want comment.Kind) {
		t.Helper()
		_, find := s.Find(ctx, pageindex.List{Product: "espresso", Order: comment.NewestFirst}, nil)
		apply := s.Apply(ctx, []pageindex.Entry{nth(40)})
		_, covers := s.Covers(ctx)
		for _, err := range []error{find, apply, covers} {
			if comment.KindOf(err) != want {
				t.Errorf("%v has the kind %v, want %v", err, comment.KindOf(err), want)
			}
		}
	}
	server.Pause(t)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	fails(short, comment.Timeout)
	server.Resume(t)
	server.Stop(t)
	fails(t.Context(), comment.Unavailable)
	server.Restart(t)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(40)}))
	check(t, s, 41)

	server.Empty(t)
	conformance.CheckCovers(t, s, "")
	check(t, s, 0)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
	check(t, s, 1)
	conformance.Build(t, s, entriesTo(30), "second")
	check(t, s, 30)
}

// The bucket and prefix that a value of --pages names.
func TestParse(t *testing.T) {
	for _, row := range []struct{ target, bucket, prefix string }{
		{"s3://pages", "pages", ""},
		{"s3://pages/", "pages", ""},
		{"s3://pages/a/b", "pages", "a/b/"},
		{"s3://key:secret@pages/a", "", ""},
		{"s3://", "", ""},
		{"https://pages", "", ""},
	} {
		bucket, prefix, err := parse(row.target)
		if bucket != row.bucket || prefix != row.prefix || (err == nil) != (row.bucket != "") || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q %q %v", row.target, bucket, prefix, err)
		}
	}
}

// The SDK's environment variables say where the service is.
func TestOpenByEnvironment(t *testing.T) {
	server := s3test.Start(t)
	server.Environment(t)
	s := must.Get(OpenBucket(t.Context(), "s3://"+s3test.Bucket+"/by/environment"))(t)
	defer func() { _ = s.Close() }()
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(0)}))
	check(t, s, 1)
	if _, err := os.Stat(server.Path("by/environment/" + rootObject)); err != nil {
		t.Error(err)
	}
}
