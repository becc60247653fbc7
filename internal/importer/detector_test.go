package importer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// detectorOf starts a shell script in place of the program.
func detectorOf(ctx context.Context, t *testing.T, script string) *Detector {
	t.Helper()
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, languagesProgram), []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("PATH", folder)
	return must.Get(StartDetector(ctx, "de,en"))(t)
}

// An import that is interrupted while a text is being read ends, and the program is not to blame.
func TestDetectorInterrupted(t *testing.T) {
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		d := detectorOf(ctx, t, "while read -r text; do echo en; done\n")
		read := make(chan error, 1)
		go func() {
			var err error
			for err == nil {
				_, err = d.Language("hello")
			}
			read <- err
		}()
		ended := make(chan error, 1)
		cancel()
		go func() {
			_ = d.Close() // it was killed
			ended <- <-read
		}()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("it does not end")
		}
	}
}

// Ctrl-C at a terminal reaches the program, too, and may end it before the import knows. A program
// that ends by itself is named.
func TestDetectorEnds(t *testing.T) {
	for script, want := range map[string]string{
		"read -r text; echo en; read -r text; kill -INT $$\n":             "context canceled",
		"read -r text; echo en; read -r text; kill -SEGV $$\n":            "talkback-languages ended: EOF",
		"read -r text; echo en; read -r text; echo no room >&2; exit 1\n": "--detect-language: no room",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		d := detectorOf(ctx, t, script)
		if want == context.Canceled.Error() {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		if _, err := d.Language("hello"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		_ = d.Close() // it has ended
		cancel()
	}
}
