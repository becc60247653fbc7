package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// shellChild starts a shell command and waits until it has printed "ready".
func shellChild(t *testing.T, log, text string) *Child {
	t.Helper()
	c := must.Get(StartChild(Command{Path: "/bin/sh", Args: []string{"-c", text}, Log: log}))(t)
	t.Cleanup(func() {
		if err := c.Stop(0); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must.Do(t, c.Ready(ctx, func(context.Context) bool { return strings.Contains(c.LastWords(), "ready") }))
	return c
}

func newLog(t *testing.T) string { return filepath.Join(t.TempDir(), "log") }

func waitFor(t *testing.T, c *Child) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("the child did not end")
	}
}

// The log may hold words of an earlier run.
func TestStopAsksFirst(t *testing.T) {
	log := newLog(t)
	write(t, log, "words of an earlier run\n")
	c := shellChild(t, log, `trap 'echo asked; exit 0' TERM; echo ready; while :; do :; done`)
	must.Do(t, c.Stop(patience))
	if words := c.LastWords(); words != "ready | asked" {
		t.Errorf("the child's last words are %q: it was not asked to end", words)
	}
	if err := c.Err(); err != nil {
		t.Errorf("an end that was asked for is reported as %v", err)
	}
}

func TestStopKillsTheStubborn(t *testing.T) {
	c := shellChild(t, newLog(t), `trap '' TERM; echo ready; while :; do :; done`)
	must.Do(t, c.Stop(time.Millisecond))
	waitFor(t, c)
}

func TestStopFromEverywhere(t *testing.T) {
	c := shellChild(t, newLog(t), `echo ready; while :; do :; done`)
	group := c.watchdog.group()
	if err := syscall.Kill(-group, 0); err != nil {
		t.Fatalf("no group to look at: %v", err)
	}
	var stops sync.WaitGroup
	for range 4 {
		stops.Go(func() {
			if err := c.Stop(patience); err != nil {
				t.Error(err)
			}
		})
	}
	stops.Wait()
	waitFor(t, c)
	if err := syscall.Kill(-group, 0); err == nil {
		t.Error("the child's group has members after Stop")
	}
}

// TestWatchdogKillsTheGroup lets go of the watchdog's pipe as the kernel does when we die.
func TestWatchdogKillsTheGroup(t *testing.T) {
	c := shellChild(t, newLog(t), `trap '' TERM INT HUP; echo ready; while :; do :; done`)
	must.Do(t, c.watchdog.hold.Close())
	waitFor(t, c)
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("the child ended with %v, want it killed", err)
	}
}

func TestLastWordsAreFew(t *testing.T) {
	log := newLog(t)
	for _, c := range []struct {
		content string
		start   int64
		want    string
	}{
		{content: "", want: "(nothing was printed)"},
		{content: "1\n2\n3\n4\n5\r\n6\n", want: "2 | 3 | 4 | 5 | 6"},
		{content: "1\n2\n", start: 1000, want: "1 | 2"}, // the file was emptied meanwhile
		{content: strings.Repeat("x", 2*tailBytes), want: strings.Repeat("x", tailBytes)},
	} {
		write(t, log, c.content)
		if got := (childOutput{path: log, start: c.start}).tail(); got != c.want {
			t.Errorf("of %q the last words are %q, want %q", c.content, got, c.want)
		}
	}
}

func TestLargeLogIsEmptied(t *testing.T) {
	log := newLog(t)
	write(t, log, strings.Repeat("x", largestLog+1))
	shellChild(t, log, `echo ready; while :; do :; done`)
	if text, err := os.ReadFile(log); err != nil || string(text) != "ready\n" {
		t.Errorf("the log holds %d bytes, %v", len(text), err)
	}
	write(t, log, strings.Repeat("x", largestLog))
	must.Do(t, shorten(log))
	if info, err := os.Stat(log); err != nil || info.Size() != largestLog {
		t.Errorf("a log that is not too large was touched: %v, %v", info, err)
	}
}

func TestUnwritableLogAndMissingProgram(t *testing.T) {
	_, err := StartChild(Command{Path: "/bin/sh", Log: filepath.Join(t.TempDir(), "no", "log")})
	if err == nil || !strings.Contains(err.Error(), "cannot write the log file") {
		t.Errorf("without a folder for the log: %v", err)
	}
	_, err = StartChild(Command{Path: "/no/such/program", Log: newLog(t)})
	if err == nil || !strings.Contains(err.Error(), "cannot start /no/such/program") {
		t.Errorf("without a program: %v", err)
	}
}
