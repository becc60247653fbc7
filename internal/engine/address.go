package engine

// This file chooses where the engine listens. The engine serves every client that reaches it: it
// checks neither the signature nor the Host of a request, and tells browsers that pages of all
// origins may call it. So a web page must not find it. A page can try all ports of 127.0.0.1 within
// minutes. It cannot try them on each of 16 million addresses. Behind a wrong port, an address with
// an engine looks like any other.

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"syscall"
)

// usualLoopback is the loopback address of every system, and the first that pages would try.
var usualLoopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// freeAddress returns a loopback address with a port that is free at the moment.
func freeAddress() (netip.AddrPort, error) {
	own, _ := net.InterfaceAddrs() // after an error there are none, and usualLoopback remains
	return firstFree(candidates(randomLoopback(), own), FreePort)
}

// randomLoopback returns an address from 127.1.0.0 to 127.254.255.255. The system and its services
// use some of 127.0.0.0/16, and 127.255.255.255 is a broadcast address. The generator is the
// runtime's, which the system seeds and which is not predictable.
func randomLoopback() netip.Addr {
	return netip.AddrFrom4([4]byte{127, byte(1 + rand.IntN(254)), byte(rand.IntN(256)), byte(rand.IntN(256))})
}

// candidates returns the addresses on which an engine may listen, the best first. The first is
// random, which Linux allows. Then come addresses that an administrator added beside 127.0.0.1,
// which macOS requires, and 127.0.0.1.
func candidates(random netip.Addr, own []net.Addr) []netip.Addr {
	all := []netip.Addr{random}
	for _, address := range own {
		prefix, err := netip.ParsePrefix(address.String())
		if err == nil && prefix.Addr().Is4() && prefix.Addr().IsLoopback() && prefix.Addr() != usualLoopback {
			all = append(all, prefix.Addr())
		}
	}
	return append(all, usualLoopback)
}

// firstFree returns the first address that exists on this system, with a free port.
func firstFree(addresses []netip.Addr, freePort func(netip.Addr) (uint16, error)) (netip.AddrPort, error) {
	var port uint16
	var err error
	for _, address := range addresses {
		if port, err = freePort(address); !errors.Is(err, syscall.EADDRNOTAVAIL) {
			return netip.AddrPortFrom(address, port), err
		}
	}
	return netip.AddrPort{}, err
}

// warnIfUsual warns about an engine that web pages can find, and names the cure.
func warnIfUsual(address netip.Addr, log *slog.Logger) {
	if address != usualLoopback {
		return
	}
	log.Warn("the local engine listens on 127.0.0.1, since this system allows no other loopback address: a web page that is "+
		"open in a browser here could find it, and read and write the table; add an address that pages do not know, "+
		"and start again",
		"command", fmt.Sprintf("sudo ifconfig lo0 alias %s up", randomLoopback()))
}
