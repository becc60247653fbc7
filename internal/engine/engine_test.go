package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// patience limits every wait for a condition. It is long, since only a failing test uses it up.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if folder := os.Getenv("ENGINE_TEST_FOLDER"); folder != "" {
		ownEngine(folder)
	}
	goleak.VerifyTestMain(m)
}

// ownEngine makes the test binary act as a command that runs an engine until it is killed.
func ownEngine(folder string) {
	e, err := Start(context.Background(), Options{
		Folder: folder, Binary: os.Getenv("ENGINE_TEST_BINARY"), Owner: "talkback serve", Shared: true,
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.child.PID(), e.Endpoint())
	select {}
}

// options returns options for a private engine in a new folder, whose name would need care in an
// address.
func options(t testing.TB) Options {
	return Options{Folder: filepath.Join(t.TempDir(), "50% off? #1"), Binary: provisiontest.DynoxideBinary(t), Owner: "talkback import"}
}

// running starts an engine that is stopped after the test.
func running(t testing.TB, o Options) *Engine {
	t.Helper()
	e := must.Get(Start(t.Context(), o))(t)
	t.Cleanup(func() { stop(t, e) })
	return e
}

func stop(t testing.TB, e *Engine) {
	t.Helper()
	must.Do(t, e.Stop())
}

func ended(t *testing.T, e *Engine) {
	t.Helper()
	select {
	case <-e.Done():
	case <-time.After(patience):
		t.Fatal("the end of the engine went unnoticed")
	}
}

// alive reports whether a process runs. A process that has ended but was not reaped by its new
// parent does not count, which only Linux shows without another program.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// contains fails the test unless the error contains the texts.
func contains(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", wants)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has more than one line:\n%v", err)
	}
}

// script writes a program that acts as the engine.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dynoxide")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

func TestDataOutlivesTheEngine(t *testing.T) {
	o := options(t)
	o.Shared = true
	first := running(t, o)
	a := apiOf(t, first)
	a.createTable("comments")
	a.write("comments", 0, 25)
	checkShared(t, "while the engine runs", o.Folder, first.Endpoint())
	stop(t, first)
	ended(t, first)
	if err := first.Err(); err != nil {
		t.Errorf("after Stop the engine reports %v", err)
	}
	stop(t, first) // a second Stop changes nothing
	checkShared(t, "after the engine was stopped", o.Folder, "")

	second := running(t, o)
	if n := len(apiOf(t, second).records("comments")); n != 25 {
		t.Errorf("%d records after a restart, want 25", n)
	}
}

// TestCtrlCAndSecretsStayWithUs looks into the processes themselves: the engine and its watchdog,
// which leads its group.
func TestCtrlCAndSecretsStayWithUs(t *testing.T) {
	for _, name := range []string{"TALKBACK_MODERATOR_TOKEN", "TALKBACK_JWT_KEY", "AWS_SECRET_ACCESS_KEY", "SOME_OTHER_SECRET"} {
		t.Setenv(name, "hidden")
	}
	t.Setenv("TMPDIR", t.TempDir())
	e := running(t, options(t))
	group := must.Get(syscall.Getpgid(e.child.PID()))(t)
	if group == syscall.Getpgrp() {
		t.Error("the engine is in our process group, so that Ctrl-C in a terminal would end it before we are done")
	}
	if runtime.GOOS != "linux" {
		t.Skip("left out: only Linux shows a process's environment as a file")
	}
	for name, pid := range map[string]int{"the engine": e.child.PID(), "its watchdog": group} {
		environment := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)))(t)
		if strings.Contains(string(environment), "hidden") {
			t.Errorf("%s was given secrets", name)
		}
		if !strings.Contains(string(environment), "TMPDIR="+os.Getenv("TMPDIR")) || !strings.Contains(string(environment), "PATH=") {
			t.Errorf("%s does not know where programs and temporary files are", name)
		}
	}
}

