// Package objects keeps an index of ranks in objects: the files of a folder, or the objects of a
// bucket. All comments lie in chunks that never change, and a root names these. Each change is an
// object of the log, whose number no other change has; the root is replaced only as it was read. Both
// are conditional puts, so no update is lost, and a crash at any moment leaves a state that was
// acknowledged. docs/design/page-index-files.md has the reasons, and the form of the objects.
//
// To read it, start with core.go: how a process keeps up with others, and core.append. find.go answers
// lookups, of line.go's list of pieces and reads.go's caches. merging.go and build.go replace the root:
// merger.go and cut.go make new chunks of old ones and changes, sort.go orders more changes than memory
// holds. root.go, chunk.go and item.go turn values into bytes and back. All numbers are big-endian,
// and each byte is covered by a CRC-32: what does not match it is not used. folder.go and bucket.go
// keep the objects.
package objects

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/talkback/talkback/pageindex"
)

// Store is an index in a folder or a bucket. It is safe for concurrent use. A folder belongs to one
// process, a bucket to any number.
type Store struct {
	core    *core
	merger  *merger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	wake    chan struct{} // holds one signal when there is enough to merge

	mu     sync.Mutex
	builds []*build // those that may have files
}

// OpenFolder opens the index in a folder, which it makes if it is missing. The error is of the kind
// Unavailable if another process has it open.
func OpenFolder(ctx context.Context, path string) (*Store, error) {
	return openIn(ctx, path, folderSettings)
}

func openIn(ctx context.Context, path string, set settings) (*Store, error) {
	f, err := openFolder(path)
	c := newCore(f, set)
	c.name, c.advice, c.scratch = "files:"+f.root, "see that the folder can be written to and its disk has room", f.path(scratchFolder)
	if err != nil {
		return nil, c.unavailable(err)
	}
	return open(ctx, c)
}

// OpenBucket opens the index at s3://BUCKET/PREFIX. Region, credentials and the address of the
// service are those of the SDK's default chain; AWS_ENDPOINT_URL_S3 names another service.
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
	return open(ctx, c)
}

// open starts what a store does in the background.
func open(ctx context.Context, c *core) (*Store, error) {
	if _, err := c.refresh(ctx); err != nil {
		return nil, errors.Join(c.unavailable(err), c.storage.close())
	}
	s := &Store{core: c, merger: &merger{core: c, owner: uniqueName()}, wake: make(chan struct{}, 1)}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.stopped.Go(func() { s.merger.run(ctx, s.wake) })
	return s, nil
}

// Close ends all that is under way in this process, and lets go of a folder.
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
	return errors.Join(err, s.core.storage.close())
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
	if now.state.Len() >= s.core.settings.mergeAt || now.last-now.root.Merged >= uint64(s.core.settings.mergeLogs) {
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
	s.builds = append(slices.DeleteFunc(s.builds, (*build).removeIdle), b) // who gives up a build says nothing
	return b, nil
}

// tries is how often a lookup begins again because objects that it needs are gone.
const tries = 5

// Find implements pageindex.Index.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (found pageindex.Found, err error) {
	found.Cost, err = s.read(ctx, func(r *reads, state *State) (err error) {
		found, err = find(ctx, r, state, list, targets)
		return err
	})
	if err != nil {
		return pageindex.Found{}, err
	}
	return found, nil
}

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	_, err := s.read(ctx, func(r *reads, state *State) error {
		root := state.Root()
		for _, product := range state.pendingProducts() {
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
			clear(r.heads)
		}
		return nil
	})
	return err
}

// read reads the index as it is now, and again if a merge has deleted objects that it needs. It
// returns what this and keeping up with others has cost.
func (s *Store) read(ctx context.Context, work func(*reads, *State) error) (cost pageindex.Cost, err error) {
	for range tries {
		keepingUp, err := s.core.refresh(ctx)
		cost.Calls, cost.Waves = cost.Calls+keepingUp.Calls, cost.Waves+keepingUp.Waves
		now := s.core.current()
		if err := cmp.Or(err, now.damage); err != nil {
			return cost, s.core.unavailable(err)
		}
		r := newReads(s.core.storage, s.core.cache)
		err = work(r, now.state)
		cost.Calls, cost.Waves = cost.Calls+r.cost.Calls, cost.Waves+r.cost.Waves
		if err == nil {
			return cost, nil
		}
		if then, other := s.core.latest(ctx); !errors.Is(err, errMissing) || other != nil || then.tag == now.tag {
			return cost, s.core.unavailable(s.core.noteDamage(now, err))
		}
	}
	return cost, s.core.unavailable(errMissing)
}
