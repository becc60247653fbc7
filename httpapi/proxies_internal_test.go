package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

func trusted(t testing.TB, networks ...string) (all Proxies) {
	t.Helper()
	for _, text := range networks {
		var n Proxy
		must.Do(t, n.UnmarshalText([]byte(text)))
		all = append(all, n)
	}
	return all
}

func TestProxiesClient(t *testing.T) {
	proxies := trusted(t, "10.0.0.0/8", "2001:db8:f::/48", "192.0.2.7")
	for _, row := range []struct {
		why, peer string
		headers   []string
		want      string
	}{
		{"no proxy", "203.0.113.5:4711", nil, "203.0.113.5"},
		{"a client that claims to be another", "203.0.113.5:4711", []string{"198.51.100.1"}, "203.0.113.5"},
		{"a proxy", "10.1.2.3:80", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a proxy that is one address", "192.0.2.7:80", []string{"203.0.113.5"}, "203.0.113.5"},
		{"its neighbour is none", "192.0.2.8:80", []string{"203.0.113.5"}, "192.0.2.8"},
		{"what the client invented stands before its address", "10.1.2.3:80", []string{"198.51.100.1, 203.0.113.5"}, "203.0.113.5"},
		{"it may invent a proxy too", "10.1.2.3:80", []string{"198.51.100.1, 10.9.9.9, 203.0.113.5"}, "203.0.113.5"},
		{"two proxies", "10.1.2.3:80", []string{"203.0.113.5, 10.4.4.4"}, "203.0.113.5"},
		{"two proxies, and what the client invented", "10.1.2.3:80", []string{"1.1.1.1, 203.0.113.5, 10.4.4.4"}, "203.0.113.5"},
		{"a header in two lines is one list", "10.1.2.3:80", []string{"1.1.1.1, 203.0.113.5", "10.4.4.4"}, "203.0.113.5"},
		{"a proxy asks for itself, such as a probe", "10.1.2.3:80", nil, "10.1.2.3"},
		{"all are proxies: the first of them asks for itself", "10.1.2.3:80", []string{"10.5.5.5, 10.4.4.4"}, "10.5.5.5"},
		{"an empty header", "10.1.2.3:80", []string{""}, "10.1.2.3"},
		{"not an address: the proxy itself", "10.1.2.3:80", []string{"unknown"}, "10.1.2.3"},
		{"nothing before it is believed", "10.1.2.3:80", []string{"203.0.113.5, unknown"}, "10.1.2.3"},
		{"the last proxy that said an address", "10.1.2.3:80", []string{"203.0.113.5, _hidden, 10.4.4.4"}, "10.4.4.4"},
		{"an empty element", "10.1.2.3:80", []string{"203.0.113.5,,10.4.4.4"}, "10.4.4.4"},
		{"a port after the address", "10.1.2.3:80", []string{"203.0.113.5:1234"}, "203.0.113.5"},
		{"IPv6", "10.1.2.3:80", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 in brackets", "10.1.2.3:80", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv6 with a port", "10.1.2.3:80", []string{"[2001:db8::1]:1234"}, "2001:db8::1"},
		{"a proxy by IPv6", "[2001:db8:f::9]:80", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a proxy by IPv4 in IPv6, as a socket for both shows it", "[::ffff:10.1.2.3]:80", []string{"203.0.113.5"}, "203.0.113.5"},
		{"a client by IPv4 in IPv6 is the same client", "10.1.2.3:80", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"a zone is of this machine alone", "[fe80::1%eth0]:80", nil, "fe80::1"},
		{"space around an address", "10.1.2.3:80", []string{" 1.1.1.1 ,\t203.0.113.5 "}, "203.0.113.5"},
		{"digits that another reader takes for octal", "10.1.2.3:80", []string{"010.0.0.1"}, "10.1.2.3"},
		{"a list of many proxies", "10.1.2.3:80", []string{strings.Repeat("10.1.1.1,", 2000) + "203.0.113.5"}, "203.0.113.5"},
		{"a Unix socket has no address", "@", []string{"203.0.113.5"}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: row.peer, Header: http.Header{forwardedFor: row.headers, "Forwarded": {"for=1.2.3.4"}, "X-Real-Ip": {"1.2.3.4"}}}
		if got := proxies.Client(r).String(); got != row.want {
			t.Errorf("%s: %q from %s is %s, want %s", row.why, row.headers, row.peer, got, row.want)
		}
	}
}

func TestProxiesUnnamed(t *testing.T) {
	for _, row := range []struct {
		why, peer, header string
		want              bool
	}{
		{"a client", "203.0.113.5:1", "", false},
		{"a proxy that is trusted", "10.0.0.1:1", "203.0.113.5", false},
		{"a proxy that is not, or a client that invents", "172.16.0.1:1", "203.0.113.5", true},
	} {
		r := &http.Request{RemoteAddr: row.peer, Header: http.Header{forwardedFor: {row.header}}}
		if got := trusted(t, "10.0.0.0/8").Unnamed(r); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}

func TestProxyText(t *testing.T) {
	for _, row := range []struct{ why, text, want string }{
		{"a network", "10.0.0.0/8", "10.0.0.0/8"},
		{"an address in it names it too", "10.1.2.3/8", "10.0.0.0/8"},
		{"an address", "10.0.0.7", "10.0.0.7/32"},
		{"IPv6", "2001:db8::1", "2001:db8::1/128"},
		{"IPv4 in IPv6", "::ffff:10.0.0.0/104", "10.0.0.0/8"},
		{"every address", "0.0.0.0/0", ""},
		{"every address of IPv6", "::/0", ""},
		{"every address of IPv4, in IPv6", "::ffff:0.0.0.0/96", ""},
		{"a name", "proxy.internal", ""},
		{"nothing", "", ""},
		{"a port", "10.0.0.7:80", ""},
	} {
		var n Proxy
		err := n.UnmarshalText([]byte(row.text))
		switch {
		case row.want == "" && err == nil:
			t.Errorf("%s: %q is accepted", row.why, row.text)
		case row.want != "" && (err != nil || n.String() != row.want):
			t.Errorf("%s: %q is %s (%v), want %s", row.why, row.text, n, err, row.want)
		}
	}
}

// Whatever the headers say, a direct request has its client's address. One through a proxy has an
// address from the header, or the proxy's.
func FuzzProxiesClient(f *testing.F) {
	f.Add("203.0.113.5", true)
	f.Add("[::1]:80, , x", false)
	f.Fuzz(func(t *testing.T, value string, throughProxy bool) {
		r := &http.Request{RemoteAddr: "203.0.113.9:1", Header: http.Header{forwardedFor: {value}}}
		if throughProxy {
			r.RemoteAddr = "10.0.0.1:1"
		}
		got := trusted(t, "10.0.0.0/8").Client(r)
		if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Fatalf("%q is of %v", value, got)
		}
		if !throughProxy && got != netip.MustParseAddr("203.0.113.9") {
			t.Fatalf("%q is believed: %v", value, got)
		}
	})
}
