//go:build !unix

package httpapi

import (
	"net"
	"syscall"
)

// socketOf returns nil: net/http itself watches the clients on this system.
func socketOf(net.Conn) syscall.RawConn { return nil }

// gone is for sockets, which socketOf never returns on this system.
func gone(syscall.RawConn) bool { return false }

// readNow is for sockets, too.
func readNow(syscall.RawConn, []byte) (int, error) { return 0, syscall.EAGAIN }
