package objects

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// Whichever file a process has no descriptor for, later entries are accepted, and nothing is lost.
func TestWithoutDescriptors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	s, err := OpenFolder(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenFolder(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	check(t, s, n)
	must.Do(t, s.Close())
}
