package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// TestWhereTheEngineListens checks on which loopback address an engine listens on each kind of
// system.
func TestWhereTheEngineListens(t *testing.T) {
	const random, port = "127.83.12.9", 40123
	interfaces := func(addresses ...string) (all []net.Addr) {
		for _, address := range addresses {
			ip, network, err := net.ParseCIDR(address)
			must.Do(t, err)
			all = append(all, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return all
	}
	for _, row := range []struct {
		system   string
		own      []net.Addr // addresses of its interfaces
		has      string     // addresses that allow listening
		want     string
		warnings int
	}{
		{"Linux allows all of 127.0.0.0/8", interfaces("127.0.0.1/8", "::1/128", "192.0.2.7/24"), random + " 127.0.0.1 192.0.2.7", random, 0},
		{"macOS allows those of its interface, none of the network", interfaces("127.0.0.1/8", "::1/128", "127.44.5.6/8", "192.0.2.7/24"), "127.0.0.1 127.44.5.6 192.0.2.7", "127.44.5.6", 0},
		{"macOS as it comes", interfaces("127.0.0.1/8", "::1/128", "192.0.2.7/24"), "127.0.0.1 192.0.2.7", "127.0.0.1", 1},
		{"interfaces are unknown", nil, "127.0.0.1", "127.0.0.1", 1},
	} {
		freePort := func(address netip.Addr) (uint16, error) {
			for _, one := range strings.Fields(row.has) {
				if one == address.String() {
					return port, nil
				}
			}
			return 0, fmt.Errorf("no: %w", syscall.EADDRNOTAVAIL)
		}
		got, err := firstFree(candidates(netip.MustParseAddr(random), row.own), freePort)
		if err != nil || got.String() != fmt.Sprintf("%s:%d", row.want, port) {
			t.Errorf("%s: %v, %v, want %s", row.system, got, err, row.want)
		}
		var log strings.Builder
		warnIfUsual(got.Addr(), slog.New(slog.NewTextHandler(&log, nil)))
		if n := strings.Count(log.String(), "level=WARN"); n != row.warnings {
			t.Errorf("%s: %d warnings, want %d:\n%s", row.system, n, row.warnings, &log)
		}
	}
}

// The next address is tried only if the system lacks the one before. Any other error would occur
// there too, or would expose the engine to pages because of a temporary problem.
func TestTroubleIsNoReasonForAKnownAddress(t *testing.T) {
	_, err := firstFree(candidates(randomLoopback(), nil), func(netip.Addr) (uint16, error) { return 0, syscall.EMFILE })
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("error %v", err)
	}
	_, err = firstFree(candidates(randomLoopback(), nil), func(netip.Addr) (uint16, error) { return 0, syscall.EADDRNOTAVAIL })
	if !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("on a system without any address: %v", err)
	}
}

func TestAddressesAreRandom(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("left out: only Linux lets everyone listen on all of 127.0.0.0/8")
	}
	seen := map[netip.Addr]bool{}
	for range 10 { // two equal addresses are practically impossible
		address := must.Get(freeAddress())(t)
		a := address.Addr()
		if seen[a] || !a.IsLoopback() || a.As4()[1] == 0 || a.As4()[1] == 255 {
			t.Errorf("address %v (before: %v)", a, seen[a])
		}
		seen[a] = true
	}
}
