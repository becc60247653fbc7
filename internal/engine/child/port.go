package child

import (
	"fmt"
	"net"
	"net/netip"
)

// FreePort returns a port of an address of this machine that no process listens on at this moment.
// Another process may take it before the caller does, so a caller that starts a server on it must
// be ready to try another. The error is syscall.EADDRNOTAVAIL where the system does not have the
// address.
func FreePort(address netip.Addr) (uint16, error) {
	listener, err := net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
	if err != nil {
		return 0, fmt.Errorf("no free port on %s: %w", address, err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).AddrPort().Port(), nil
}
