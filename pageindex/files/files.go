// Package files keeps an index of ranks in a folder. It belongs to one process. Changes are appended
// to a log, which is on the disk before they are acknowledged, and from time to time they are merged
// into new chunks. A new root, renamed into its place, then names these in place of the old ones. So
// a crash at any moment leaves a state that was acknowledged. docs/design/page-index-files.md has
// the reasons, and the form of the files.
//
// To read it, start with core.go: what is known of a folder, and core.apply. merge.go and build.go
// replace the root; folder.go and log.go write the files.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// Store is a folder with an index. It is safe for concurrent use.
type Store struct {
	core    *core
	stop    context.CancelFunc
	stopped sync.WaitGroup
	wake    chan struct{} // holds one signal when there is enough to merge
}

// Open opens the index in a folder, which it makes if it is missing. The error is of the kind
// Unavailable if another process has it open.
func Open(ctx context.Context, folder string) (*Store, error) { return open(ctx, folder, defaults) }

func open(ctx context.Context, name string, set settings) (*Store, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	s := &Store{core: &core{folder: folder(path), settings: set, cache: chunks.NewCache()}, wake: make(chan struct{}, 1)}
	if err := s.core.load(); err != nil {
		if s.core.lock != nil {
			err = errors.Join(err, s.core.lock.Unlock())
		}
		return nil, s.core.failure(err)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.stopped.Go(func() { s.core.mergeNowAndThen(ctx, s.wake) })
	return s, nil
}

// Close ends all that is under way and lets go of the folder. What was applied stays.
func (s *Store) Close() error {
	s.stop()
	s.stopped.Wait()
	c := s.core
	c.merging.Lock()
	defer c.merging.Unlock()
	c.appending.Lock()
	defer c.appending.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed, c.mark = true, nil
	return errors.Join(c.closeLog(), os.RemoveAll(c.folder.path(buildFolder)), c.lock.Unlock())
}

// Covers implements pageindex.Store.
func (s *Store) Covers(ctx context.Context) (string, error) {
	if err := s.core.look(); err != nil {
		return "", s.core.failure(err)
	}
	state, damage := s.core.current()
	if damage != nil {
		return "", nil
	}
	return state.Root().Covers, ctx.Err()
}

// Apply implements pageindex.Store.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	items, err := chunks.Items(entries, s.core.settings.now())
	if err != nil {
		return err
	}
	if err := s.core.apply(items); err != nil {
		return s.core.failure(err)
	}
	if state, _ := s.core.current(); state.Len() >= s.core.settings.mergeAt {
		select {
		case s.wake <- struct{}{}:
		default: // a signal is waiting already
		}
	}
	return nil
}

// Build implements pageindex.Store.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := newBuild(s.core)
	if err != nil {
		return nil, s.core.failure(err)
	}
	return b, nil
}

// tries is how often a lookup begins again because a merge has deleted files that it needs.
const tries = 5

// Find implements pageindex.Index.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (found pageindex.Found, err error) {
	err = s.looking(func(index *chunks.Index) (err error) {
		found, err = index.Find(ctx, list, targets)
		return err
	})
	return found, err
}

// Products implements pageindex.Lister.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	return s.looking(func(index *chunks.Index) error { return index.Products(ctx, tell) })
}

// looking reads the index, and begins again if the state has changed meanwhile.
func (s *Store) looking(read func(*chunks.Index) error) (err error) {
	for again, try := true, 0; again && try < tries; try++ {
		if again, err = s.look(read); err == nil {
			return nil
		}
	}
	return s.core.failure(err)
}

// look is one try of looking. It reports whether the state has changed meanwhile.
func (s *Store) look(read func(*chunks.Index) error) (changed bool, err error) {
	if err := s.core.look(); err != nil {
		return false, err
	}
	state, damage := s.core.current()
	if damage != nil {
		return false, damage
	}
	root := state.Root()
	err = read(&chunks.Index{State: state, Reader: s.core.folder, Cache: s.core.cache})
	if errors.Is(err, fs.ErrNotExist) {
		if now, _ := s.core.current(); now != state || now.Root() != root {
			return true, err
		}
		err = fmt.Errorf("%w: %w", pagefile.ErrDamaged, err)
	}
	if errors.Is(err, pagefile.ErrDamaged) {
		s.core.setDamage(state, err)
	}
	return false, err
}
