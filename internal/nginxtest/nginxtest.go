// Package nginxtest gives tests a real nginx on a loopback port, with the configuration that infra
// has for operators. It is test support, and no shipped code imports it.
package nginxtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// Start starts nginx in front of two servers, with infra/nginx.conf, and returns its URL. It ends
// with the test. Where nginx is not installed, the test is skipped, or fails when the environment
// variable CI is set.
func Start(tb testing.TB, servers [2]string) (url string) {
	tb.Helper()
	path := provisiontest.Program(tb, "nginx", "the nginx suite")
	folder := tb.TempDir()
	errors := filepath.Join(folder, "error.log")
	tb.Cleanup(func() {
		if text, err := os.ReadFile(errors); tb.Failed() && err == nil {
			tb.Logf("nginx says\n%s", text)
		}
	})
	server := servertest.Start(tb, path, func(port uint16) []string {
		configuration := filepath.Join(folder, "nginx.conf")
		if err := os.WriteFile(configuration, configure(tb, port, servers), 0o600); err != nil {
			tb.Fatal(err)
		}
		return []string{"-p", folder, "-c", configuration, "-e", errors, "-g", settings(folder)}
	}, answers)
	return "http://" + server.Address()
}

// configure puts the test's addresses into the configuration, and files into the test's folder.
func configure(tb testing.TB, port uint16, servers [2]string) []byte {
	tb.Helper()
	root, err := provisiontest.ModuleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "infra", "nginx.conf"))
	if err != nil {
		tb.Fatal(err)
	}
	out := string(text)
	for _, change := range [][2]string{
		{"10.0.0.11:8080", servers[0]},
		{"10.0.0.12:8080", servers[1]},
		{"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;\n%s", port, own)},
	} {
		if strings.Count(out, change[0]) != 1 {
			tb.Fatalf("infra/nginx.conf has not one %q", change[0])
		}
		out = strings.Replace(out, change[0], change[1], 1)
	}
	return []byte(out)
}

// AnsweredBy is the header that names the server that answered a request.
const AnsweredBy = "X-Answered-By"

// own is what only a test needs. Files of nginx stay in its folder: Debian's build has them in /var.
const own = `access_log off;
client_body_temp_path body;
proxy_temp_path proxy;
add_header ` + AnsweredBy + ` $upstream_addr always;
`

// settings are those that a service manager would give. Workers run as the user who tests.
func settings(folder string) string {
	user := ""
	if os.Getuid() == 0 {
		user = " user root;"
	}
	return fmt.Sprintf("daemon off; pid %s;%s", filepath.Join(folder, "pid"), user)
}

// answers reports whether nginx takes connections yet.
func answers(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
