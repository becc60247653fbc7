package command_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
)

// Tests that run processes of their own, or wait for faults, run in parallel: half of their time is
// waiting.

// patience bounds every wait for a condition in these tests. Only a failure reaches it.
const patience = 5 * time.Minute

// binaryPath is the path of the built program; TestMain removes it.
var binaryPath = filepath.Join(os.TempDir(), fmt.Sprintf("talkback-test-%d", os.Getpid()))

var built = sync.OnceValue(func() error { return provisiontest.Build("github.com/talkback/talkback", binaryPath) })

// binary builds the program once for all tests of this process, and returns its path.
func binary(t testing.TB) string {
	t.Helper()
	must.Do(t, built())
	return binaryPath
}

// onTable are the arguments of a process with a table of its own on the engine that tests share.
func onTable(t testing.TB) []string {
	return []string{"--endpoint", dynamotest.Dynoxide(t), "--create-table", "--table", dynamotest.TableName(t)}
}

// server is a running server of its own process.
type server struct {
	t       testing.TB
	process *exec.Cmd
	address string
	said    *bytes.Buffer
	ended   chan struct{}
	status  int
	output  io.Closer
}

var apiAddress = regexp.MustCompile(`API +(https?://\S+)/graphql`)

// startServer starts the program with arguments for serve and waits until it prints its address.
func startServer(t testing.TB, arguments ...string) *server {
	t.Helper()
	return startServerWith(t, nil, arguments...)
}

// startServerWith is startServer with more in the environment.
func startServerWith(t testing.TB, environment []string, arguments ...string) *server {
	t.Helper()
	program := binary(t)
	process := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--engine", dynamotest.DynoxideBinary(t)}, arguments...)...)
	process.Env = append(append(process.Environ(), "TALKBACK_DRAIN_DELAY=0s"), environment...) // the latter win
	return follow(t, process)
}

// follow starts a process that becomes, or starts, a server, and waits until the server prints its
// address. The process gets its own group, so that none of it is left behind.
func follow(t testing.TB, process *exec.Cmd) *server {
	t.Helper()
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output := must.Get(process.StderrPipe())(t)
	must.Do(t, process.Start())
	s := &server{t: t, process: process, said: &bytes.Buffer{}, ended: make(chan struct{}), output: output}
	t.Cleanup(func() {
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) // all have ended already if the test came this far
		<-s.ended
	})
	found := make(chan string, 1)
	go s.watch(output, found)
	select {
	case s.address = <-found:
	case <-s.ended:
		t.Fatalf("the server ended with status %d\n%s", s.status, s.said)
	case <-time.After(patience):
		t.Fatal("the server did not say where it answers")
	}
	return s
}

// watch reads the server's output until it ends.
func (s *server) watch(output io.Reader, found chan<- string) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fmt.Fprintln(s.said, lines.Text())
		if match := apiAddress.FindStringSubmatch(lines.Text()); match != nil {
			found <- match[1]
		}
	}
	var exit *exec.ExitError
	if err := s.process.Wait(); errors.As(err, &exit) {
		s.status = exit.ExitCode()
	}
	close(s.ended)
}

// wait waits for the end of the server and returns its exit status and its whole output.
func (s *server) wait() (status int, said string) {
	s.t.Helper()
	select {
	case <-s.ended:
		return s.status, s.said.String()
	case <-time.After(patience):
		s.t.Fatal("the server does not end")
		return 0, ""
	}
}

// stop asks the server to end, which it does without an error and without cutting a request off. It
// returns its output.
func (s *server) stop() (said string) {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	status, said := s.wait()
	if status != 0 || strings.Contains(said, "cut off") {
		s.t.Errorf("status %d\n%s", status, said)
	}
	return said
}

// unread closes the pipe that the server writes to.
func (s *server) unread() {
	s.t.Helper()
	must.Do(s.t, s.output.Close())
}

func (s *server) signal(signal os.Signal) {
	s.t.Helper()
	must.Do(s.t, s.process.Process.Signal(signal))
}

// ask posts an operation and returns the answer's text.
func (s *server) ask(query string) string {
	s.t.Helper()
	return string(s.askWith(query, "null"))
}

