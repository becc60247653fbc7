package safety

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/workload"
)

// disk is a small one in memory, with a data folder on it.
type disk struct {
	t      *testing.T
	folder string
}

// mount makes a disk of 24 MB, which takes root.
func mount(t *testing.T) disk {
	t.Helper()
	d := disk{t, t.TempDir()}
	if err := syscall.Mount("tmpfs", d.folder, "tmpfs", 0, "size=24m"); err != nil {
		provisiontest.LeaveOut(t, errors.Join(errors.New("a disk that is full: only root can make one"), err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d disk) data() string   { return filepath.Join(d.folder, "data") }
func (d disk) filler() string { return filepath.Join(d.folder, "filler") }

// fill leaves room bytes free.
func (d disk) fill(room int64) {
	d.t.Helper()
	d.clear()
	var free syscall.Statfs_t
	must.Do(d.t, syscall.Statfs(d.folder, &free))
	file := must.Get(os.Create(d.filler()))(d.t)
	defer file.Close()
	if _, err := io.CopyN(file, zeros{}, max(0, int64(free.Bavail)*free.Bsize-room)); err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
}

// clear makes room.
func (d disk) clear() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
}

type zeros struct{}

// Read fills with zeros.
func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// remount sets whether the disk can be written.
func (d disk) remount(flags uintptr) {
	d.t.Helper()
	must.Do(d.t, syscall.Mount("tmpfs", d.folder, "tmpfs", syscall.MS_REMOUNT|flags, "size=24m"))
}

// A full disk is said in a sentence that names the cure, while the server runs and when it starts.
// Nothing is damaged or half written, what was written can be read, and all works again once there
// is room. So with a disk that cannot be written at all.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	d := mount(t)
	s := &site{t: t, log: &commenttest.Transcript{}}
	address, stop := s.start("--data", d.data(), "--engine", dynamotest.DynoxideBinary(t))
	load := workload.New(address, commenttest.Rand(t).Uint64N(1e6))
	load.Rest = 5 * time.Millisecond
	run(t, load, 300*time.Millisecond)
	d.fill(0)
	const said = "the disk of the table is full, and nothing can be written: make room there"
	t.Run("while it runs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		go func() {
			for !strings.Contains(s.log.String(), said) && ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond)
			}
			d.clear() // or the writers could not end: they repeat what failed
			cancel()
		}()
		must.Do(t, load.Run(ctx))
		if !strings.Contains(s.log.String(), said) {
			t.Errorf("the log does not say %q:\n%s", said, s.log)
		}
	})
	audit(t, load)
	d.fill(0)
	stop()
	for _, room := range []int64{0, 4 << 10, 8 << 10, 16 << 10, 40 << 10, 100 << 10} {
		d.fill(room)
		d.startsOr(room, "make room on its disk")
	}
	d.clear()
	d.remount(syscall.MS_RDONLY)
	d.startsOr(0, "make it writable")
	d.remount(0)
	load.URL, stop = s.start("--data", d.data(), "--engine", dynamotest.DynoxideBinary(t))
	run(t, load, 100*time.Millisecond)
	audit(t, load)
	stop()
}

// run uses a server for a while.
func run(t *testing.T, load *workload.Workload, length time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	must.Do(t, load.Run(ctx))
}

// audit recounts everything.
func audit(t *testing.T, load *workload.Workload) {
	t.Helper()
	patient, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must.Do(t, load.Audit(patient))
}

// startsOr starts the server. If it does not start, it says so in one line, which has the cure.
func (d disk) startsOr(room int64, cure string) {
	d.t.Helper()
	var said commenttest.Transcript
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	go func() { // a server that starts is stopped
		for ctx.Err() == nil && !strings.Contains(said.String(), "Talkback answers") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	status := talkback(ctx, &said, &said, "serve", "--listen", "127.0.0.1:0", "--data", d.data(), "--engine", dynamotest.DynoxideBinary(d.t))
	text := strings.TrimSpace(said.String())
	started := strings.Contains(text, "Talkback answers")
	if started != (status == 0) || !started && (strings.Count(text, "\n") > 0 || !strings.Contains(text, cure)) {
		d.t.Errorf("with room for %d bytes: status %d, and not one line with %q:\n%s", room, status, cure, text)
	}
}
