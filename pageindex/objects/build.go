package objects

import (
	"context"
	"errors"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// build is a build under way. Its entries are sorted in files of this machine; entries applied
// meanwhile, by any process, stay in the logs.
type build struct {
	core  *core
	id    string
	after uint64

	mu     sync.Mutex
	sorter *Sorter
	ended  bool // its files are deleted
}

// newBuild begins a build, and ends an earlier one.
func newBuild(ctx context.Context, c *core) (*build, error) {
	b := &build{core: c, id: uniqueName()}
	var root Root
	err := c.update(ctx, func(now snapshot) (*Root, error) {
		root = *now.root
		if now.damage != nil {
			root = Root{Merged: now.last, Generation: now.root.Generation + 1}
		}
		b.after = now.last
		root.Build, root.BuildAfter = b.id, b.after
		return &root, nil
	})
	if err == nil {
		err = c.try(ctx, &root)
	}
	if err != nil {
		return nil, err
	}
	folder, err := scratch(c.scratch, "talkback-pages-")
	if err != nil {
		return nil, err
	}
	b.sorter = &Sorter{Folder: folder, Items: c.settings.run}
	return b, nil
}

// try returns an error if the storage ignores the conditions of a put, as some services like S3 do,
// or does not let this process delete objects. Nobody would notice that changes are lost, or that
// what merges replace stays. It tries to put a root again, and to delete an object that does not
// exist.
func (c *core) try(ctx context.Context, root *Root) error {
	for _, was := range []string{"", `"another"`} {
		_, err := c.storage.put(ctx, rootObject, encodeRoot(root), was)
		switch {
		case err == nil:
			return comment.Errorf(comment.Unavailable, "%s cannot keep page numbers: it replaces objects whatever the conditions of PutObject say (If-None-Match, If-Match); name a service that knows conditional writes", c.name)
		case !errors.Is(err, errTaken):
			return err
		}
	}
	return c.storage.remove(ctx, chunkFolder+uniqueName())
}

// end deletes the files of a build on this machine, once no call works on them. A nil build has
// none.
func (b *build) end() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended, b.sorter.items = true, nil
	return os.RemoveAll(b.sorter.Folder)
}

// Add implements pageindex.Build.
func (b *build) Add(ctx context.Context, entries []pageindex.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items, err := itemsOf(entries, b.core.settings.now())
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errOvertaken
	}
	return b.core.unavailable(b.sorter.Add(items))
}

// Finish implements pageindex.Build.
func (b *build) Finish(ctx context.Context, covers string) error {
	err := b.finish(ctx, covers)
	if err == nil {
		err = b.end()
	}
	return b.core.unavailable(err)
}

func (b *build) finish(ctx context.Context, covers string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.core.merging.Acquire(ctx, 1); err != nil {
		return err
	}
	defer b.core.merging.Release(1)
	was, err := b.core.latest(ctx)
	if err != nil {
		return err
	}
	if was.root.Build != b.id {
		return errOvertaken
	}
	through := was.last
	var adding sync.Mutex
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for number := b.after + 1; number <= through; number++ {
		group.Go(func() error {
			log, err := b.core.storage.get(reading, logName(number), "")
			if errors.Is(err, errMissing) {
				return errOvertaken // the build was taken for abandoned
			}
			if err != nil {
				return err
			}
			items, err := decodeFrame(log.data)
			if err != nil {
				return err
			}
			adding.Lock()
			defer adding.Unlock()
			return b.sorter.Add(items)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	made, err := newCutter(ctx, b.core.storage, b.core.settings.chunk, b.core.settings.now()).build(b.sorter.All())
	if err != nil {
		return err
	}
	return b.core.update(ctx, func(now snapshot) (*Root, error) {
		if now.root.Build != b.id {
			return nil, errOvertaken
		}
		return &Root{
			Generation: now.root.Generation + 1, Origin: now.root.Origin, Merged: through, Covers: covers, Chunks: made,
		}, nil
	})
}
