package files

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// build is a build under way. What it adds is sorted in files of its own; what is applied meanwhile
// stays in the logs.
type build struct {
	core *core
	mark *mark

	mu     sync.Mutex
	sorter *chunks.Sorter
}

// newBuild begins a build. An earlier one ends.
func newBuild(c *core) (*build, error) {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.lookAppending(); err != nil {
		return nil, err
	}
	if err := c.closeLog(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.folder.path(buildFolder), privateFolder); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(c.folder.path(buildFolder), "")
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.mark
	c.mark = &mark{folder: path, after: c.last}
	b := &build{core: c, mark: c.mark, sorter: &chunks.Sorter{Folder: path, Items: c.settings.run}}
	if before != nil {
		return b, os.RemoveAll(before.folder)
	}
	return b, nil
}

// check returns an error if a later build has begun.
func (b *build) check() error {
	if err := b.core.look(); err != nil {
		return err
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.mark != b.mark {
		return errOvertaken
	}
	return nil
}

// Add implements pageindex.Build.
func (b *build) Add(ctx context.Context, entries []pageindex.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items, err := chunks.Items(entries, b.core.settings.now())
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err = b.check()
	if err == nil {
		err = b.sorter.Add(items)
	}
	if err != nil {
		return b.core.failure(err)
	}
	return nil
}

// Finish implements pageindex.Build.
func (b *build) Finish(ctx context.Context, covers string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.core.merging.Lock()
	defer b.core.merging.Unlock()
	if err := b.finish(ctx, covers); err != nil {
		return b.core.failure(err)
	}
	if err := os.RemoveAll(b.mark.folder); err != nil {
		return b.core.failure(err)
	}
	return nil
}

func (b *build) finish(ctx context.Context, covers string) error {
	if err := b.check(); err != nil {
		return err
	}
	state, through, err := b.core.endLog()
	if err != nil {
		return err
	}
	for number := b.mark.after + 1; number <= through; number++ {
		items, _, err := b.core.folder.readLog(number)
		if err == nil {
			err = b.sorter.Add(items)
		}
		if err != nil {
			return fmt.Errorf("what was applied during the build: %w", err)
		}
	}
	made, err := b.core.merger().Build(ctx, b.sorter.All())
	if err != nil {
		return b.core.unmade(state, err)
	}
	root := &pagefile.Root{Generation: state.Root().Generation + 1, Merged: through, Covers: covers, Chunks: made}
	return b.core.replace(state, root, b.mark)
}
