//go:build unix

package roundtrip

import (
	"errors"
	"net"
	"syscall"
)

// quietOf returns a function that looks whether an idle connection is still open, and nothing came
// that no request asked for. It does not wait. A connection that is no socket is always quiet.
func quietOf(raw net.Conn) func() bool {
	always := func() bool { return true }
	socket, ok := raw.(syscall.Conn)
	if !ok {
		return always
	}
	files, err := socket.SyscallConn()
	if err != nil {
		return always
	}
	var buffer [1]byte
	var found error
	look := func(fd uintptr) bool {
		_, found = syscall.Read(int(fd), buffer[:])
		return true
	}
	return func() bool { return files.Read(look) == nil && errors.Is(found, syscall.EAGAIN) }
}