// askWith posts an operation with variables and returns the answer's text.
func (s *server) askWith(query, variables string) []byte {
	s.t.Helper()
	return []byte(s.post(operation(query, json.RawMessage(variables))))
}

// post posts a body and returns the answer's text.
func (s *server) post(body string) string {
	s.t.Helper()
	return post(s.t, s.address, body).body
}

// engineOf returns the process id of the engine on a data folder, from the kernel's list of
// processes.
func engineOf(t *testing.T, folder string) int {
	t.Helper()
	commandLines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(commandLines) == 0 {
		t.Skip("left out: the end of the engine's process: this system has no /proc to see it in")
	}
	for _, path := range commandLines {
		text, err := os.ReadFile(filepath.Clean(path))
		arguments := strings.Split(string(text), "\x00")
		if err == nil && strings.HasSuffix(arguments[0], "dynoxide") && strings.Contains(string(text), "\x00"+folder+"/") {
			return must.Get(strconv.Atoi(filepath.Base(filepath.Dir(path))))(t)
		}
	}
	t.Fatal("no engine runs")
	return 0
}

// newestID asks for the newest comment of the sample data.
const newestID = `{ product(id: "espresso-machine") { comments(first: 1) { nodes { id } } } }`

// checkRestarts checks that servers on the folder of one that ended show the newest comment as it
// did. However each of them ends, its engine ends too.
func checkRestarts(t *testing.T, folder, newest string) {
	t.Helper()
	for _, row := range []struct {
		signal syscall.Signal
		status int
		why    string
	}{
		{syscall.SIGINT, 0, "Ctrl-C"},
		{syscall.SIGTERM, 0, "asked to stop"},
		{syscall.SIGKILL, -1, "killed"},
	} {
		s := startServer(t, "--data", folder, "--sample-data")
		if answer := s.ask(newestID); answer != newest || !strings.Contains(answer, `"c_`) {
			t.Errorf("%s: the newest comment is %s, was %s", row.why, answer, newest)
		}
		engine := engineOf(t, folder)
		s.signal(row.signal)
		if status, said := s.wait(); status != row.status {
			t.Errorf("%s: exit status %d, want %d\n%s", row.why, status, row.status, said)
		}
		must.Wait(t, "the engine is gone", func() bool { return syscall.Kill(engine, 0) != nil })
	}
}

// A second server on the folder is refused, while an import beside the first uses its engine. The
// import finds the engine by the folder. Neither prints the engine's address, which keeps pages of
// other origins out.
func TestBesideARunningServer(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "--data", folder)
	status, _, stderr := talkback(t.Context(), "--data", folder, "--listen", "127.0.0.1:0", "--engine", dynamotest.DynoxideBinary(t))
	if status != 1 || !strings.Contains(stderr, "talkback serve (pid ") || !strings.Contains(stderr, "--data") {
		t.Errorf("a second server: status %d, %s; want one sentence that names the first", status, stderr)
	}
	status, _, stderr = talkback(t.Context(), "import", "testdata/api/kettle/data.jsonl", "--data", folder)
	if status != 0 {
		t.Fatalf("import: status %d\n%s", status, stderr)
	}
	if answer := s.ask(`{ product(id: "mug") { comments { nodes { text } } } }`); !strings.Contains(answer, "Ni plus ni moins.") {
		t.Errorf("what was imported beside the server is not there: %s", answer)
	}
	record := must.Get(os.ReadFile(filepath.Join(folder, "engine.json")))(t)
	engine := regexp.MustCompile(`[\d.]+:\d+`).FindString(string(record))
	said := s.stop()
	if !strings.Contains(said, "comments at "+folder+"\n") || engine == "" || strings.Contains(said+stderr, engine) {
		t.Errorf("the engine listens on %q; the server says\n%s\nand the import\n%s", engine, said, stderr)
	}
}

// A dead engine ends the server, with a sentence.
func TestEngineDies(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "--data", folder)
	must.Do(t, syscall.Kill(engineOf(t, folder), syscall.SIGKILL))
	status, said := s.wait()
	last := said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]
	if status != 1 || !strings.HasPrefix(last, "talkback: ") || !strings.Contains(last, "engine") {
		t.Errorf("status %d, at last it said %q", status, last)
	}
}
