package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/servertest"
)

// StartTLS starts a server that takes encrypted connections on another port, which it returns. Its
// certificate is its own, so a client must be told not to verify it.
func StartTLS(tb testing.TB) (*Server, uint16) {
	tb.Helper()
	port := servertest.FreePort(tb)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	return Start(tb, "--tls-port", fmt.Sprint(port), "--tls-key-file", writePEM(tb, "PRIVATE KEY", private),
		"--tls-cert-file", writePEM(tb, "CERTIFICATE", certificate), "--tls-auth-clients", "no"), port
}

func writePEM(tb testing.TB, kind string, bytes []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