func TestEngineDiesWithUs(t *testing.T) {
	o := options(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ENGINE_TEST_FOLDER="+o.Folder, "ENGINE_TEST_BINARY="+o.Binary)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pid int
	var endpoint string
	if _, err := fmt.Sscan(line, &pid, &endpoint); err != nil || !alive(pid) {
		t.Fatalf("the other process says %q", line)
	}

	checkShared(t, "while its process runs", o.Folder, endpoint)
	_, err := Start(t.Context(), o)
	contains(t, err, "is in use by talkback serve", fmt.Sprintf("(pid %d)", cmd.Process.Pid),
		"stop that process, run this again if it is just ending, or use another folder (--data)")

	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
	must.Wait(t, "the engine is gone too", func() bool { return !alive(pid) })
	if _, err := os.Stat(filepath.Join(o.Folder, recordFile)); err != nil {
		t.Fatalf("this test wants the killed process's record to be there: %v", err)
	}
	checkShared(t, "after its process was killed", o.Folder, "")
	running(t, o)
}

func TestDeadEngineIsNoticed(t *testing.T) {
	o := options(t)
	e := running(t, o)
	if err := e.Err(); err != nil {
		t.Errorf("a running engine reports %v", err)
	}
	must.Do(t, syscall.Kill(e.child.PID(), syscall.SIGKILL))
	ended(t, e)
	contains(t, e.Err(), "ended unexpectedly", "signal: killed", "Dynoxide listening on "+e.Endpoint())
	running(t, o) // and the folder is free
}

func TestEngineThatEndsBeforeItIsReady(t *testing.T) {
	o := options(t)
	o.Binary = script(t, "echo first; echo the disk is on fire >&2; exit 3")
	_, err := Start(t.Context(), o)
	contains(t, err, "ended unexpectedly: exit status 3", "first | the disk is on fire", "; if that is not the program dynoxide, give the path of it by --engine")
}

func TestStartIsBoundedByItsContext(t *testing.T) {
	o := options(t)
	pipe := filepath.Join(t.TempDir(), "pipe") // a reader that has it open for writing, too, waits forever
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	o.Binary = script(t, "echo still thinking; exec cat >/dev/null <>"+pipe)
	start := func(ctx context.Context, end func()) error {
		o.Folder = t.TempDir()
		var watching sync.WaitGroup
		watching.Go(func() {
			defer end()
			must.Wait(t, "the engine has begun", func() bool {
				log, _ := os.ReadFile(filepath.Join(o.Folder, logFile))
				return strings.Contains(string(log), "still thinking")
			})
		})
		defer watching.Wait()
		_, err := Start(ctx, o)
		return err
	}
	late := &late{t.Context(), make(chan struct{})}
	err := start(late, func() { close(late.passed) })
	contains(t, err, "was not ready in time: context deadline exceeded", "still thinking", "; if that is not the program dynoxide, give the path of it by --engine")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the error is not the context's")
	}
	// An interrupted start is not the engine's failure.
	ctx, cancel := context.WithCancel(t.Context())
	if err := start(ctx, cancel); !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		t.Errorf("an interrupted start: %v", err)
	}
}

// late is a context whose deadline passes when a channel is closed.
type late struct {
	context.Context
	passed chan struct{}
}

// Done implements context.Context.
func (l *late) Done() <-chan struct{} { return l.passed }

// Err implements context.Context.
func (l *late) Err() error {
	select {
	case <-l.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestPortThatSomebodyElseTookIsGivenUp(t *testing.T) {
	// The server that took the port also answers, like an engine that is ready.
	taken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer taken.Close()
	addresses := []netip.AddrPort{taken.Listener.Addr().(*net.TCPAddr).AddrPort()}
	s := defaults
	s.freeAddress = func() (netip.AddrPort, error) {
		if len(addresses) == 0 {
			return freeAddress()
		}
		address := addresses[0]
		addresses = addresses[1:]
		return address, nil
	}
	e := must.Get(start(t.Context(), options(t), s))(t)
	defer stop(t, e)
	if e.Endpoint() == taken.URL || len(addresses) != 0 {
		t.Errorf("the engine claims to listen on %s, which is taken", e.Endpoint())
	}
}

func TestMissingEngineNamesTheCures(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Options{Folder: t.TempDir()})
	contains(t, err, "local engine dynoxide", "PATH", "--endpoint", "--aws")
	contains(t, missing("linux/amd64"), "neither beside this program nor on PATH", "`make run`", "--engine PATH")
	contains(t, missing("windows/amd64"), "for Linux on x64 only", "DynamoDB Local", "--endpoint http://localhost:8000", "--create-table")
	_, err = Start(t.Context(), Options{Folder: t.TempDir(), Binary: "/no/such/engine"})
	contains(t, err, "--engine /no/such/engine cannot be run (no such file or directory): give the path of the program dynoxide, or leave --engine out")
}

func TestEngineIsFoundOnPath(t *testing.T) {
	path := script(t, "exit 0")
	t.Setenv("PATH", filepath.Dir(path))
	if found, err := findBinary(""); found != path || err != nil {
		t.Errorf("found %q, %v, want %q", found, err, path)
	}
}

func TestUnusableFolder(t *testing.T) {
	o := options(t)
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	o.Folder = file
	_, err := Start(t.Context(), o)
	contains(t, err, "cannot use "+file+" as the data folder", "--data")
}

func TestDamagedData(t *testing.T) {
	damaged := []string{"is damaged, or not a database", "move it away"}
	for _, row := range []struct {
		why, content string
		wants        []string
	}{
		{"no database", "this is no database, whatever its name says", damaged},
		{"too short", "SQLite", damaged},
		{"torn", "SQLite format 3\x00" + strings.Repeat("?", 9000), []string{"ended unexpectedly: exit status 1", "not a valid SQLite database"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			o := options(t)
			o.Folder = t.TempDir()
			write(t, filepath.Join(o.Folder, databaseFile), row.content)
			_, err := Start(t.Context(), o)
			contains(t, err, row.wants...)
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
}
