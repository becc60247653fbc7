package objects

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

func mustOpen(t *testing.T, folder string, set settings) *Store {
	t.Helper()
	set.lease, set.collectEvery, set.logGrace, set.chunkGrace = 0, 0, 0, 0
	s := must.Get(openIn(t.Context(), folder, set))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformanceOfFolders(t *testing.T) {
	set := small
	set.lease, set.collectEvery, set.logGrace, set.chunkGrace = 0, 0, 0, 0
	conformance.Run(t, func(t *testing.T) conformance.Place { return inFolder(t, set) })
}

func TestConformanceOfChangesNotMerged(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Place {
		p := inFolder(t, folderSettings)
		p.Held = nil // entries are in the log until a merge
		return p
	})
}

func inFolder(t *testing.T, set settings) conformance.Place {
	folder := t.TempDir()
	var store *Store
	return conformance.Place{
		Open: func(t *testing.T) pageindex.Store {
			store = must.Get(openIn(t.Context(), folder, set))(t)
			return store
		},
		Held: func(t *testing.T, product string) []string { return objectsOf(t, store, product) },
	}
}

// The working folder of a process may be deleted.
func TestWorkingFolderIsGone(t *testing.T) {
	gone := t.TempDir()
	t.Chdir(gone)
	must.Do(t, os.Remove(gone))
	store, err := OpenFolder(t.Context(), "pages")
	if err == nil {
		t.Fatal(errors.Join(errors.New("it was opened"), store.Close()))
	}
	if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "files:pages") {
		t.Error(err)
	}
}
