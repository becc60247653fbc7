package objects

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// Each byte of each file is changed in turn. No answer is wrong, the error names the cure, the
// store then covers nothing, and a build repairs it.
func TestFlippedBytes(t *testing.T) {
	const comments, changes = 30, 80
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	fill := func(from, to int) {
		for ; from < to; from += 20 {
			var entries []pageindex.Entry
			for n := from; n < min(from+20, to); n++ {
				entries = append(entries, entry(n, comments))
			}
			must.Do(t, s.Apply(t.Context(), entries))
		}
	}
	fill(0, 60)
	b := must.Get(s.Build(t.Context()))(t)
	fill(0, 60)
	must.Do(t, b.Finish(t.Context(), "complete"))
	fill(60, changes)
	want := stateAfter(changes, comments)
	must.Do(t, s.Close())
	noticed := 0
	for _, path := range allFiles(t, folder) {
		data := must.Get(os.ReadFile(path))(t)
		for i := 0; i < len(data); i += 1 + len(data)/80 {
			flipped := slices.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			must.Do(t, os.WriteFile(path, flipped, 0o600))
			if checkDamaged(t, folder, want) {
				noticed++
			}
		}
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
	if noticed < 100 {
		t.Errorf("only %d changed bytes were noticed", noticed)
	}

	must.Do(t, os.WriteFile(filepath.Join(folder, rootObject), []byte("nonsense"), 0o600))
	s = mustOpen(t, folder, quiet)
	fill(0, 5) // entries applied to a damaged store are kept for the build
	b = must.Get(s.Build(t.Context()))(t)
	fill(5, changes)
	must.Do(t, b.Add(t.Context(), []pageindex.Entry{entry(0, comments)}))
	must.Do(t, b.Finish(t.Context(), "again"))
	conformance.CheckCovers(t, s, "again")
	if got := stateOf(t, s); !maps.Equal(got, stateAfter(changes, comments)) {
		t.Errorf("after the build there are %d comments", len(got))
	}
}

// checkDamaged opens a folder and reports whether the damage was noticed. If not, because answers
// do not depend on the byte, all answers must be right.
func checkDamaged(t *testing.T, folder string, want map[comment.Position]int) bool {
	t.Helper()
	s := must.Get(openIn(t.Context(), folder, quiet))(t)
	defer func() { _ = s.Close() }()
	list := pageindex.List{Product: "espresso/1", Order: comment.NewestFirst}
	var targets []pageindex.Target
	for rank := range len(want) {
		targets = append(targets, pageindex.Target{Rank: rank, Exact: true})
	}
	found, err := s.Find(t.Context(), list, targets)
	if err == nil {
		if found.Counts.Total() != len(want) || !maps.Equal(stateOf(t, s), want) {
			t.Fatal("a changed byte was served")
		}
		return false
	}
	if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "a server builds it anew") {
		t.Fatalf("%v, want it to be unavailable, and the cure", err)
	}
	conformance.CheckCovers(t, s, "")
	return true
}

func allFiles(t *testing.T, folder string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != lockFile {
			out = append(out, path)
		}
		return err
	})
	must.Do(t, err)
	return out
}

// steps is a storage that calls before ahead of each change.
type steps struct {
	storage
	mu     sync.Mutex
	before func(data []byte)
}

func (s *steps) put(ctx context.Context, name string, data []byte, was string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before(data)
	return s.storage.put(ctx, name, data, was)
}

func (s *steps) remove(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before(nil)
	return s.storage.remove(ctx, name)
}

// Changes, a merge and a build are interrupted before each of their steps in turn, or in the middle
// of it. The folder in that state can be opened, and lacks nothing.
func TestEndsAnywhere(t *testing.T) {
	const comments, changes = 40, 100
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	type step struct {
		folder string
		want   map[comment.Position]int
	}
	var kept []step
	applied := 0
	s.core.storage = &steps{storage: s.core.storage, before: func(data []byte) {
		copied := filepath.Join(t.TempDir(), "step")
		must.Do(t, os.CopyFS(copied, os.DirFS(folder)))
		must.Do(t, os.WriteFile(filepath.Join(copied, scratchFolder, "half"), data[:len(data)/2], 0o600))
		kept = append(kept, step{copied, stateAfter(applied, comments)})
	}}
	apply := func(to int) {
		for ; applied < to; applied++ {
			must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(applied, comments)}))
		}
	}
	apply(10)
	for range 2 {
		apply(applied + 30)
		must.Do(t, s.merger.merge(t.Context()))
	}
	b := must.Get(s.Build(t.Context()))(t)
	for n := range applied {
		must.Do(t, b.Add(t.Context(), []pageindex.Entry{entry(n, comments)}))
	}
	apply(changes)
	must.Do(t, b.Finish(t.Context(), "built"))
	must.Do(t, s.merger.collect(t.Context()))
	for i, step := range kept {
		opened := mustOpen(t, step.folder, quiet)
		if got := stateOf(t, opened); !maps.Equal(got, step.want) {
			t.Errorf("step %d of %d: %d comments, want %d", i+1, len(kept), len(got), len(step.want))
		}
		must.Do(t, opened.merger.mergeLeased(t.Context()))
		if left, chunks := len(allFiles(t, filepath.Join(step.folder, chunkFolder))), len(opened.core.current().root.Chunks); left > 2*chunks {
			t.Errorf("step %d of %d leaves %d files for %d chunks", i+1, len(kept), left, chunks)
		}
		if half := allFiles(t, filepath.Join(step.folder, scratchFolder)); len(half) > 0 {
			t.Errorf("step %d of %d leaves %q", i+1, len(kept), half)
		}
		must.Do(t, opened.Close())
	}
}

