//go:build !linux

package httpapi

import (
	"errors"
	"net"
)

// refuseNew cannot keep new connections from being made on this system.
func refuseNew(net.Listener) (waiting func() bool, err error) { return nil, errors.ErrUnsupported }
