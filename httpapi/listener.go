package httpapi

import (
	"context"
	"net"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// Listen listens on a TCP address in a way that [CloseListener] can end well: Linux refuses filters on
// sockets of Multipath TCP, which Go takes by default.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", address)
}

// handshakes is for how long a listener that is about to be closed waits for the last step of
// connections that are being made: longer than a round trip within a region takes.
const handshakes = 10 * time.Millisecond

// CloseListener closes a listener without cutting off clients that believe to be connected. The
// kernel makes connections by itself, and resets those that nobody has accepted when the listener is
// closed. So new ones are refused first, where the system can, and the others are accepted. A client
// that comes meanwhile tries again after a second, and is refused then.
func CloseListener(ctx context.Context, listener net.Listener) error {
	if waiting, err := refuseNew(listener); err == nil {
		_ = task.Wait(ctx, handshakes)
		for waiting() && task.Wait(ctx, time.Millisecond) == nil {
		}
	}
	return listener.Close()
}
