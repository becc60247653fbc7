package objects

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
)

// lastWords is how long a process that is asked to stop goes on taking or freeing the lease.
const lastWords = 3 * time.Second

var errOvertaken = comment.Errorf(comment.Conflict, "a later build of the page index has begun, or its objects were replaced")

// merger merges in the background of one process.
type merger struct {
	*core
	owner string
	// held is another process's lease as last seen, and since when it has not changed.
	held  string
	since time.Time
	// collected is the time of the last garbage collection.
	collected time.Time
}

// run merges at each wake signal and at each interval, until the context ends.
func (m *merger) run(ctx context.Context, wake <-chan struct{}) {
	ticker := time.NewTicker(m.settings.mergeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-ticker.C:
		}
		err := m.merge(ctx)
		m.mu.Lock()
		m.failed = err
		m.mu.Unlock()
	}
}

// merge merges, unless another process has the lease. It does not compare clocks of different
// machines: a lease expires when it has not changed for a while by the local clock. Without a root
// there is nothing to merge, and a lease would be taken for an object of another program.
func (m *merger) merge(ctx context.Context) error {
	if now, err := m.latest(ctx); err != nil || now.tag == "" {
		return err
	}
	there, err := m.storage.get(ctx, leaseObject, "")
	if failure(err) != nil {
		return err
	}
	if len(there.data) > 0 {
		if there.tag != m.held {
			m.held, m.since = there.tag, time.Now()
		}
		if time.Since(m.since) < m.settings.lease {
			return nil
		}
	}
	ending, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a write that is broken off may still take the lease
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	lease, err := m.storage.put(ending, leaseObject, []byte(m.owner+" "+uniqueName()), there.tag)
	if errors.Is(err, errTaken) {
		return nil // by another process; or our answer was lost, and the lease expires by itself
	}
	if err != nil {
		return err
	}
	err = m.mergeLeased(ctx)
	_, freed := m.storage.put(ending, leaseObject, nil, lease)
	if errors.Is(freed, errTaken) {
		freed = nil // another process took it over
	}
	return errors.Join(err, freed)
}

// mergeLeased merges, and collects garbage if that is due. The caller's process has the lease.
func (m *merger) mergeLeased(ctx context.Context) error {
	if err := m.merging.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.merging.Release(1)
	err := m.mergeLogs(ctx)
	if err == nil && time.Since(m.collected) >= m.settings.collectEvery {
		m.collected = time.Now()
		err = m.collect(ctx)
	}
	return err
}

// mergeLogs merges the logs written so far into chunks.
func (m *merger) mergeLogs(ctx context.Context) error {
	was, err := m.latest(ctx)
	if err != nil {
		return err
	}
	if was.damage != nil || was.last == was.root.Merged {
		return was.damage
	}
	m.mu.Lock()
	changes := m.changes.items(was.last)
	m.mu.Unlock()
	made, err := newCutter(ctx, m.storage, m.settings.chunk, m.settings.now()).merge(was.root, changes)
	if err != nil {
		return m.noteDamage(was, err)
	}
	return m.update(ctx, func(now snapshot) (*Root, error) {
		if now.root.Generation != was.root.Generation || now.root.Origin != was.root.Origin {
			return nil, errOvertaken
		}
		return mergedRoot(*now.root, was.last, made), nil
	})
}

// mergedRoot returns the root after a merge of the logs up to through. It keeps the root's build,
// which may have begun after that log was read, unless it holds back too many logs.
func mergedRoot(root Root, through uint64, made []Chunk) *Root {
	root.Generation, root.Merged, root.Chunks = root.Generation+1, through, made
	if root.Merged > root.BuildAfter+mostBuildLogs {
		root.Build = ""
	}
	return &root
}

// collect deletes unneeded objects, once they are so old that no process is about to read or name
// them. Ages are by the storage's clock.
func (m *merger) collect(ctx context.Context) error {
	now, err := m.latest(ctx)
	if err != nil {
		return err
	}
	root := now.root
	needed := map[string]bool{}
	for i := range root.Chunks {
		for _, kind := range []Kind{Records, Guards} {
			needed[root.Chunks[i].objectName(kind)] = true
		}
	}
	keep := root.Merged
	if root.Build != "" {
		keep = min(keep, root.BuildAfter)
	}
	logs, err := m.storage.list(ctx, logFolder) // with errMore, these are the oldest, and can be deleted
	for _, o := range logs {
		if number, ok := logNumber(o.name); ok && number <= keep && o.age >= m.settings.logGrace {
			err = errors.Join(err, m.storage.remove(ctx, o.name))
		}
	}
	files, listing := m.storage.list(ctx, chunkFolder)
	err = errors.Join(err, listing)
	for _, o := range files {
		if !needed[o.name] && chunkFile.MatchString(o.name) && o.age >= m.settings.chunkGrace {
			err = errors.Join(err, m.storage.remove(ctx, o.name))
		}
	}
	return err
}
