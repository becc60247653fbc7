package objects

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// client returns a client of the server by a transport.
func client(server *s3test.Server, transport http.RoundTripper, attempts int) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL()), Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
		HTTPClient: &http.Client{Transport: transport}, RetryMaxAttempts: attempts,
	}, clientOptions)
}

func mustOpenBucket(t *testing.T, c *s3.Client, prefix string, set settings) *Store {
	t.Helper()
	s, err := openAt(t.Context(), &bucket{c, s3test.Bucket, prefix}, set)
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

func TestConformanceOfBuckets(t *testing.T) {
	server := s3test.Start(t)
	conformance.Run(t, func(t *testing.T) conformance.Place {
		prefix := newPrefix()
		var store *Store
		return conformance.Place{
			Shared: true,
			Open: func(t *testing.T) pageindex.Store {
				var err error
				if store, err = openAt(t.Context(), &bucket{client(server, http.DefaultTransport, 3), s3test.Bucket, prefix}, small); err != nil {
					t.Fatal(err)
				}
				return store
			},
			Held: func(t *testing.T, product string) []string { return objectsOf(t, store, product) },
		}
	})
}
