package s3

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// small makes everything happen early.
var small = settings{
	mergeAt: 40, mergeLogs: 10, mergeEvery: 20 * time.Millisecond, most: 1 << 20,
	lease: 200 * time.Millisecond, collectEvery: 100 * time.Millisecond, logGrace: time.Second, chunkGrace: 2 * time.Second,
	chunk: 64, run: 50,
}

// quiet merges only when it is told to.
var quiet = settings{
	mergeAt: 1 << 20, mergeLogs: 1 << 20, mergeEvery: time.Hour, most: 1 << 20,
	lease: time.Minute, collectEvery: time.Hour, logGrace: time.Hour, chunkGrace: time.Hour, chunk: 16, run: 8,
}

// client returns a client of the server by a transport.
func client(server *s3test.Server, transport http.RoundTripper, attempts int) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL()), Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
		HTTPClient: &http.Client{Transport: transport}, RetryMaxAttempts: attempts,
	}, clientOptions)
}

func mustOpen(t *testing.T, c *s3.Client, prefix string, set settings) *Store {
	t.Helper()
	s, err := open(t.Context(), c, s3test.Bucket, prefix, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// prefixes gives each test a place of its own in one bucket.
var prefixes int

func newPrefix() string {
	prefixes++
	return fmt.Sprintf("p%d/", prefixes)
}

func TestConformance(t *testing.T) {
	server := s3test.Start(t)
	conformance.Run(t, func(t *testing.T) conformance.Place {
		prefix := newPrefix()
		var store *Store
		return conformance.Place{
			Shared: true,
			Open: func(t *testing.T) conformance.Store {
				var err error
				if store, err = open(t.Context(), client(server, http.DefaultTransport, 3), s3test.Bucket, prefix, small); err != nil {
					t.Fatal(err)
				}
				return store
			},
			Held: func(t *testing.T, product string) []string { return held(t, store, product) },
		}
	})
}

// held lists what a bucket holds of a product but guards.
func held(t *testing.T, s *Store, product string) (out []string) {
	t.Helper()
	if _, _, err := s.core.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.core.known().root.Chunks {
		if c.Records.Count == 0 {
			continue
		}
		data, err := s.core.bucket.Read(t.Context(), c.FileName(pagefile.Records), 0, c.Records.Head)
		if err != nil {
			return []string{err.Error()} // a merge has just deleted it
		}
		head, err := c.Records.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := head.Find(product); found {
			out = append(out, c.FileName(pagefile.Records))
		}
	}
	return out
}
