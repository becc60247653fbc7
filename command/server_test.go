package command

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/check"
)

// The addresses at which a listening server says it can be opened: 0.0.0.0 and :: are no addresses
// for a browser.
func TestOpenable(t *testing.T) {
	t.Parallel()
	machine := func() ([]net.Addr, error) {
		var all []net.Addr
		for _, ip := range []string{"127.0.0.1", "192.168.1.20", "::1", "fe80::1", "2001:db8::20"} {
			all = append(all, &net.IPNet{IP: net.ParseIP(ip), Mask: net.CIDRMask(24, 32)})
		}
		return all, nil
	}
	blind := func() ([]net.Addr, error) { return nil, errors.New("not allowed") }
	for _, row := range []struct {
		why, ip string
		machine func() ([]net.Addr, error)
		want    []string
	}{
		{"one address is itself", "127.0.0.1", machine, []string{"127.0.0.1:80"}},
		{"all of IPv4", "0.0.0.0", machine, []string{"localhost:80", "192.168.1.20:80", "[2001:db8::20]:80"}},
		{"all", "::", machine, []string{"localhost:80", "192.168.1.20:80", "[2001:db8::20]:80"}},
		{"a machine that does not tell", "0.0.0.0", blind, []string{"localhost:80"}},
	} {
		got := openable(&net.TCPAddr{IP: net.ParseIP(row.ip), Port: 80}, row.machine)
		check.Equal(t, row.want, got, row.why)
	}
}

// What to do about an address that cannot be listened on depends on why.
func TestCuresOfListening(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]string{
		syscall.EADDRINUSE:    "stop what uses the port",
		syscall.EADDRNOTAVAIL: "this machine has no such address",
		syscall.EACCES:        "CAP_NET_BIND_SERVICE",
		syscall.EINVAL:        "",
	} {
		got := listenCure(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", errno)})
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: %q, want %q", errno, got, want)
		}
	}
}

// Everything that a server runs beside its table ends together. A collector that hangs delays the
// end only once, however many exporters wait for it.
func TestSurroundingsEndTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s endings
		for _, waits := range []time.Duration{3 * time.Second, 0, 5 * time.Second} {
			s = append(s, func() { time.Sleep(waits) })
		}
		began := time.Now()
		if s.close(); time.Since(began) != 5*time.Second {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}
