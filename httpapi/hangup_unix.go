//go:build unix

package httpapi

import (
	"errors"
	"net"
	"syscall"
)

// socketOf returns the socket of a connection, nil if it has none that can be looked at.
func socketOf(conn net.Conn) syscall.RawConn {
	if under, ok := conn.(syscall.Conn); ok {
		if socket, err := under.SyscallConn(); err == nil {
			return socket
		}
	}
	return nil
}

// gone reports whether the client of a connection has closed it. What it has sent stays unread.
func gone(socket syscall.RawConn) bool {
	n, err := 0, error(nil)
	closed := socket.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	switch {
	case closed != nil:
		return true
	case err != nil:
		return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	}
	return n == 0
}
