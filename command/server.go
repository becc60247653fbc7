package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
)

// Bounds on connections. Reading a request and writing its response must both end: otherwise, a
// client that sends or takes one byte at a time would occupy a connection forever.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeMargin       = 15 * time.Second // beyond the time of the operation
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 16 << 10 // without the address; browsers send cookies of a few KB
	maxStreams        = 100      // concurrent requests of one HTTP/2 connection, the minimum that RFC 9113, 6.5.2, recommends
	maxFrame          = 16 << 10 // of HTTP/2, the minimum: a frame is read as a whole, into memory of its announced length
	maxBuffered       = 64 << 10 // of HTTP/2, in all unread bodies of a connection together, the minimum
	pingAfter         = 30 * time.Second
	stuckTimeout      = 20 * time.Second // of an HTTP/2 connection that accepts no byte
)

// server answers requests on a port: first with the state of opening the table, then with the API.
type server struct {
	http        *http.Server
	listener    net.Listener
	connections *httpapi.Connections
	delay       time.Duration // between SIGTERM and refusing connections
	drain       time.Duration // for the whole shutdown
	log         *slog.Logger

	stop    context.CancelCauseFunc // nil before start
	refuses chan struct{}           // closed when no more connections are accepted
	running errgroup.Group
}

// newHTTPServer makes an HTTP server with bounds on connections. It speaks HTTPS if there is a
// certificate. maxQuery is the longest query in bytes, which may be part of the address.
func newHTTPServer(handler http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), operationTimeout time.Duration, maxQuery int) *http.Server {
	server := &http.Server{
		Handler:           handler,
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      operationTimeout + writeMargin,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes + maxQuery, // the address counts among the headers
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, WriteByteTimeout: stuckTimeout,
			MaxReadFrameSize: maxFrame, MaxReceiveBufferPerConnection: maxBuffered, MaxReceiveBufferPerStream: maxBuffered,
		},
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for proxies that are configured to use it
	if certificate != nil {
		server.TLSConfig = &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12}
	}
	return server
}

// start answers requests until wait or close ends that.
func (s *server) start() {
	ctx, stop := context.WithCancelCause(context.Background())
	s.stop, s.refuses = stop, make(chan struct{})
	s.running.Go(func() error { return s.serve(ctx) })
}

// taking returns when the server accepts no more connections, which is soon after the context ends.
// Requests under way continue.
func (s *server) taking(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.stop(context.Cause(ctx)) })()
	<-s.refuses
	return nil
}

// wait returns when the server has ended, which is soon after the context ends.
func (s *server) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.stop(context.Cause(ctx)) })()
	return s.running.Wait()
}

// close stops the server and closes the port.
func (s *server) close() {
	if s.stop != nil {
		s.stop(nil)
	}
	_ = s.running.Wait()   // wait returned its error
	_ = s.listener.Close() // closed already if the server ran
}

// serve answers requests until the context ends, and then lets those under way finish.
func (s *server) serve(ctx context.Context) error {
	said := httpapi.NewServerLog(s.log)
	defer said.Close()
	s.http.ErrorLog = said.Logger()
	listener := s.connections.Bound(s.http, s.listener)
	served := make(chan error, 1)
	go func() {
		serve := s.http.Serve
		if s.http.TLSConfig != nil {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") } // the certificate is in TLSConfig
		}
		err := serve(listener)
		if errors.Is(err, net.ErrClosed) {
			err = nil
		}
		served <- err
	}()
	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	if failed == nil {
		s.connections.Stop()
		if errors.Is(context.Cause(ctx), errTerminated) { // at a terminal, a person waits for the end
			_ = task.Wait(drain, s.delay) // for load balancers to notice
		}
		_ = s.listener.Close() // which ends serve
		failed = <-served
	}
	close(s.refuses)
	err := s.connections.Drain(drain)
	if err == nil {
		err = s.http.Shutdown(drain)
	}
	if err != nil {
		s.log.Warn("some requests were cut off at the end", "error", err)
		err = s.http.Close()
	}
	return errors.Join(failed, err)
}

// ListenFlags configure how clients reach the server.
type ListenFlags struct {
	Listen  string `help:"Address to listen on (default: ${default})." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	TLSCert string `name:"tls-cert" help:"Certificate chain, a PEM file, to serve HTTPS. Needs --tls-key. Without it, plain HTTP, including HTTP/2 without TLS (h2c) for proxies." placeholder:"FILE" complete:"files"`
	TLSKey  string `name:"tls-key" help:"Private key of --tls-cert, a PEM file." placeholder:"FILE" complete:"files"`

	HSTSAge time.Duration `name:"hsts-age" help:"For how long browsers must use HTTPS for this host, on any port, after a visit by HTTPS (Strict-Transport-Security); 0 sends no header (default: ${default})." placeholder:"720h" default:"720h"`
}

// listenOn listens on the address in a flag. Its error names the cure.
func listenOn(ctx context.Context, flag, address string) (net.Listener, error) {
	if err := checkAddress(flag, address); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%w): %sgive another address by %s, such as 127.0.0.1:8081", address, innermost(err), listenCure(err), flag)
	}
	return listener, nil
}

// listenCure returns what to do about an address that cannot be listened on, before giving another.
func listenCure(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop what uses the port, or "
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address; "
	case errors.Is(err, syscall.EACCES):
		return "allow this program ports below 1024 (on Linux, by CAP_NET_BIND_SERVICE), or "
	}
	return ""
}

// checkAddress returns an error unless the value of a flag is a host and a port. Whether the host
// has an address may change, so it does not look that up.
func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	malformed, ok := errors.AsType[*net.AddrError](err)
	var why string
	switch {
	case strings.TrimSpace(address) != address:
		why = "it begins or ends with a space or a line break"
	case ok:
		why = malformed.Err
	case err != nil:
		why = "unknown port"
	default:
		return nil
	}
	return usagef("%s %s is not an address (%s): give host and port, such as 127.0.0.1:8080", flag, output.Printable(address), why)
}

// maxHosts bounds the addresses printed for a server that listens on all addresses of the machine.
const maxHosts = 4

// openable returns the hosts, with the port, at which a browser can reach a server. For the
// unspecified address, they are localhost and then those that other machines can reach.
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

// scheme returns the URL scheme of the server.
func (f ListenFlags) scheme() string {
	if f.TLSCert != "" {
		return "https"
	}
	return "http"
}

// connectionLimit returns how many client connections are allowed: the wanted number, but at most
// two thirds of the process's file descriptors. The rest is for files and for connections to the
// table; one request may open several.
func connectionLimit(wanted int) int {
	return min(wanted, max(1, int(min(descriptors(), math.MaxInt32))*2/3))
}
