package objects

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// The environment of a child process that writes: the folder, and the number of its first change.
const (
	childFolder = "TALKBACK_TEST_OBJECTS_CHILD"
	childFirst  = "TALKBACK_TEST_OBJECTS_FIRST"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(childFolder); folder != "" {
		first, _ := strconv.Atoi(os.Getenv(childFirst))
		fmt.Fprintln(os.Stderr, write(context.Background(), folder, first))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const killComments = 150

// write applies changes, merges and builds until it is killed, and prints the number of each
// acknowledged change.
func write(ctx context.Context, folder string, first int) error {
	set := small
	set.mergeEvery, set.lease, set.collectEvery, set.logGrace, set.chunkGrace = time.Millisecond, 0, 0, 0, 0
	s, err := openIn(ctx, folder, set)
	if err != nil {
		return err
	}
	for n := first; ; n++ {
		if n%40 == 39 {
			if err := rebuild(ctx, s, n); err != nil {
				return err
			}
		}
		if err := s.Apply(ctx, []pageindex.Entry{entry(n, killComments)}); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// rebuild builds a store anew from the first n changes.
func rebuild(ctx context.Context, s *Store, n int) error {
	b, err := s.Build(ctx)
	if err != nil {
		return err
	}
	for i := max(0, n-2*killComments); i < n; i++ {
		if err := b.Add(ctx, []pageindex.Entry{entry(i, killComments)}); err != nil {
			return err
		}
	}
	return b.Finish(ctx, "built")
}

// A process is killed 40 times while it writes. The store has every change that it acknowledged,
// and at most the one change under way besides.
func TestKilled(t *testing.T) {
	folder, next, r := t.TempDir(), 0, commenttest.Rand(t)
	for kill := range 40 {
		next = writeAndKill(t, folder, next, 1+r.IntN(60), time.Duration(r.IntN(3000))*time.Microsecond)
		s := must.Get(openIn(t.Context(), folder, quiet))(t)
		got := stateOf(t, s)
		if !maps.Equal(got, stateAfter(next, killComments)) && !maps.Equal(got, stateAfter(next+1, killComments)) {
			t.Fatalf("kill %d: %d comments, want those of %d changes or of one more", kill+1, len(got), next)
		}
		must.Do(t, s.Close())
	}
}

// writeAndKill starts a child that writes some changes from a number on, and kills it a moment
// later. It returns the total number of acknowledged changes.
func writeAndKill(t *testing.T, folder string, first, changes int, later time.Duration) int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+folder, childFirst+"="+strconv.Itoa(first))
	child.Stderr = os.Stderr
	out := must.Get(child.StdoutPipe())(t)
	must.Do(t, child.Start())
	acknowledged := first
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil || n != acknowledged {
			t.Fatalf("the child printed %q, want %d", lines.Text(), acknowledged)
		}
		if acknowledged++; acknowledged == first+changes {
			time.AfterFunc(later, func() { _ = child.Process.Kill() })
		}
	}
	if acknowledged < first+changes {
		t.Fatalf("the child ended by itself after %d changes: %v", acknowledged-first, lines.Err())
	}
	_ = child.Wait() // it was killed
	return acknowledged
}
