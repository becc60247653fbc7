package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// firstPort and lastPort bound the ports of FreePort. Systems give others to connections that go out and to
// listeners that take any: from 32768 on Linux, from 49152 elsewhere. A node of a Redis cluster also listens on
// the port that is 10,000 higher, which is then neither one of those nor one of these.
const firstPort, lastPort = 10_000, 19_999

// FreePort returns a port of an address of this machine that no process listens on at this moment. A process
// that asks for this very port may take it before the caller does. The error is syscall.EADDRNOTAVAIL where
// the system does not have the address.
func FreePort(address netip.Addr) (uint16, error) {
	var err error
	for range 20 {
		var listener net.Listener
		port := uint16(firstPort + rand.IntN(lastPort-firstPort+1))
		if listener, err = net.Listen("tcp", netip.AddrPortFrom(address, port).String()); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no free port on %s: %w", address, err)
}
