// Package objects keeps an index of ranks in objects: files of a folder, or objects of a bucket.
// All comments lie in chunks that never change, and a root lists the chunks. Each change is an
// object of the log, with a number of its own; the root is replaced only if it is still the one
// that was read. Both are conditional puts, so no update is lost, and a crash at any moment leaves
// a consistent state. docs/design/page-index-files.md gives the reasons and the format.
//
// Start with core.go: how a process keeps up with others, and core.append. find.go answers lookups
// with line.go's list of pieces and reads.go's caches. merging.go and build.go replace the root:
// cut.go makes new chunks from old ones and changes, sort.go sorts more changes than fit into
// memory. root.go and item.go encode values and decode them. All numbers are big-endian. A CRC-32
// covers each byte, and bytes that do not match it are not used. folder.go and bucket.go store the
// objects.
package objects

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/talkback/talkback/pageindex"
)

// Store is an index in a folder or a bucket. It is safe for concurrent use. One process at a time
// uses a folder; any number share a bucket.
type Store struct {
	core    *core
	merger  *merger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	wake    chan struct{} // holds one signal when there is enough to merge

	mu    sync.Mutex
	build *build // the last one, nil for none
}

// OpenFolder opens the index in a folder, and creates the folder if it is missing. The error is of
// the kind Unavailable if another process has it open.
func OpenFolder(ctx context.Context, path string) (*Store, error) {
	return openIn(ctx, path, folderSettings)
}

func openIn(ctx context.Context, path string, set settings) (*Store, error) {
	f := &folder{root: path}
	root, err := filepath.Abs(path)
	if err == nil { // else the working directory was deleted
		f.root = root
		err = f.claim()
	}
	c := newCore(f, set)
	c.name, c.advice, c.scratch = "files:"+f.root, "see that the folder can be written to and its disk has room", f.path(scratchFolder)
	if err != nil {
		if f.lock != nil {
			_ = f.lock.Unlock() // the next attempt takes it again
		}
		return nil, c.unavailable(err)
	}
	return open(ctx, c)
}

// OpenBucket opens the index at s3://BUCKET/PREFIX. The SDK's default chain provides region,
// credentials and endpoint; AWS_ENDPOINT_URL_S3 names another service.
func OpenBucket(ctx context.Context, target string) (*Store, error) {
	b, err := openBucket(ctx, target)
	if err != nil {
		return nil, err
	}
	return openAt(ctx, b, bucketSettings)
}

func openAt(ctx context.Context, b *bucket, set settings) (*Store, error) {
	c := newCore(b, set)
	c.name = "s3://" + b.name + "/" + strings.TrimSuffix(b.prefix, "/")
	c.advice = "see that the bucket exists, and that this process may list, read, write and delete its objects"
	if err := b.refuseOthers(ctx); err != nil {
		return nil, c.unavailable(err)
	}
	return open(ctx, c)
}

// open reads the state, and starts merging in the background.
func open(ctx context.Context, c *core) (*Store, error) {
	if _, err := c.refresh(ctx); err != nil {
		return nil, errors.Join(c.unavailable(err), c.storage.close())
	}
	s := &Store{core: c, merger: &merger{core: c, owner: uniqueName()}, wake: make(chan struct{}, 1)}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.stopped.Go(func() { s.merger.run(ctx, s.wake) })
	return s, nil
}

// Close stops the background work of this process, and releases the storage.
func (s *Store) Close() error {
	s.stop()
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.build.end(), s.core.storage.close())
}

// Covers implements pageindex.Store.
func (s *Store) Covers(ctx context.Context) (string, error) {
	now, err := s.core.latest(ctx)
	if err != nil {
		return "", s.core.unavailable(err)
	}
	if now.damage != nil {
		return "", nil
	}
	return now.root.Covers, nil
}

// Renew implements pageindex.Renewer.
func (s *Store) Renew(ctx context.Context, was, covers string) error {
	return s.core.unavailable(s.core.update(ctx, func(now snapshot) (*Root, error) {
		if now.damage != nil || now.root.Covers != was {
			return nil, errOvertaken
		}
		root := *now.root
		root.Covers = covers
		return &root, nil
	}))
}

// Apply implements pageindex.Store.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	items, err := itemsOf(entries, s.core.settings.now())
	if err != nil {
		return err
	}
	if err := s.core.append(ctx, items); err != nil {
		return s.core.unavailable(err)
	}
	now := s.core.current()
	if now.waiting >= s.core.settings.mergeAt || now.last-now.root.Merged >= uint64(s.core.settings.mergeLogs) {
		select {
		case s.wake <- struct{}{}:
		default: // a signal is waiting already
		}
	}
	return nil
}

// Build implements pageindex.Store.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.build.end() // builds may be abandoned without notice
	if err == nil {
		s.build, err = newBuild(ctx, s.core)
	}
	if err != nil {
		return nil, s.core.unavailable(err)
	}
	return s.build, nil
}

// tries is how often a lookup is attempted while objects that it needs disappear.
const tries = 5

// Find implements pageindex.Index.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (found pageindex.Found, err error) {
	found.Cost, err = s.read(ctx, func(r *reads) (err error) {
		found, err = s.core.find(ctx, r, list, targets)
		return err
	})
	if err != nil {
		return pageindex.Found{}, err
	}
	return found, nil
}

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	_, err := s.read(ctx, func(r *reads) error {
		s.core.mu.Lock()
		root, changed := s.core.snapshot.root, slices.Collect(maps.Keys(s.core.changes.products))
		s.core.mu.Unlock()
		for _, product := range changed {
			tell(product)
		}
		for i := range root.Chunks {
			c := &root.Chunks[i]
			var head *Head
			if err := r.until(ctx, func() { head = r.head(c, Records) }); err != nil {
				return err
			}
			for _, p := range head.Products {
				tell(p.ID)
			}
			clear(r.heads.read)
		}
		return nil
	})
	return err
}

// read reads the index in its latest state, and starts over if a merge has deleted objects that it
// needs. The cost includes that of updating the state.
func (s *Store) read(ctx context.Context, work func(*reads) error) (cost pageindex.Cost, err error) {
	for range tries {
		keepingUp, err := s.core.refresh(ctx)
		cost.Add(keepingUp)
		now := s.core.current()
		if err := cmp.Or(err, now.damage); err != nil {
			return cost, s.core.unavailable(err)
		}
		r := newReads(s.core.storage, s.core.cache)
		err = work(r)
		cost.Add(r.cost)
		if err == nil {
			return cost, nil
		}
		if then, other := s.core.latest(ctx); !errors.Is(err, errMissing) || other != nil || then.tag == now.tag {
			return cost, s.core.unavailable(s.core.noteDamage(now, err))
		}
	}
	return cost, s.core.unavailable(errMissing)
}
