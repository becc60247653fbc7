package servertest

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// Certificate writes a certificate for 127.0.0.1 and its key, those of package httptest, to files.
// It returns them and the pool that trusts it.
func Certificate(tb testing.TB) (certificate, key string, trusted *x509.CertPool) {
	tb.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		tb.Fatal(err)
	}
	folder := tb.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	return write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", private), trusted
}
