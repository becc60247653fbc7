package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// checkShared compares the endpoint that a folder's engine shares, "" for none.
func checkShared(t *testing.T, when, folder, want string) {
	t.Helper()
	if endpoint, found, err := Shared(t.Context(), folder); endpoint != want || found != (want != "") || err != nil {
		t.Errorf("%s: Shared = %q, %v, %v, want %q", when, endpoint, found, err, want)
	}
}

func TestSharedLeavesAnUnusedFolderAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	checkShared(t, "in a folder that does not exist", folder, "")
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking made the folder: %v", err)
	}
}

func TestPrivateEngineIsNotShared(t *testing.T) {
	o := options(t)
	running(t, o)
	began := time.Now()
	_, found, err := Shared(t.Context(), o.Folder)
	contains(t, err, fmt.Sprintf("the data folder %s is in use by talkback import (pid %d)", o.Folder, os.Getpid()),
		"which does not share its engine", "--data")
	if time.Since(began) > sharedPatience/2 {
		t.Error("Shared waited for an engine that will never be shared")
	}
	if found {
		t.Error("an engine that is not shared is found")
	}
}

// TestOthersReadNothing starts engines on a new folder, and on one of an earlier version whose
// files all users could read. It checks all files while the engine runs, after it has written, and
// after it has ended.
func TestOthersReadNothing(t *testing.T) {
	for name, prepare := range map[string]func(folder string){
		"new": func(string) {},
		"of an earlier version": func(folder string) {
			must.Do(t, os.Mkdir(folder, 0o755))
			for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-shm"} {
				must.Do(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			prepare(o.Folder)
			e := running(t, o)
			apiOf(t, e).createTable("comments")
			files := modes(t, o.Folder)
			if len(files) < 5 {
				t.Errorf("only %d files to look at", len(files))
			}
			stop(t, e)
			maps.Copy(files, modes(t, o.Folder))
			for file, mode := range files {
				if mode.Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", file, mode)
				}
			}
			if info, err := os.Stat(o.Folder); name == "new" && (err != nil || info.Mode().Perm() != 0o700) {
				t.Errorf("the folder has mode %v (%v)", info.Mode(), err)
			}
		})
	}
}

func modes(t *testing.T, folder string) map[string]os.FileMode {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	all := map[string]os.FileMode{}
	for _, entry := range entries {
		info := must.Get(entry.Info())(t)
		all[entry.Name()] = info.Mode()
	}
	return all
}

func TestSharedWaitsForAnEngineThatStarts(t *testing.T) {
	folder := t.TempDir()
	c, err := claimFolder(t.Context(), Options{Folder: folder, Owner: "talkback serve", Shared: true})
	must.Do(t, err)
	defer c.release()
	type answer struct {
		endpoint string
		found    bool
		err      error
	}
	answers := make(chan answer)
	go func() {
		var a answer
		a.endpoint, a.found, a.err = Shared(t.Context(), folder)
		answers <- a
	}()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Shared(interrupted, folder); err != context.Canceled {
		t.Errorf("an interrupted wait: %v", err)
	}
	must.Do(t, c.announce("http://127.0.0.1:1"))
	if a := <-answers; a.endpoint != "http://127.0.0.1:1" || !a.found || a.err != nil {
		t.Errorf("Shared = %+v", a)
	}
}

// A file of another program in a folder without a lock is neither replaced nor appended to.
func TestFilesOfAnotherProgram(t *testing.T) {
	for _, name := range []string{recordFile, logFile} {
		o := options(t)
		must.Do(t, os.Mkdir(o.Folder, 0o700))
		path := filepath.Join(o.Folder, name)
		must.Do(t, os.WriteFile(path, []byte("theirs"), privateFile))
		_, err := Start(t.Context(), o)
		contains(t, err, path+" is of another program: use another folder (--data)")
		if text := must.Get(os.ReadFile(path))(t); string(text) != "theirs" {
			t.Errorf("%s has now %q", name, text)
		}
		if found := must.Get(os.ReadDir(o.Folder))(t); len(found) > 1 {
			t.Errorf("beside it are %v", found)
		}
	}
}

// TestLeftovers puts every kind of record into a folder that no process has locked.
func TestLeftovers(t *testing.T) {
	for name, content := range map[string]string{
		"of a killed process": `{"owner":"talkback serve","pid":1,"endpoint":"http://127.0.0.1:1","shared":true}`,
		"half written":        `{"owner":"talk`,
		"empty":               ``,
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.Folder = t.TempDir()
			write(t, filepath.Join(o.Folder, lockFile), "")
			write(t, filepath.Join(o.Folder, recordFile), content)
			checkShared(t, name, o.Folder, "")
			running(t, o)
		})
	}
}

func TestHolderWithoutRecord(t *testing.T) {
	o := options(t)
	c, err := claimFolder(t.Context(), o)
	must.Do(t, err)
	defer c.release()
	write(t, filepath.Join(o.Folder, recordFile), "{")
	_, err = Start(t.Context(), o)
	contains(t, err, "is in use by another process that is just starting: stop that process, run this again if it is just ending, or use another folder (--data)")
}
