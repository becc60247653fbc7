package files

import (
	"testing"
	"time"

	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// small makes everything happen early: chunks of a few comments, merges after a few changes, sorted
// files of a few entries.
var small = settings{mergeAt: 40, mergeEvery: 20 * time.Millisecond, most: 1 << 20, logBytes: 1 << 12, chunk: 64, run: 50, now: time.Now}

func place(t *testing.T, set settings) conformance.Place {
	folder := t.TempDir()
	var store *Store
	return conformance.Place{
		Open: func(t *testing.T) conformance.Store {
			var err error
			if store, err = open(t.Context(), folder, set); err != nil {
				t.Fatal(err)
			}
			return store
		},
		Held: func(t *testing.T, product string) []string { return held(t, store, product) },
	}
}

// held lists what a folder holds of a product but guards.
func held(t *testing.T, s *Store, product string) (out []string) {
	t.Helper()
	s.core.merging.Lock()
	defer s.core.merging.Unlock()
	state, _ := s.core.current()
	for _, c := range state.Root().Chunks {
		if c.Records.Count == 0 {
			continue
		}
		data, err := s.core.folder.Read(t.Context(), c.FileName(pagefile.Records), 0, c.Records.Head)
		if err != nil {
			t.Fatal(err)
		}
		head, err := c.Records.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := head.Find(product); found {
			out = append(out, c.FileName(pagefile.Records))
		}
	}
	return out
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Place { return place(t, small) })
}

func TestConformanceOfChangesNotMerged(t *testing.T) {
	set := defaults
	set.now = time.Now
	conformance.Run(t, func(t *testing.T) conformance.Place {
		p := place(t, set)
		p.Held = nil // they are in the log until a merge
		return p
	})
}
