package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/talkback/talkback/internal/output"
)

// Health asks the server of this machine or container whether it is ready.
type Health struct{ ListenFlags }

const (
	// healthTimeout bounds the wait for an answer. Supervisors have shorter timeouts.
	healthTimeout = 20 * time.Second
	// maxHealth bounds how much of an answer is read, in bytes.
	maxHealth = 500
)

// Run prints the server's answer. Anything but readiness is an error.
func (c *Health) Run(ctx context.Context, term Terminal) error {
	if err := checkAddress("--listen", c.Listen); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(c.Listen) // it was checked
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	address := net.JoinHostPort(host, port) // which this machine reaches
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.scheme()+"://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	// The certificate is for the name that clients use, not for this address.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	response, err := client.Do(request)
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if err != nil {
		return fmt.Errorf("no server answers at %s (%w): start one, or give its --listen", address, innermost(err))
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, maxHealth))
	if err != nil {
		return err
	}
	text := output.Printable(strings.TrimSpace(string(said)))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s answers %s: %s", address, response.Status, text)
	}
	_, err = fmt.Fprintln(term.Out, text)
	return err
}
