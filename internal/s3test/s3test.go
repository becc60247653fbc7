// Package s3test gives tests a real S3 server on a loopback port, over a folder of this machine,
// that can be stopped, paused and emptied. It is test support, and no shipped code imports it.
package s3test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// Keys of the server, and its only bucket.
const (
	AccessKey = "talkback"
	SecretKey = "talkback-tests"
	Bucket    = "pages"
)

// Server is an S3 server that a test may do anything to. Its objects stay while it is stopped.
type Server struct {
	*servertest.Server
	folder string
}

// Start starts a server with an empty bucket, which ends with the test. Where it was not built, the
// test is skipped, or fails when the environment variable CI is set.
func Start(tb testing.TB) *Server {
	tb.Helper()
	path := provisiontest.Fetched(tb, "the S3 suite", "bin/s3server")
	s := &Server{folder: tb.TempDir()}
	s.Empty(tb)
	s.Server = servertest.Start(tb, path, func(port uint16) []string {
		return []string{fmt.Sprintf("127.0.0.1:%d", port), s.folder}
	}, servertest.Connects)
	return s
}

// URL is the address of the server.
func (s *Server) URL() string { return "http://" + s.Address() }

// Environ returns the variables, as "key=value", with which the SDK uses the server: for a process
// of a test.
func (s *Server) Environ() []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + s.URL(), "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_REGION=us-east-1",
	}
}

// Environment has the SDK of this process use the server until the test ends.
func (s *Server) Environment(t *testing.T) {
	t.Helper()
	for _, variable := range s.Environ() {
		key, value, _ := strings.Cut(variable, "=")
		t.Setenv(key, value)
	}
}

// Empty deletes all objects.
func (s *Server) Empty(tb testing.TB) {
	tb.Helper()
	bucket := filepath.Join(s.folder, Bucket)
	if err := os.MkdirAll(bucket, 0o700); err != nil {
		tb.Fatal(err)
	}
	found, err := os.ReadDir(bucket)
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range found {
		if err := os.RemoveAll(filepath.Join(bucket, entry.Name())); err != nil {
			tb.Fatal(err)
		}
	}
}

// Path is where the object of a name is kept.
func (s *Server) Path(name string) string {
	return filepath.Join(s.folder, Bucket, filepath.FromSlash(name))
}
