package child

import (
	"fmt"
	"net"
	"net/netip"
)

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
