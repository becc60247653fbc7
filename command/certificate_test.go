package command

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// pairOf returns a certificate of a serial number and its key, in PEM.
func pairOf(t *testing.T, serial int64) (chain, key []byte) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	packed := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: packed})
}

// A renewed certificate is used within a minute. Until both files fit, and if one becomes unusable,
// the last one is.
func TestCertificateIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, log := t.TempDir(), &bytes.Buffer{}
		flags := ListenFlags{TLSCert: filepath.Join(folder, "cert.pem"), TLSKey: filepath.Join(folder, "key.pem")}
		first, firstKey := pairOf(t, 1)
		second, secondKey := pairOf(t, 2)
		must.Do(t, os.WriteFile(flags.TLSCert, first, 0o600))
		must.Do(t, os.WriteFile(flags.TLSKey, firstKey, 0o600))
		current := must.Get(flags.openCertificate(slog.New(slog.NewTextHandler(log, nil))))(t)
		for _, step := range []struct {
			why    string
			change func()
			wait   time.Duration
			serial int64
			says   string
		}{
			{"nothing changed", func() {}, readAgain, 1, ""},
			{"the key is not there yet", func() { must.Do(t, os.WriteFile(flags.TLSCert, second, 0o600)) }, readAgain, 1, "private key does not match"},
			{"within the minute", func() { must.Do(t, os.WriteFile(flags.TLSKey, secondKey, 0o600)) }, readAgain - 1, 1, ""},
			{"both are there", func() {}, 1, 2, "the certificate was renewed"},
			{"nothing changed since", func() {}, readAgain, 2, ""},
			{"it is cut off", func() { must.Do(t, os.WriteFile(flags.TLSCert, second[:60], 0o600)) }, readAgain, 2, "the last one stays in use"},
			{"it is gone", func() { must.Do(t, os.Remove(flags.TLSCert)) }, readAgain, 2, "no such file"},
			{"a pipe that delivers nothing", func() { must.Do(t, syscall.Mkfifo(flags.TLSCert, 0o600)) }, readAgain, 2, ""},
		} {
			step.change()
			time.Sleep(step.wait)
			log.Reset()
			got := must.Get(current(nil))(t)
			if serial := got.Leaf.SerialNumber.Int64(); serial != step.serial {
				t.Errorf("%s: certificate %d, want %d", step.why, serial, step.serial)
			}
			if said := log.String(); !strings.Contains(said, step.says) || step.says == "" && said != "" || strings.Contains(said, "BEGIN") {
				t.Errorf("%s: logged %q, want %q", step.why, said, step.says)
			}
		}
	})
}
