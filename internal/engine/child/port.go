package child

import (
	"fmt"
	"net"
)

// FreePort returns a loopback port that nobody listens on at this moment. Another process may take it before the
// caller does, so whoever starts a server on it has to be ready to try another.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port on 127.0.0.1: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
