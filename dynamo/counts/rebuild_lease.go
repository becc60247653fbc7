package counts

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
)

// rebuildLease is the work of a rebuild, and how far it came. It is safe for concurrent use.
type rebuildLease struct {
	*leases.Work

	mu       sync.Mutex // guards progress
	progress rebuildProgress
}

// newRebuildLease makes the work of a rebuild that has not begun.
func newRebuildLease(client leases.WorkClient, table, who, engine string, heartbeat time.Duration) *rebuildLease {
	l := &rebuildLease{}
	l.Work = leases.NewWork(leases.WorkOptions{
		Client: client, Table: table, Key: rebuildKey(), Name: "a rebuild", Who: who, Engine: engine, Heartbeat: heartbeat,
		Progress: func() layout.Item { return l.snapshot().attributes() },
	})
	return l
}

// acquire starts a rebuild, or takes over an interrupted one.
func (l *rebuildLease) acquire(ctx context.Context) error {
	it, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	before, err := decodeRebuild(it)
	l.update(func(p *rebuildProgress) { *p = before })
	return err
}

// update changes what is saved with the next heartbeat.
func (l *rebuildLease) update(change func(*rebuildProgress)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.progress)
}

// snapshot returns the current progress.
func (l *rebuildLease) snapshot() rebuildProgress {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.progress
	now.segments = slices.Clone(now.segments)
	return now
}

// RebuildStatus is what other processes can see of a rebuild. The zero value is no rebuild.
type RebuildStatus struct {
	// Who describes the process that rebuilds.
	Who string
	// Items is how many items of the table were scanned.
	Items int64
	// Interrupted says that no process continues it.
	Interrupted bool
}

// CurrentRebuild returns the rebuild of a table that is under way or was interrupted.
func CurrentRebuild(ctx context.Context, client leases.WorkClient, table string) (RebuildStatus, error) {
	it, err := newRebuildLease(client, table, "", "", 0).Read(ctx)
	if err != nil || len(it) == 0 {
		return RebuildStatus{}, err
	}
	now, err := decodeRebuild(it)
	holder := leases.HolderOf(it)
	return RebuildStatus{Who: holder.Who, Items: now.scanned, Interrupted: holder.Interrupted}, err
}
