package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"
)

const probeEvery = 10 * time.Millisecond

// Command is the command to run.
type Command struct {
	// Path is the program, Args its arguments without the program's name.
	Path string
	Args []string
	// Log is the file to which all output of the program is appended.
	Log string
}

// How a child is tied to us
//
// Linux can signal a child when its parent dies (Pdeathsig), but that fires when the parent's
// *thread* ends, and macOS has nothing like it. So we use one mechanism for both, and tests on one
// are valid for the other. Every child shares its process group with a watchdog: a shell that reads
// from a pipe whose only other end is ours. However we end, the kernel closes our end, the
// watchdog's read returns, and the watchdog kills the whole group. The group exists before the
// child, so the child is never untied. The group's id is not reused while the watchdog lives, so
// nothing else can be killed.
//
// The group is not that of the terminal: Ctrl-C reaches only us, and we stop the child when we are
// done with it. Windows has job objects instead: when a process ends, the kernel ends its job.
//
// Child and watchdog get few variables of our environment (child_environment.go): secrets stay with
// us.

// Child is a child process that runs or has ended. It never outlives us: not after Ctrl-C, not
// after a crash, not after kill -9.
type Child struct {
	cmd      *exec.Cmd
	watchdog *watchdog
	output   childOutput
	stopping atomic.Bool
	done     chan struct{}
	err      error // set before done is closed
}

// StartChild runs the command, until it ends by itself, Stop is called, or this process ends.
func StartChild(c Command) (*Child, error) {
	if err := shorten(c.Log); err != nil {
		return nil, err
	}
	// The child writes to the file itself, so nothing is lost when we are killed.
	file, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log file: %w", err)
	}
	defer file.Close()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log file: %w", err)
	}
	dog, err := startWatchdog()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = file, file, childEnvironment()
	cmd.SysProcAttr = dog.attributes()
	if err := cmd.Start(); err != nil {
		dog.dismiss()
		return nil, fmt.Errorf("cannot start %s: %w", c.Path, err)
	}
	if err := dog.tie(cmd.Process); err != nil {
		dog.dismiss()
		return nil, errors.Join(fmt.Errorf("cannot make %s end with this process: %w", c.Path, err), cmd.Process.Kill(), cmd.Wait())
	}
	child := &Child{cmd: cmd, watchdog: dog, output: childOutput{path: c.Log, start: end}, done: make(chan struct{})}
	go child.wait()
	return child, nil
}

// wait reaps the child and records why it ended.
func (c *Child) wait() {
	err := c.cmd.Wait()
	c.watchdog.dismiss()
	if !c.stopping.Load() {
		why := "exit status 0"
		if err != nil {
			why = err.Error()
		}
		c.err = fmt.Errorf("%s (pid %d) ended unexpectedly: %s; the end of %s: %s",
			c.cmd.Path, c.PID(), why, c.output.path, c.LastWords())
	}
	close(c.done)
}

// PID returns the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done returns a channel that is closed when the child has ended and was reaped.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns why the child ended. It is nil while the child runs, and after Stop.
func (c *Child) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// LastWords returns the last lines that the child printed, as one line.
func (c *Child) LastWords() string { return c.output.tail() }

// Stop asks the child to end, kills it if it has not ended within the grace time, and returns when
// it is gone. It may be called repeatedly, and from several goroutines.
func (c *Child) Stop(grace time.Duration) error {
	c.stopping.Store(true)
	if err := c.signal(askToStop); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(grace):
	}
	if err := c.signal((*os.Process).Kill); err != nil {
		return err
	}
	<-c.done
	return nil
}

// signal sends a signal. It is no error if the child is already gone.
func (c *Child) signal(send func(*os.Process) error) error {
	if err := send(c.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot stop %s (pid %d): %w", c.cmd.Path, c.PID(), err)
	}
	return nil
}

// Ready returns nil once the probe succeeds. If the child ends earlier, it returns an error at
// once. If the context's deadline passes, the error quotes the child's output; if it was canceled,
// the error is the context's.
func (c *Child) Ready(ctx context.Context, probe func(context.Context) bool) error {
	for {
		if probe(ctx) {
			return c.Err()
		}
		select {
		case <-c.done:
			return c.Err()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) { // by a signal: the child is not to blame
				return ctx.Err()
			}
			return fmt.Errorf("%s was not ready in time: %w; the end of %s: %s",
				c.cmd.Path, ctx.Err(), c.output.path, c.LastWords())
		case <-time.After(probeEvery):
		}
	}
}

// FindProgram returns the path of a program: the one beside this program, else the one on PATH.
func FindProgram(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// FreePort returns a port of an address of this machine on which no process listens at the moment.
// Another process may take it before the caller does, so be prepared to try another. The error is
// syscall.EADDRNOTAVAIL if the system does not have the address.
func FreePort(address netip.Addr) (uint16, error) {
	listener, err := net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
	if err != nil {
		return 0, fmt.Errorf("no free port on %s: %w", address, err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).AddrPort().Port(), nil
}
