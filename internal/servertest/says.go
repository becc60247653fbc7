package servertest

import (
	"bufio"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Says starts a process, and waits until a line of one of its outputs, process.StdoutPipe or
// process.StderrPipe, matches a pattern. It returns the match and its groups. From then on the
// output is thrown away. The process is killed when the test ends.
func Says(tb testing.TB, process *exec.Cmd, output func() (io.ReadCloser, error), pattern *regexp.Regexp) (match []string) {
	tb.Helper()
	out, err := output()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	tb.Cleanup(func() {
		_ = process.Process.Kill() // it may have ended
		<-ended
	})
	var said strings.Builder
	lines := bufio.NewScanner(out)
	for match == nil && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		match = pattern.FindStringSubmatch(lines.Text())
	}
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, out) // otherwise it would block on writing
		_ = process.Wait()              // so that those who look at the process see that it is gone
	}()
	if match == nil {
		tb.Fatalf("%s ended, or is silent (%v), before it said %s:\n%s", process.Path, lines.Err(), pattern, &said)
	}
	return match
}
