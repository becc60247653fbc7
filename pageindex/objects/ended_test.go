package objects

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

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
		entries := must.Get(os.ReadDir(filepath.Join(folder, scratchFolder)))(t)
		return len(entries)
	}
	if n := scratch(); n != 1 || len(s.builds) != 1 {
		t.Errorf("%d builds have files, and %d are remembered", n, len(s.builds))
	}
	for name, err := range map[string]error{"add": builds[0].Add(t.Context(), entriesTo(100)), "finish": builds[1].Finish(t.Context(), "early")} {
		if comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s of an earlier build: %v", name, err)
		}
	}
	must.Do(t, builds[2].Finish(t.Context(), "built"))
	check(t, s, 5*quiet.run/2)
	if n := scratch(); n != 0 || s.builds[0].sorter.items != nil {
		t.Errorf("%d builds have files, and %d items are in memory, after the last build", n, len(s.builds[0].sorter.items))
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
