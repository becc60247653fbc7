package turnstile

import (
	"errors"
	"os"
	"syscall"
)

// pipe is a pipe to itself. A byte that is written to it arrives when Go looks.
type pipe struct {
	from, to *os.File
	raw      syscall.RawConn // of from
	one      [1]byte
}

func newPipe() (*pipe, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	raw, err := from.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, from.Close(), to.Close())
	}
	return &pipe{from: from, to: to, raw: raw}, nil
}

// wait implements looker. A read alone would find the byte without a look. So the byte is written
// once Go waits to be told of it, and read after that. On Windows, Go does not wait so for a pipe,
// and an error says so.
func (p *pipe) wait() error {
	var failed error
	written := false
	err := p.raw.Read(func(uintptr) (told bool) {
		if written {
			return true
		}
		written = true
		_, failed = p.to.Write(p.one[:])
		return failed != nil
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	_, err = p.from.Read(p.one[:])
	return err
}

func (p *pipe) close() error { return errors.Join(p.to.Close(), p.from.Close()) }
