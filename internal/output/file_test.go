package output_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/output"
)

func write(t *testing.T, name string, force bool, text string) *output.File {
	t.Helper()
	file := must.Get(output.Open(t.Context(), name, force, nil))(t)
	must.Get(io.WriteString(file, text))(t)
	return file
}

// contents maps the names in a folder to what is in them.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	out := map[string]string{}
	for _, entry := range entries {
		raw := must.Get(os.ReadFile(filepath.Join(folder, entry.Name())))(t)
		out[entry.Name()] = string(raw)
	}
	return out
}

// A file appears under its name with Keep, in full, and its part goes with Drop.
func TestFileIsThereInFullOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "out")
	file := write(t, name, false, "new")
	if got := contents(t, folder); got["out"] != "" || len(got) != 1 {
		t.Errorf("before Keep there is %v", got)
	}
	must.Do(t, file.Keep(t.Context()))
	if err := file.Drop(); err != nil { // which comes after Keep in a deferred call
		t.Fatal(err)
	}
	if got := contents(t, folder); len(got) != 1 || got["out"] != "new" {
		t.Errorf("after Keep there is %v", got)
	}
	if mode := must.Get(os.Stat(name))(t).Mode(); mode != 0o600 {
		t.Errorf("others can read it: %v", mode)
	}
	dropped := write(t, name, true, "newer")
	must.Do(t, dropped.Drop())
	if err := dropped.Keep(t.Context()); err != nil { // of a writer that was left behind
		t.Fatal(err)
	}
	if got := contents(t, folder); len(got) != 1 || got["out"] != "new" {
		t.Errorf("after Drop there is %v", got)
	}
}

// A part that another program removes, such as one that cleans up, is named as the cause, once.
func TestPartIsRemoved(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "out"), false, "new")
	must.Do(t, os.Remove(file.Part()))
	err := file.Keep(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another program has removed its part meanwhile") {
		t.Error(err)
	}
	if err := file.Drop(); err != nil {
		t.Error(err)
	}
}

// Nothing is kept once the context has ended.
func TestKeepAfterTheEnd(t *testing.T) {
	folder := t.TempDir()
	file := write(t, filepath.Join(folder, "out"), false, "new")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := file.Keep(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := file.Remains(); !strings.HasSuffix(got, "was not written") {
		t.Error(got)
	}
	if err := file.Drop(); err != nil || len(contents(t, folder)) > 0 {
		t.Error(err, contents(t, folder))
	}
}

// A file that exists is replaced only by force, also one that is created while another is being
// written.
func TestExistingFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "out")
	late := write(t, name, false, "late")
	must.Do(t, os.WriteFile(name, []byte("old"), 0o600))
	var exists *output.ExistsError
	if err := output.Check(name, false); !errors.As(err, &exists) {
		t.Error(err)
	}
	if _, err := output.Open(t.Context(), name, false, nil); !errors.As(err, &exists) {
		t.Error(err)
	}
	var failed *output.Error
	if err := late.Keep(t.Context()); !errors.As(err, &failed) {
		t.Error(err)
	}
	if err := late.Drop(); err != nil {
		t.Error(err)
	}
	if err := write(t, name, true, "forced").Keep(t.Context()); err != nil {
		t.Error(err)
	}
	if got := contents(t, folder); len(got) != 1 || got["out"] != "forced" {
		t.Errorf("there is %v", got)
	}
	// A feed that a web server may read stays readable.
	must.Do(t, errors.Join(os.Chmod(name, 0o644), write(t, name, true, "again").Keep(t.Context())))
	if mode := must.Get(os.Stat(name))(t).Mode(); mode != 0o644 {
		t.Errorf("it had 0644, and has %v", mode)
	}
}

// A symbolic link stays one: its target is replaced. One that leads nowhere is replaced itself, by
// force only.
func TestLink(t *testing.T) {
	folder, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	name := filepath.Join(folder, "out")
	must.Do(t, errors.Join(os.WriteFile(name, []byte("old"), 0o600), os.Symlink(name, link)))
	must.Do(t, write(t, link, true, "new").Keep(t.Context()))
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || contents(t, folder)["out"] != "new" {
		t.Error(info, err, contents(t, folder))
	}
	nowhere := filepath.Join(folder, "nowhere")
	must.Do(t, os.Symlink(filepath.Join(folder, "absent"), nowhere))
	var exists *output.ExistsError
	if _, err := output.Open(t.Context(), nowhere, false, nil); !errors.As(err, &exists) {
		t.Error(err)
	}
	must.Do(t, write(t, nowhere, true, "newer").Keep(t.Context()))
	if got := contents(t, folder); len(got) != 2 || got["nowhere"] != "newer" {
		t.Errorf("there is %v", got)
	}
}

// What cannot be written is an error that names the file and the cure.
func TestErrors(t *testing.T) {
	folder := t.TempDir()
	if _, err := output.Open(t.Context(), folder, true, nil); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	_, err := output.Open(t.Context(), filepath.Join(folder, "missing", "out"), false, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "cannot be written (no such file or directory): make its folder, or name another file") {
		t.Error(err)
	}
	reader, writer := io.Pipe()
	_ = reader.Close()
	standard := must.Get(output.Open(t.Context(), output.Standard, false, writer))(t)
	if _, err := standard.Write([]byte("x")); err == nil || err.Error() != "the reader of standard output closed it: the output is incomplete" {
		t.Error(err)
	}
	if standard.Part() != "" || standard.Drop() != nil {
		t.Error("standard output has no part")
	}
}