// together is a storage in which each of the first logs is read only while another one is.
type together struct {
	storage
	last    uint64
	reading chan bool
}

func (s *together) get(ctx context.Context, name, unless string) (object, error) {
	if number, is := logNumber(name); is && number <= s.last {
		select {
		case s.reading <- true:
		case <-s.reading:
		case <-ctx.Done():
			return object{}, ctx.Err()
		}
	}
	return s.storage.get(ctx, name, unless)
}

// The logs since a build began are read several at a time: many thousands come while a large table
// is read, and each takes some 20 ms in a bucket.
func TestLogsAreReadTogether(t *testing.T) {
	const logs = 40
	s := mustOpen(t, t.TempDir(), quiet)
	b := must.Get(s.Build(t.Context()))(t)
	for n := range logs {
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(n)}))
	}
	s.core.storage = &together{s.core.storage, logs, make(chan bool)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must.Do(t, b.Finish(ctx, "all"))
	check(t, s, logs)
}

// Changes are merged when there are many, and after an interval.
func TestMergesByItself(t *testing.T) {
	for _, set := range []func(*settings){
		func(set *settings) { set.mergeAt = 3 },
		func(set *settings) { set.mergeEvery = time.Millisecond },
	} {
		own := quiet
		set(&own)
		s := mustOpen(t, t.TempDir(), own)
		for n := range 3 {
			must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(n, 10)}))
		}
		must.Wait(t, "all is merged", func() bool { return s.core.current().waiting == 0 })
		if got := stateOf(t, s); !maps.Equal(got, stateAfter(3, 10)) || len(s.core.current().root.Chunks) != 1 {
			t.Errorf("after the merge there are %d comments in %d chunks, want 3 in 1", len(got), len(s.core.current().root.Chunks))
		}
	}
}

// A second process cannot open the folder, and the error says what to do.
func TestOneProcess(t *testing.T) {
	folder := t.TempDir()
	mustOpen(t, folder, quiet)
	_, err := openIn(t.Context(), folder, quiet)
	if comment.KindOf(err) != comment.Unavailable {
		t.Errorf("%v, want it to be unavailable", err)
	}
}

// A folder that could not be used when it was opened can be opened once it is mended.
func TestOpenedAgain(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, mustOpen(t, folder, quiet).Close())
	chunks := filepath.Join(folder, chunkFolder)
	must.Do(t, errors.Join(os.RemoveAll(chunks), os.WriteFile(chunks, nil, 0o600)))
	if _, err := openIn(t.Context(), folder, quiet); comment.KindOf(err) != comment.Unavailable || errors.Is(err, pageindex.ErrInUse) {
		t.Errorf("%v, want it to be unavailable", err)
	}
	must.Do(t, os.Remove(chunks))
	mustOpen(t, folder, quiet)
}

// A folder with files of another program is left alone.
func TestOtherFiles(t *testing.T) {
	folder := t.TempDir()
	mine := filepath.Join(folder, scratchFolder, "main.c")
	must.Do(t, errors.Join(os.Mkdir(filepath.Dir(mine), private), os.WriteFile(mine, []byte("int main;"), 0o600)))
	if _, err := openIn(t.Context(), folder, quiet); comment.KindOf(err) != comment.BadInput {
		t.Errorf("%v, want it to be refused", err)
	}
	if found := allFiles(t, folder); !slices.Equal(found, []string{mine}) {
		t.Errorf("in the folder there are %q", found)
	}
}

// If the folder of a running store is emptied, the store notices, and is an empty store from then
// on.
func TestEmptied(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	for _, covers := range []string{"first", "second"} {
		conformance.Build(t, s, []pageindex.Entry{entry(0, 10), entry(1, 10)}, covers)
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{entry(2, 10)}))
		if got := stateOf(t, s); len(got) != 3 {
			t.Errorf("%d comments, want 3", len(got))
		}
		must.Do(t, os.RemoveAll(folder))
		conformance.CheckCovers(t, s, "")
		if got := stateOf(t, s); len(got) != 0 {
			t.Errorf("an emptied store has %d comments", len(got))
		}
	}
}

