package fetch

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestRedirectsStayWithinTheirOrigin(t *testing.T) {
	for _, row := range []struct {
		from, to string
		follows  bool
	}{
		{"https://login.example.com/jwks.json", "https://login.example.com/keys", true},
		{"http://localhost:80/jwks.json", "http://localhost:80/keys", true},
		{"https://login.example.com/jwks.json", "http://login.example.com/jwks.json", false},
		{"http://localhost/jwks.json", "https://localhost/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://keys.login.example.com/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://login.example.com:8443/jwks.json", false},
	} {
		before, next := httptest.NewRequest(http.MethodGet, row.from, nil), httptest.NewRequest(http.MethodGet, row.to, nil)
		if err := CheckRedirect(next, []*http.Request{before}); (err == nil) != row.follows {
			t.Errorf("from %s to %s: %v", row.from, row.to, err)
		}
	}
}

// What no stranger may reach through the server is refused, whatever form the address has.
func TestReach(t *testing.T) {
	for _, row := range []struct {
		public, inside bool
		addresses      []string
	}{
		{true, true, []string{"8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "100.63.255.255", "172.32.0.1"}},
		{false, true, []string{"127.0.0.1", "127.8.9.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1"}},
		{false, false, []string{
			"169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "fd00:ec2::254%eth0", "64:ff9b::a9fe:a9fe%eth0", "fe80::1", "fe80::1%eth0", "0.0.0.0", "::", "0.1.2.3", "100.100.100.200",
			"255.255.255.255", "224.0.0.1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "::7f00:1",
		}},
	} {
		for _, text := range row.addresses {
			a := netip.MustParseAddr(text)
			if Public(a) != row.public || PublicOrInside(a) != row.inside {
				t.Errorf("%s: public %t, or inside %t", text, Public(a), PublicOrInside(a))
			}
		}
	}
}
