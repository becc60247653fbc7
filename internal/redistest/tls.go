package redistest

import (
	"fmt"
	"testing"

	"github.com/talkback/talkback/internal/servertest"
)

// StartTLS starts a server that takes encrypted connections on another port, which it returns. Its
// certificate is its own, so a client must be told not to verify it.
func StartTLS(tb testing.TB) (*Server, uint16) {
	tb.Helper()
	port := servertest.FreePort(tb)
	certificate, key, _ := servertest.Certificate(tb)
	return Start(tb, "--tls-port", fmt.Sprint(port), "--tls-key-file", key, "--tls-cert-file", certificate, "--tls-auth-clients", "no"), port
}
