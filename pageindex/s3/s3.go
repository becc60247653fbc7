// Package s3 keeps an index of ranks in a bucket of Amazon S3, or of a service like it. Several
// processes may share it. The chunks and the root are those of package files. Each change is an
// object of the log, whose number nobody else has taken; the root is replaced only as the one that
// was read. Both are conditional puts, so no update is lost. docs/design/page-index-files.md has the
// reasons.
//
// To read it, start with core.go: how a process keeps up with others, and core.append. merge.go and
// build.go replace the root; bucket.go makes the calls.
package s3

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// Store is a bucket with an index. It is safe for concurrent use, by several processes.
type Store struct {
	core    *core
	merger  *merger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	wake    chan struct{} // holds one signal when there is enough to merge

	mu     sync.Mutex
	builds []*build // those whose files have to be deleted
}

// Open opens the index at s3://BUCKET/PREFIX. Region, credentials and the address of the service are
// those of the SDK's default chain; AWS_ENDPOINT_URL_S3 names another service.
func Open(ctx context.Context, target string) (*Store, error) {
	name, prefix, err := parse(target)
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = idleConnections
	})))
	if err != nil {
		return nil, &comment.Error{Kind: comment.Unavailable, Cause: err, Message: "the AWS configuration for the page index cannot be used: see AWS_PROFILE and AWS_REGION"}
	}
	return open(ctx, s3.NewFromConfig(cfg, clientOptions), name, prefix, defaults)
}

// idleConnections is how many connections are kept for the next calls.
const idleConnections = 64

// clientOptions are those that the SDK does not take from the environment. A service at an address
// of its own has no domain for each bucket, and need not know the SDK's checksums: every object has
// its own.
func clientOptions(o *s3.Options) {
	if o.BaseEndpoint != nil {
		o.UsePathStyle = true
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
}

// parse reads s3://BUCKET/PREFIX.
func parse(target string) (bucket, prefix string, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", "", comment.Errorf(comment.BadInput, "the bucket of the page index cannot be read: give s3://BUCKET/PREFIX, and keys as AWS's own environment has them")
	}
	if prefix = strings.Trim(u.Path, "/"); prefix != "" {
		prefix += "/"
	}
	return u.Host, prefix, nil
}

func open(ctx context.Context, client *s3.Client, name, prefix string, set settings) (*Store, error) {
	c := &core{
		bucket: &bucket{client: client, name: name, prefix: prefix}, name: "s3://" + name + "/" + strings.TrimSuffix(prefix, "/"),
		settings: set, cache: chunks.NewCache(), appending: newTurn(), merging: newTurn(), state: chunks.NewState(&pagefile.Root{}),
	}
	if _, _, err := c.refresh(ctx); err != nil {
		return nil, c.unavailable(err)
	}
	s := &Store{core: c, merger: &merger{core: c, owner: newName()}, wake: make(chan struct{}, 1)}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.stopped.Go(func() { s.merger.run(ctx, s.wake) })
	return s, nil
}

// Close ends all that is under way in this process.
func (s *Store) Close() error {
	s.stop()
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, b := range s.builds {
		err = errors.Join(err, b.remove())
	}
	s.builds = nil
	return err
}

// Covers implements pageindex.Store.
func (s *Store) Covers(ctx context.Context) (string, error) {
	if _, _, err := s.core.refresh(ctx); err != nil {
		return "", s.core.unavailable(err)
	}
	now := s.core.known()
	if now.damage != nil {
		return "", nil
	}
	return now.root.Covers, nil
}

// Apply implements pageindex.Store.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	items, err := chunks.Items(entries, time.Now())
	if err != nil {
		return err
	}
	if err := s.core.append(ctx, items); err != nil {
		return s.core.unavailable(err)
	}
	now := s.core.known()
	if now.state.Len() >= s.core.settings.mergeAt || now.read-now.root.Merged >= uint64(s.core.settings.mergeLogs) {
		select {
		case s.wake <- struct{}{}:
		default: // a signal is waiting already
		}
	}
	return nil
}

// Build implements pageindex.Store.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	b, err := newBuild(ctx, s.core)
	if err != nil {
		return nil, s.core.unavailable(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.builds = append(s.builds, b)
	return b, nil
}

// tries is how often a lookup begins again because objects that it needs are gone.
const tries = 5

// Find implements pageindex.Index.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	var cost pageindex.Cost
	var found pageindex.Found
	err := s.looking(ctx, &cost, func(index *chunks.Index) (err error) {
		found, err = index.Find(ctx, list, targets)
		cost.Calls, cost.Waves = cost.Calls+found.Cost.Calls, cost.Waves+found.Cost.Waves
		return err
	})
	if err != nil {
		return pageindex.Found{}, err
	}
	found.Cost = cost
	return found, nil
}

// Products implements pageindex.Lister.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	return s.looking(ctx, &pageindex.Cost{}, func(index *chunks.Index) error { return index.Products(ctx, tell) })
}

// looking reads the index, and begins again if objects that it needs are gone because the root has
// changed. It adds what keeping up with others costs.
func (s *Store) looking(ctx context.Context, cost *pageindex.Cost, read func(*chunks.Index) error) error {
	for try := 1; ; try++ {
		calls, waves, err := s.core.refresh(ctx)
		cost.Calls, cost.Waves = cost.Calls+calls, cost.Waves+waves
		if err != nil {
			return s.core.unavailable(err)
		}
		now := s.core.known()
		if now.damage != nil {
			return s.core.unavailable(now.damage)
		}
		err = read(&chunks.Index{State: now.state, Reader: s.core.bucket, Cache: s.core.cache})
		if err == nil {
			return nil
		}
		if errors.Is(err, errMissing) && try < tries && s.changed(ctx, now) {
			continue
		}
		return s.core.unavailable(s.core.noteDamage(now, err))
	}
}

// changed reports whether the root is another by now.
func (s *Store) changed(ctx context.Context, was known) bool {
	_, _, err := s.core.refresh(ctx)
	return err == nil && s.core.known().etag != was.etag
}