// After Remember, guards and deleted comments are gone. Before that, late entries change nothing.
func TestGuardsEnd(t *testing.T) {
	now := time.Now()
	set := quiet
	set.now = func() time.Time { return now }
	s := mustOpen(t, t.TempDir(), set)
	step := func(after time.Duration, entries ...pageindex.Entry) {
		t.Helper()
		now = now.Add(after)
		must.Do(t, errors.Join(s.Apply(t.Context(), entries), s.merger.merge(t.Context())))
	}
	guards := func() (n int) {
		for _, c := range s.core.current().root.Chunks {
			n += c.Guards.Count
		}
		return n
	}
	old, gone := entry(0, 10), entry(10, 10)
	gone.Cell = nil
	step(0, gone, entry(1, 10))
	step(pageindex.Remember-time.Minute, old)
	if got := stateOf(t, s); len(got) != 1 || guards() != 2 {
		t.Errorf("%d comments and %d guards, want 1 and 2", len(got), guards())
	}
	step(2*time.Minute, entry(2, 10))
	if got := stateOf(t, s); len(got) != 2 || guards() != 1 {
		t.Errorf("after Remember there are %d comments and %d guards, want 2 and 1", len(got), guards())
	}
}

// Whichever file a process has no descriptor for, later entries are accepted, and nothing is lost.
func TestWithoutDescriptors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	s := must.Get(OpenFolder(t.Context(), folder))(t)
	var limit syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	n, refused := 0, 0
	for spare := range uint64(8) {
		tight := limit
		tight.Cur = min(tight.Cur, 256)
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &tight))
		var taken []*os.File
		for {
			file, err := os.Open(os.DevNull)
			if err != nil {
				break
			}
			taken = append(taken, file)
		}
		for _, file := range taken[:spare] {
			_ = file.Close()
		}
		if s.Apply(t.Context(), []pageindex.Entry{nth(n)}) != nil {
			refused++
		}
		if _, err := s.Build(t.Context()); err != nil {
			refused++
		}
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		for _, file := range taken[spare:] {
			_ = file.Close()
		}
		for range 2 {
			if err := s.Apply(t.Context(), []pageindex.Entry{nth(n)}); err != nil {
				t.Fatalf("with %d descriptors to spare before: %v", spare, err)
			}
			n++
		}
		check(t, s, n)
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	must.Do(t, s.Close())
	s = must.Get(OpenFolder(t.Context(), folder))(t)
	check(t, s, n)
	must.Do(t, s.Close())
}

// entriesTo returns entries 0 to n-1.
func entriesTo(n int) (out []pageindex.Entry) {
	for i := range n {
		out = append(out, nth(i))
	}
	return out
}

// If builds are given up one after another, as happens while a store misses comments, they leave
// neither files nor memory behind: each is removed with the next.
func TestBuildsThatAreGivenUp(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	s := must.Get(openIn(t.Context(), folder, quiet))(t)
	var builds []pageindex.Build
	for range 3 {
		b := must.Get(s.Build(t.Context()))(t)
		must.Do(t, b.Add(t.Context(), entriesTo(5*quiet.run/2)))
		builds = append(builds, b)
	}
	scratch := func() int {
		return len(must.Get(os.ReadDir(filepath.Join(folder, scratchFolder)))(t))
	}
	if n := scratch(); n != 1 {
		t.Errorf("%d builds have files", n)
	}
	for name, err := range map[string]error{"add": builds[0].Add(t.Context(), entriesTo(100)), "finish": builds[1].Finish(t.Context(), "early")} {
		if comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s of an earlier build: %v", name, err)
		}
	}
	must.Do(t, builds[2].Finish(t.Context(), "built"))
	check(t, s, 5*quiet.run/2)
	if n := scratch(); n != 0 || s.build.sorter.items != nil {
		t.Errorf("%d builds have files, and %d items are in memory, after the last build", n, len(s.build.sorter.items))
	}
	must.Do(t, s.Close())
}

// A store that waits for a merge says why, even when no merge has failed: another process holds the
// lease.
func TestChangesThatWaitForAMerge(t *testing.T) {
	set := quiet
	set.most = 2
	s := must.Get(openIn(t.Context(), filepath.Join(t.TempDir(), "pages"), set))(t)
	defer s.Close()
	must.Do(t, s.Apply(t.Context(), entriesTo(2)))
	for _, failed := range []error{nil, errors.New("no room")} {
		s.core.failed = failed // nothing merges
		err := errors.Unwrap(s.Apply(t.Context(), []pageindex.Entry{nth(2)}))
		if err == nil || strings.Contains(err.Error(), "%!") || failed != nil && !errors.Is(err, failed) {
			t.Errorf("after a merge that ended with %v: %v", failed, err)
		}
	}
}
