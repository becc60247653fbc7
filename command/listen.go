package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ListenFlags say how clients reach the server.
type ListenFlags struct {
	Listen  string `help:"Address to listen on (default: ${default})." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	TLSCert string `name:"tls-cert" help:"Certificate chain, a PEM file, to serve HTTPS. Needs --tls-key. Without it, plain HTTP, including HTTP/2 without TLS (h2c) for proxies." placeholder:"FILE" complete:"files"`
	TLSKey  string `name:"tls-key" help:"Private key of --tls-cert, a PEM file." placeholder:"FILE" complete:"files"`

	HSTSAge time.Duration `name:"hsts-age" help:"For how long browsers must use HTTPS for this host, on any port, after a visit by HTTPS (Strict-Transport-Security); 0 sends no header (default: ${default})." placeholder:"720h" default:"720h"`
}

// listenOn takes the port of the address that a flag has. Its error names the cure.
func listenOn(ctx context.Context, flag, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	var malformed *net.AddrError
	if errors.As(err, &malformed) {
		return nil, usagef("%s %s is not an address (%s): give host and port, such as 127.0.0.1:8080", flag, address, malformed.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%w): stop what uses the port, or give another address by %s, such as 127.0.0.1:8081", address, innermost(err), flag)
	}
	return listener, nil
}

// maxHosts bounds how many addresses are printed of a server that listens on all of the machine's.
const maxHosts = 4

// openable returns the hosts, with the port, by which a browser can reach a server: its address, or
// if that stands for all addresses of the machine, localhost and then those that other machines can
// reach.
func openable(address net.Addr, machine func() ([]net.Addr, error)) []string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return []string{address.String()}
	}
	port := strconv.Itoa(tcp.Port)
	hosts := []string{net.JoinHostPort("localhost", port)}
	addresses, err := machine()
	if err != nil {
		return hosts
	}
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if ok && network.IP.IsGlobalUnicast() && !network.IP.IsLoopback() && len(hosts) < maxHosts {
			hosts = append(hosts, net.JoinHostPort(network.IP.String(), port))
		}
	}
	return hosts
}

// certificates returns the certificates for HTTPS, nil for plain HTTP. They are read once: a
// renewed one needs a restart, which loses no request. The error names the cure.
func (f ListenFlags) certificates() ([]tls.Certificate, error) {
	switch {
	case f.TLSCert == "" && f.TLSKey == "":
		return nil, nil
	case f.TLSKey == "":
		return nil, usagef("--tls-cert needs its private key: give the file by --tls-key")
	case f.TLSCert == "":
		return nil, usagef("--tls-key needs its certificate: give the file by --tls-cert")
	}
	pair, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("cannot serve HTTPS (%w): give a certificate and its key, two PEM files that this user may read, by --tls-cert and --tls-key", err)
	}
	return []tls.Certificate{pair}, nil
}

// scheme returns the URL scheme of the server.
func (f ListenFlags) scheme() string {
	if f.TLSCert != "" {
		return "https"
	}
	return "http"
}

// protocols returns the protocols of the server: HTTP/1.1 and HTTP/2, the latter also without TLS
// for proxies that are configured to use it.
func (f ListenFlags) protocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}

// connectionLimit returns how many client connections are allowed: as many as wanted, but at most
// two thirds of the process's file descriptors. The rest is for files and for connections to the
// table; a request may open several of these.
func connectionLimit(wanted int) int {
	return min(wanted, max(1, int(min(descriptors(), math.MaxInt32))*2/3))
}
