package quota

import (
	"crypto/sha256"
	"net/netip"
)

// Client identifies a client: a customer, or a network address. It is a hash, so all take the same
// memory, and the keys of a shared store reveal neither ids nor addresses.
type Client [16]byte

// Customer returns the client for a customer's ID.
func Customer(id string) Client { return hash('c', id) }

// networkBits is the length of the prefix that identifies a client by an IPv6 address: a provider
// gives each customer at least a /64.
const networkBits = 64

// Address returns the client for an IP address. Addresses of IPv6 that share their first 64 bits
// are one client. All invalid addresses are one client, too.
func Address(a netip.Addr) Client {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if network, err := a.Prefix(networkBits); err == nil {
			a = network.Addr()
		}
	}
	bytes := a.AsSlice()
	return hash('a', string(bytes))
}

func hash(kind byte, text string) Client {
	sum := sha256.Sum256(append([]byte{kind}, text...))
	return Client(sum[:len(Client{})])
}
