package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSharedLeavesAnUnusedFolderAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	if endpoint, found, err := Shared(t.Context(), folder); endpoint != "" || found || err != nil {
		t.Errorf("Shared = %q, %v, %v in a folder that does not exist", endpoint, found, err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking made the folder: %v", err)
	}
}

func TestSharedAfterStop(t *testing.T) {
	o := options(t)
	o.Shared = true
	e := running(t, o)
	if endpoint, found, err := Shared(t.Context(), o.Folder); endpoint != e.Endpoint() || !found || err != nil {
		t.Errorf("Shared = %q, %v, %v while the engine runs", endpoint, found, err)
	}
	stop(t, e)
	if endpoint, found, err := Shared(t.Context(), o.Folder); endpoint != "" || found || err != nil {
		t.Errorf("Shared = %q, %v, %v after the engine was stopped", endpoint, found, err)
	}
}

func TestPrivateEngineIsNotShared(t *testing.T) {
	o := options(t)
	e := running(t, o)
	began := time.Now()
	_, found, err := Shared(t.Context(), o.Folder)
	contains(t, err, "the data folder "+o.Folder+" is in use by talkback import (pid ", e.Endpoint(),
		"which does not share its engine", "--data")
	if time.Since(began) > sharedPatience/2 {
		t.Error("Shared waited for an engine that will never be shared")
	}
	var held *InUseError
	if found || !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("found %v, and the error is not an InUseError of this process: %#v", found, err)
	}
}

func TestSharedWaitsForAnEngineThatStarts(t *testing.T) {
	folder := t.TempDir()
	c, err := claimFolder(t.Context(), Options{Folder: folder, Owner: "talkback serve", Shared: true})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := c.announce("http://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; a.endpoint != "http://127.0.0.1:1" || !a.found || a.err != nil {
		t.Errorf("Shared = %+v", a)
	}
}

// TestLeftovers puts every kind of record into a folder that nobody holds.
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
			if endpoint, found, err := Shared(t.Context(), o.Folder); endpoint != "" || found || err != nil {
				t.Errorf("Shared = %q, %v, %v", endpoint, found, err)
			}
			running(t, o)
		})
	}
}

func TestHolderWithoutRecord(t *testing.T) {
	o := options(t)
	c, err := claimFolder(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.release()
	write(t, filepath.Join(o.Folder, recordFile), "{")
	_, err = Start(t.Context(), o)
	contains(t, err, "is in use by another process that is just starting: stop that process, or use another folder (--data)")
}
