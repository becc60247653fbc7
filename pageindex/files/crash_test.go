package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// quiet merges only when it is told to.
var quiet = settings{mergeAt: 1 << 20, mergeEvery: time.Hour, most: 1 << 20, logBytes: 1 << 20, chunk: 16, run: 8, now: time.Now}

func mustOpen(t *testing.T, folder string, set settings) *Store {
	t.Helper()
	s, err := open(t.Context(), folder, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// entry is the n-th entry of a scripted run: comment n%comments, so that later ones change earlier
// ones.
func entry(n, comments int) pageindex.Entry {
	at := comment.PositionAt(time.UnixMilli(int64(1_700_000_000_000+n%comments)), [10]byte{9: 1})
	e := pageindex.Entry{Product: "espresso/1", Position: at, Follows: stream.Position(fmt.Sprintf("run/%040d", n))}
	if n%7 != 6 {
		e.Cell = &comment.Cell{Language: "de", Rating: 1 + n%comment.MaxRating}
	}
	return e
}

// stateAfter is what the store has to hold after the first n entries: the rating of each comment.
func stateAfter(n, comments int) map[comment.Position]int {
	out := map[comment.Position]int{}
	for i := range n {
		e := entry(i, comments)
		delete(out, e.Position)
		if e.Cell != nil {
			out[e.Position] = e.Cell.Rating
		}
	}
	return out
}

// stateOf reads all that a store holds by jumps alone.
func stateOf(t *testing.T, s *Store) map[comment.Position]int {
	t.Helper()
	out := map[comment.Position]int{}
	for rating := 1; rating <= comment.MaxRating; rating++ {
		list := pageindex.List{Product: "espresso/1", Filter: comment.Filter{Ratings: []int{rating}}, Order: comment.OldestFirst}
		found, err := s.Find(t.Context(), list, nil)
		if err != nil {
			t.Fatal(err)
		}
		var targets []pageindex.Target
		for rank := range found.Counts.Total() {
			targets = append(targets, pageindex.Target{Rank: rank + 1, Exact: true})
		}
		if found, err = s.Find(t.Context(), list, targets); err != nil {
			t.Fatal(err)
		}
		for _, b := range found.Boundaries {
			out[*b.After] = rating
		}
	}
	return out
}

func same(a, b map[comment.Position]int) bool {
	if len(a) != len(b) {
		return false
	}
	for position, rating := range a {
		if b[position] != rating {
			return false
		}
	}
	return true
}

// The log is cut at every byte, as a crash may leave it. What was acknowledged by then is there, and
// at most the change that was being written besides.
func TestLogCutAtEveryByte(t *testing.T) {
	const comments, changes = 4, 6
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	var acknowledged []int64 // lengths of the log
	for n := range changes {
		if err := s.Apply(t.Context(), []pageindex.Entry{entry(n, comments)}); err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, s.core.log.length)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(folder, logFolder, logName(1))
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		for _, tail := range [][]byte{nil, make([]byte, 40)} { // zeros, where only the length had got to the disk
			if err := os.WriteFile(log, append(slices.Clone(whole[:cut]), tail...), private); err != nil {
				t.Fatal(err)
			}
			n := 0
			for n < changes && acknowledged[n] <= int64(cut) {
				n++
			}
			s, err := open(t.Context(), folder, quiet)
			if err != nil {
				t.Fatal(err)
			}
			if tail != nil && s.core.damage != nil && int64(cut) != at(acknowledged, n-1) {
				_ = s.Close() // half a frame and zeros: not told from damage, and not served
				continue
			}
			if got := stateOf(t, s); !same(got, stateAfter(n, comments)) {
				t.Fatalf("cut at byte %d of %d: %d comments, want those of %d changes", cut, len(whole), len(got), n)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func at(lengths []int64, n int) int64 {
	if n < 0 {
		return 0
	}
	return lengths[n]
}

// Each byte of each file is changed in turn. Nothing wrong is answered; the error says what to do,
// the store covers nothing any more, and a build makes it whole.
func TestFlippedBytes(t *testing.T) {
	const comments, changes = 30, 80
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	fill := func(from, to int) {
		for n := from; n < to; n++ {
			if err := s.Apply(t.Context(), []pageindex.Entry{entry(n, comments)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(0, 60)
	b, err := s.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fill(0, 60)
	if err := b.Finish(t.Context(), "complete"); err != nil {
		t.Fatal(err)
	}
	fill(60, changes)
	want := stateAfter(changes, comments)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for _, path := range allFiles(t, folder) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(data); i += 1 + len(data)/150 {
			flipped := slices.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			if err := os.WriteFile(path, flipped, private); err != nil {
				t.Fatal(err)
			}
			if checkDamaged(t, folder, want) {
				noticed++
			}
		}
		if err := os.WriteFile(path, data, private); err != nil {
			t.Fatal(err)
		}
	}
	if noticed < 100 {
		t.Errorf("only %d changed bytes were noticed", noticed)
	}

	if err := os.WriteFile(filepath.Join(folder, rootFile), []byte("nonsense"), private); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, folder, quiet)
	fill(0, 5) // what is applied to a damaged store is kept for the build
	if b, err = s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(5, changes)
	if err := b.Add(t.Context(), []pageindex.Entry{entry(0, comments)}); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	if covers, err := s.Covers(t.Context()); err != nil || covers != "again" || !same(stateOf(t, s), stateAfter(changes, comments)) {
		t.Errorf("after the build the store covers %q (%v)", covers, err)
	}
}

// checkDamaged opens a folder and reports whether the damage was noticed. If it was not, because the
// byte is not needed for an answer, all answers are right.
func checkDamaged(t *testing.T, folder string, want map[comment.Position]int) bool {
	t.Helper()
	s, err := open(t.Context(), folder, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list := pageindex.List{Product: "espresso/1", Order: comment.NewestFirst}
	var targets []pageindex.Target
	for rank := range len(want) {
		targets = append(targets, pageindex.Target{Rank: rank, Exact: true})
	}
	found, err := s.Find(t.Context(), list, targets)
	if err == nil {
		if found.Counts.Total() != len(want) || !same(stateOf(t, s), want) {
			t.Fatal("a changed byte was served")
		}
		return false
	}
	if comment.KindOf(err) != comment.Unavailable {
		t.Fatalf("%v, want it to be unavailable", err)
	}
	if covers, err := s.Covers(t.Context()); err != nil || covers != "" {
		t.Fatalf("a damaged store covers %q (%v)", covers, err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A merge ends after each of its steps in turn: what is in the folder then is opened, and has all.
func TestMergeEndsAnywhere(t *testing.T) {
	const comments, changes = 40, 100
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	var steps []string
	keep := func() {
		step := filepath.Join(t.TempDir(), "step")
		if err := os.CopyFS(step, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	for n := range changes {
		if err := s.Apply(t.Context(), []pageindex.Entry{entry(n, comments)}); err != nil {
			t.Fatal(err)
		}
		if n == 60 {
			if err := s.core.merge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The steps of core.merge, one by one.
	state, through, err := s.core.endLog()
	if err != nil {
		t.Fatal(err)
	}
	keep()
	merger := s.core.merger()
	merger.Writer = writer(func(name string, data []byte) error {
		// Half a file, then the whole.
		path := filepath.Join(folder, chunkFolder, name)
		if err := os.WriteFile(path, data[:len(data)/2], private); err != nil {
			return err
		}
		keep()
		if err := os.Remove(path); err != nil {
			return err
		}
		defer keep()
		return writeFile(path, data)
	})
	root := *state.Root()
	if root.Chunks, err = merger.Merge(t.Context(), &root, state.Pending(through)); err != nil {
		t.Fatal(err)
	}
	root.Merged = through
	if err := os.WriteFile(filepath.Join(folder, rootFile+".new"), []byte("TBPROOT1 half a root"), private); err != nil {
		t.Fatal(err)
	}
	keep()
	if _, err := s.core.folder.setRoot(&root); err != nil {
		t.Fatal(err)
	}
	keep()
	want := stateAfter(changes, comments)
	for i, step := range steps {
		opened := mustOpen(t, step, quiet)
		if got := stateOf(t, opened); !same(got, want) {
			t.Errorf("step %d of %d: %d comments, want %d", i+1, len(steps), len(got), len(want))
		}
		if left := len(allFiles(t, filepath.Join(step, chunkFolder))); left > 2*len(opened.core.state.Root().Chunks) {
			t.Errorf("step %d of %d leaves %d files for %d chunks", i+1, len(steps), left, len(opened.core.state.Root().Chunks))
		}
	}
}

// Changes are merged once they are many, and after an interval.
func TestMergesByItself(t *testing.T) {
	for _, set := range []func(*settings){
		func(set *settings) { set.mergeAt = 3 },
		func(set *settings) { set.mergeEvery = time.Millisecond },
	} {
		own := quiet
		set(&own)
		s := mustOpen(t, t.TempDir(), own)
		for n := range 3 {
			if err := s.Apply(t.Context(), []pageindex.Entry{entry(n, 10)}); err != nil {
				t.Fatal(err)
			}
		}
		for state, _ := s.core.current(); state.Len() > 0; {
			time.Sleep(time.Millisecond) // the test's own timeout ends this
		}
		if got := stateOf(t, s); !same(got, stateAfter(3, 10)) || len(s.core.state.Root().Chunks) != 1 {
			t.Errorf("after the merge there are %d comments in %d chunks, want 3 in 1", len(got), len(s.core.state.Root().Chunks))
		}
	}
}

// A second process cannot open the folder, and is told what to do.
func TestOneProcess(t *testing.T) {
	folder := t.TempDir()
	mustOpen(t, folder, quiet)
	_, err := open(t.Context(), folder, quiet)
	if comment.KindOf(err) != comment.Unavailable {
		t.Errorf("%v, want it to be unavailable", err)
	}
}

// A folder with files of someone else is left alone.
func TestOtherFiles(t *testing.T) {
	folder := t.TempDir()
	mine := filepath.Join(folder, buildFolder, "main.c")
	if err := errors.Join(os.Mkdir(filepath.Dir(mine), privateFolder), os.WriteFile(mine, []byte("int main;"), private)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context(), folder, quiet); comment.KindOf(err) != comment.BadInput {
		t.Errorf("%v, want it to be refused", err)
	}
	if found := allFiles(t, folder); !slices.Equal(found, []string{mine}) {
		t.Errorf("in the folder there are %q", found)
	}
}

// A folder that is emptied under a running store is noticed, and is an empty store from then on.
func TestEmptied(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	for _, covers := range []string{"first", "second"} {
		b, err := s.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(t.Context(), []pageindex.Entry{entry(0, 10), entry(1, 10)}); err != nil {
			t.Fatal(err)
		}
		if err := b.Finish(t.Context(), covers); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(t.Context(), []pageindex.Entry{entry(2, 10)}); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, s); len(got) != 3 {
			t.Errorf("%d comments, want 3", len(got))
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Covers(t.Context()); err != nil || got != "" {
			t.Errorf("an emptied store covers %q (%v)", got, err)
		}
		if got := stateOf(t, s); len(got) != 0 {
			t.Errorf("an emptied store has %d comments", len(got))
		}
	}
}

// After Remember, no guard is left, nor a comment that is gone; before, late entries change nothing.
func TestGuardsEnd(t *testing.T) {
	now := time.Now()
	set := quiet
	set.now = func() time.Time { return now }
	s := mustOpen(t, t.TempDir(), set)
	step := func(after time.Duration, entries ...pageindex.Entry) {
		t.Helper()
		now = now.Add(after)
		if err := errors.Join(s.Apply(t.Context(), entries), s.core.merge(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	guards := func() (n int) {
		for _, c := range s.core.state.Root().Chunks {
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

// writer is a chunks.Writer made of a function, which it calls in turn.
type writer func(name string, data []byte) error

var writing sync.Mutex

// Write implements chunks.Writer.
func (w writer) Write(_ context.Context, name string, data []byte) error {
	writing.Lock()
	defer writing.Unlock()
	return w(name, data)
}
