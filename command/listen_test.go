package command_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Each flag sets what it is named for.
func TestFlagsOfHTTP(t *testing.T) {
	t.Parallel()
	s := startServer(t, append(onTable(t),
		"--max-body", "100", "--max-query", "50", "--cors-origin", "https://shop.example", "--cors-origin", "https://m.shop.example")...)
	for _, test := range []struct{ body, origin, want string }{
		{`{"query": "{ __typename }"}`, "https://m.shop.example", `{"data":{"__typename":"Query"}}`},
		{strings.Repeat(" ", 101), "https://shop.example", `BODY_TOO_LARGE`},
		{`{"query": "` + strings.Repeat(" ", 51) + `"}`, "https://shop.example", `QUERY_TOO_LONG`},
	} {
		got := post(t, s.address, test.body, "Origin: "+test.origin)
		if allowed := got.header.Get("Access-Control-Allow-Origin"); !strings.Contains(got.body, test.want) || allowed != test.origin {
			t.Errorf("%s, allowed origin %q; want %s and %q", got.body, allowed, test.want, test.origin)
		}
	}
}

// selfSigned makes a certificate for this machine and returns its files, and the pool that trusts
// it.
func selfSigned(t *testing.T) (certificateFile, keyFile string, trusted *x509.CertPool) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "talkback test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	packed := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	folder := t.TempDir()
	certificateFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePEM(t, certificateFile, "CERTIFICATE", certificate)
	writePEM(t, keyFile, "PRIVATE KEY", packed)
	trusted = x509.NewCertPool()
	parsed := must.Get(x509.ParseCertificate(certificate))(t)
	trusted.AddCert(parsed)
	return certificateFile, keyFile, trusted
}

func writePEM(t *testing.T, path, kind string, content []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
}
