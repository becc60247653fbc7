//go:build unix

package httpapi

import (
	"cmp"
	"errors"
	"io"
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
	_, err := receive(socket, make([]byte, 1), syscall.MSG_PEEK)
	return err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}

// readNow reads what has come already. It returns the error EAGAIN if that is nothing.
func readNow(socket syscall.RawConn, p []byte) (int, error) { return receive(socket, p, 0) }

// receive reads from a socket without waiting, whatever its deadline. It returns [io.EOF] at the end.
func receive(socket syscall.RawConn, p []byte, flags int) (n int, err error) {
	closed := socket.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), p, flags|syscall.MSG_DONTWAIT)
	})
	if closed == nil && err == nil && n == 0 {
		err = io.EOF
	}
	return max(n, 0), cmp.Or(closed, err)
}
