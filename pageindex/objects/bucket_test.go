package objects

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// client returns a client of the server that uses a transport, and retries without a pause.
func client(server *s3test.Server, transport http.RoundTripper, attempts int) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL()), Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
		HTTPClient: &http.Client{Transport: transport}, Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.Backoff = attempts, retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	}, clientOptions)
}

func mustOpenBucket(t *testing.T, c *s3.Client, prefix string, set settings) *Store {
	t.Helper()
	s := must.Get(openAt(t.Context(), &bucket{c, s3test.Bucket, prefix}, set))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// prefixes counts prefixes, so that each test has its own in one bucket.
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
				store = must.Get(openAt(t.Context(), &bucket{client(server, http.DefaultTransport, 3), s3test.Bucket, prefix}, small))(t)
				return store
			},
			Held: func(t *testing.T, product string) []string { return objectsOf(t, store, product) },
		}
	})
}

// endless answers every call with a page of a listing that continues.
type endless struct{}

func (endless) RoundTrip(r *http.Request) (*http.Response, error) {
	const page = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>` +
		`<Contents><Key>logs/00000000000000000007</Key></Contents></ListBucketResult>`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(page)), Request: r}, nil
}

// If a listing is given up, its last log is not taken for the newest. Names without the prefix are
// of no use, and do no harm.
func TestListingIsGivenUp(t *testing.T) {
	t.Parallel()
	c := newCore(&bucket{s3.New(s3.Options{HTTPClient: &http.Client{Transport: endless{}}, Region: "us-east-1"}), "b", ""}, small)
	if listed, err := c.storage.list(t.Context(), logFolder); len(listed) != mostListed || !errors.Is(err, errMore) {
		t.Errorf("%d objects, error %v", len(listed), err)
	}
	c.storage.(*bucket).prefix = "a-prefix-that-is-longer-than-the-names/"
	if _, err := c.storage.list(t.Context(), logFolder); !errors.Is(err, errMore) {
		t.Errorf("a listing of other names: error %v", err)
	}
	c.storage.(*bucket).prefix = ""
	if _, err := c.lastLog(t.Context()); !errors.Is(err, errMore) {
		t.Errorf("the last log: error %v", err)
	}
}

// immense answers every call with an object that does not end.
type immense struct{}

func (immense) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: immense{}, Request: r}, nil
}

func (immense) Read(p []byte) (int, error) { return len(p), nil }

func (immense) Close() error { return nil }

// An object that another program has put in the place of ours is not read to its end: it may be
// larger than memory.
func TestImmenseObjects(t *testing.T) {
	t.Parallel()
	c := newCore(&bucket{s3.New(s3.Options{HTTPClient: &http.Client{Transport: immense{}}, Region: "us-east-1"}), "b", ""}, small)
	if o, err := c.storage.get(t.Context(), rootObject, ""); len(o.data) != mostBytes || err != nil {
		t.Errorf("%d bytes are read, error %v", len(o.data), err)
	}
	folder := &folder{root: t.TempDir()}
	must.Do(t, os.WriteFile(folder.path(rootObject), nil, 0o600))
	must.Do(t, os.Truncate(folder.path(rootObject), mostBytes+1))
	if o, err := folder.get(t.Context(), rootObject, ""); len(o.data) != mostBytes || err != nil {
		t.Errorf("%d bytes of a file are read, error %v", len(o.data), err)
	}
}

// Objects of another program are left as they are, whatever their names.
func TestObjectsOfAnotherProgram(t *testing.T) {
	server := s3test.Start(t)
	set, prefix := quiet, newPrefix()
	set.logGrace, set.chunkGrace = -time.Minute, -time.Minute // the service's clocks show seconds
	s := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, set)
	others := []string{"logs/1", "chunks/" + uniqueName(), "chunks/a/" + uniqueName() + ".records", "chunks/notes.guards"}
	put := func(prefix, name string) {
		must.Get(must.Get(openBucket(t.Context(), "s3://"+s3test.Bucket+"/"+prefix))(t).put(t.Context(), name, []byte("theirs"), ""))(t)
	}
	server.Environment(t)
	for _, name := range others {
		put(prefix, name)
	}
	for n := range 2 {
		must.Do(t, s.Apply(t.Context(), []pageindex.Entry{nth(n)}))
		must.Do(t, errors.Join(s.merger.merge(t.Context()), s.merger.collect(t.Context())))
	}
	for _, name := range others {
		if _, err := os.Stat(server.Path(prefix + name)); err != nil {
			t.Error(err)
		}
	}

	for _, name := range []string{rootObject, leaseObject} {
		prefix := newPrefix()
		put(prefix, name)
		_, err := OpenBucket(t.Context(), "s3://"+s3test.Bucket+"/"+prefix)
		want := fmt.Sprintf(`s3://%s/%s has an object of another program, "%s": name a prefix of its own for page numbers`, s3test.Bucket, strings.TrimSuffix(prefix, "/"), name)
		if comment.KindOf(err) != comment.BadInput || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A process that has nothing to merge yet takes no lease: others that open the store meanwhile, or
// after it was killed, would take that for an object of another program.
func TestNothingToMerge(t *testing.T) {
	server, prefix := s3test.Start(t), newPrefix()
	first := mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, quiet)
	bucket := first.core.storage
	first.core.storage = &steps{storage: bucket, before: func([]byte) { t.Error("it writes") }}
	must.Do(t, first.merger.merge(t.Context()))
	first.core.storage = bucket
	must.Do(t, mustOpenBucket(t, client(server, http.DefaultTransport, 3), prefix, quiet).Apply(t.Context(), []pageindex.Entry{nth(0)}))
	must.Do(t, first.merger.merge(t.Context()))
	if first.core.current().root.Merged != 1 {
		t.Error("it does not merge what another process wrote")
	}
}
