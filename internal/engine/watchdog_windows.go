package engine

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// watchdog is the job object that ties a child to us. Its processes end when we close its handle.
type watchdog struct{ job windows.Handle }

// startWatchdog makes a job without processes.
func startWatchdog() (*watchdog, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot make the job object that stops the engine after us: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("cannot set up the job object that stops the engine after us: %w", err)
	}
	return &watchdog{job}, nil
}

// attributes returns those that start a child in its own group, which Ctrl-C does not reach.
func (w *watchdog) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// tie does nothing: attributes already tie the child.
func (w *watchdog) tie(child *os.Process) error {
	var assigned error
	err := child.WithHandle(func(handle uintptr) {
		assigned = windows.AssignProcessToJobObject(w.job, windows.Handle(handle))
	})
	if err != nil {
		return err
	}
	return assigned
}

// dismiss ends whatever is left in the job.
func (w *watchdog) dismiss() { _ = windows.CloseHandle(w.job) }

// askToStop sends Ctrl-Break to a child, or kills it if there is no console.
func askToStop(child *os.Process) error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(child.Pid)) == nil {
		return nil
	}
	return child.Kill()
}
