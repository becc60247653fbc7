// Package nginxtest gives tests a real nginx on a loopback port, with the configuration that infra
// has for operators. It is test support, and no shipped code imports it.
package nginxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// Start starts nginx in front of two servers, with infra/nginx.conf, and returns its URL. It ends
// with the test. Where nginx is not installed, the test is skipped, or fails when the environment
// variable CI is set.
func Start(tb testing.TB, servers [2]string) (url string) {
	tb.Helper()
	return start(tb, "nginx.conf", [][2]string{{"10.0.0.11:8080", servers[0]}, {"10.0.0.12:8080", servers[1]}}, own)
}

// StartCache starts nginx as a cache in front of one server, with infra/nginx-cache.conf, and
// returns its URL. Otherwise it is as Start.
func StartCache(tb testing.TB, server string) (url string) {
	tb.Helper()
	return start(tb, "nginx-cache.conf", [][2]string{{"10.0.0.11:8080", server}}, files)
}

// start starts nginx with a file of infra, changed as the test needs it.
func start(tb testing.TB, name string, changes [][2]string, more string) (url string) {
	tb.Helper()
	path := provisiontest.Program(tb, "nginx", "the nginx suite")
	folder := tb.TempDir()
	errors := filepath.Join(folder, "error.log")
	tb.Cleanup(func() {
		if text, err := os.ReadFile(errors); tb.Failed() && err == nil {
			tb.Logf("nginx says\n%s", text)
		}
	})
	// These a service manager would give. Workers run as the user who tests.
	settings := fmt.Sprintf("daemon off; pid %s;", filepath.Join(folder, "pid"))
	if os.Getuid() == 0 {
		settings += " user root;"
	}
	server := servertest.Start(tb, path, func(port uint16) []string {
		configuration := filepath.Join(folder, "nginx.conf")
		if err := os.WriteFile(configuration, configure(tb, name, append(changes, [2]string{"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;\n%s", port, more)})), 0o600); err != nil {
			tb.Fatal(err)
		}
		return []string{"-p", folder, "-c", configuration, "-e", errors, "-g", settings}
	}, servertest.Connects)
	return "http://" + server.Address()
}

// configure returns a file of infra with changes. The text that a change replaces stands there
// once.
func configure(tb testing.TB, name string, changes [][2]string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(provisiontest.Root(tb), "infra", name))
	if err != nil {
		tb.Fatal(err)
	}
	out := string(text)
	for _, change := range changes {
		if strings.Count(out, change[0]) != 1 {
			tb.Fatalf("infra/%s has not one %q", name, change[0])
		}
		out = strings.Replace(out, change[0], change[1], 1)
	}
	return []byte(out)
}

// AnsweredBy is the header that names the server that answered a request.
const AnsweredBy = "X-Answered-By"

// files keeps the files of nginx in the test's folder: Debian's build has them in /var.
const files = `access_log off;
client_body_temp_path body;
proxy_temp_path proxy;
`

// own is what only a test needs.
const own = files + "add_header " + AnsweredBy + " $upstream_addr always;\n"
