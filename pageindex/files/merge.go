package files

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

var errOvertaken = comment.Errorf(comment.Conflict, "a later build of the page index has begun, or its files were replaced")

// mergeNowAndThen merges at each signal and at each interval, until the context ends.
func (c *core) mergeNowAndThen(ctx context.Context, wake <-chan struct{}) {
	ticker := time.NewTicker(c.settings.mergeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-ticker.C:
		}
		c.setFailed(c.merge(ctx))
	}
}

// merge brings the changes so far into chunks.
func (c *core) merge(ctx context.Context) error {
	c.merging.Lock()
	defer c.merging.Unlock()
	state, through, err := c.endLog()
	if err != nil {
		return err
	}
	old := state.Root()
	if _, damage := c.current(); damage != nil || through == old.Merged {
		return damage
	}
	made, err := c.merger().Merge(ctx, old, state.Pending(through))
	if err != nil {
		return c.unmade(state, err)
	}
	root := *old
	root.Generation, root.Merged, root.Chunks = old.Generation+1, through, made
	return c.replace(state, &root, nil)
}

func (c *core) merger() *chunks.Merger {
	return &chunks.Merger{Reader: c.folder, Writer: c.folder, Now: c.settings.now(), Size: c.settings.chunk}
}

// unmade deletes the chunks of a merge that failed.
func (c *core) unmade(state *chunks.State, err error) error {
	if errors.Is(err, pagefile.ErrDamaged) {
		c.setDamage(state, err)
	}
	return errors.Join(err, c.folder.removeChunks(state.Root()))
}

// replace makes a root that of the folder and of the state, and deletes what is needed no more. A
// build that the root is of ends. The caller holds merging.
func (c *core) replace(state *chunks.State, root *pagefile.Root, of *mark) error {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.lookAppending(); err != nil {
		return err
	}
	if !c.swap(state, of) {
		return errors.Join(errOvertaken, c.folder.removeChunks(c.state.Root()))
	}
	info, err := c.folder.setRoot(root)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.swapping = false
	if err != nil {
		return errors.Join(err, c.reload()) // it may be one or the other
	}
	c.rootInfo = info
	keep := root.Merged
	switch {
	case of != nil:
		c.mark = nil
	case c.mark != nil:
		keep = min(keep, c.mark.after)
	}
	if of != nil && c.damage != nil {
		c.damage, c.state = nil, chunks.NewState(root)
		if err := c.replay(root.Merged); err != nil {
			return c.loadDamaged(err)
		}
	}
	c.state.Replace(root)
	return errors.Join(c.folder.removeChunks(root), c.folder.removeLogs(keep))
}

// swap begins the replacement of the root of a state, for a build if a mark is given.
func (c *core) swap(state *chunks.State, of *mark) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.swapping = c.state == state && (of == nil || c.mark == of)
	return c.swapping
}
