package command

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/fetch"
)

const (
	maxPEM    = 1 << 20     // bytes of the file of a certificate chain or of a key
	readAgain = time.Minute // between two readings of these files
)

// certificate is the certificate of a server for HTTPS. Its files are read again while the server
// runs, so that one that is renewed needs no restart and no signal.
type certificate struct {
	flags ListenFlags
	log   *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	read time.Time // when the files were last read
}

// getCertificate is what a TLS configuration calls for each connection.
type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// openCertificate reads the certificate and returns what gives it to connections, nil for plain
// HTTP.
func (f ListenFlags) openCertificate(log *slog.Logger) (getCertificate, error) {
	pair, err := f.certificate()
	if pair == nil {
		return nil, err
	}
	return (&certificate{flags: f, log: log, pair: pair, read: time.Now()}).current, nil
}

// certificate reads the certificate for HTTPS and its key; nil for plain HTTP.
func (f ListenFlags) certificate() (*tls.Certificate, error) {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
		return nil, nil
	case f.TLSKey == "":
		return nil, usagef("--tls-cert needs its private key: give the file by --tls-key")
	case f.TLSCert == "":
		return nil, usagef("--tls-key needs its certificate: give the file by --tls-cert")
	}
	chain, err := fetch.File(f.TLSCert, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := fetch.File(f.TLSKey, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("--tls-key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("cannot serve HTTPS (%w): give a certificate and its key, two PEM files, by --tls-cert and --tls-key", err)
	}
	return &pair, nil
}

// current returns the certificate for a connection, as the files had it at most a minute ago. While
// the files cannot be used, such as when only one of them is new, it returns the previous one.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read) < readAgain {
		return c.pair, nil
	}
	c.read = time.Now()
	for _, file := range []string{c.flags.TLSCert, c.flags.TLSKey} {
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
			return c.pair, nil // a pipe is read once: a second time, it could block all connections
		}
	}
	pair, err := c.flags.certificate()
	if err != nil {
		c.log.Error("the renewed certificate cannot be used; the last one stays in use", "error", err)
		return c.pair, nil
	}
	if !bytes.Equal(pair.Certificate[0], c.pair.Certificate[0]) {
		c.log.Info("the certificate was renewed", "until", pair.Leaf.NotAfter)
	}
	c.pair = pair
	return pair, nil
}
