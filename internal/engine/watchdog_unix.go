//go:build unix

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// watch waits for the end of its standard input, then kills its process group, including itself. It
// does not ask first: the process that would wait for an answer is gone.
const watch = `read -r line; kill -KILL 0`

// watchdog is the shell that ties a child to us, as the package comment explains.
type watchdog struct {
	cmd  *exec.Cmd
	hold *os.File // our end of the pipe
}

// startWatchdog starts a watchdog in its own process group.
func startWatchdog() (*watchdog, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make the watchdog's pipe: %w", err)
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", watch)
	cmd.Stdin, cmd.Env = theirs, childEnvironment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("cannot start the watchdog that stops the engine after us: %w", err)
	}
	return &watchdog{cmd: cmd, hold: ours}, nil
}

// group returns the process group that the watchdog kills.
func (w *watchdog) group() int { return w.cmd.Process.Pid }

// attributes returns the attributes that start a child in the watchdog's group.
func (w *watchdog) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: w.group()}
}

// tie does nothing: attributes already tie the child.
func (w *watchdog) tie(*os.Process) error { return nil }

// dismiss ends the watchdog, and whatever is left in its group.
func (w *watchdog) dismiss() {
	w.hold.Close()
	_ = w.cmd.Wait() // it kills itself, so an error is expected
}

func askToStop(child *os.Process) error { return child.Signal(syscall.SIGTERM) }
