package counts

import (
	"context"
	"time"
)

// RebuildStatus is what other processes can see of a rebuild. The zero value is no rebuild.
type RebuildStatus struct {
	// Who describes the process that rebuilds.
	Who string
	// Items is how many items of the table were scanned.
	Items int64
	// Interrupted says that no process continues it.
	Interrupted bool
}

// silence is how long a rebuild may save nothing before it counts as interrupted.
const silence = rebuildPatience * rebuildHeartbeat

// CurrentRebuild returns the rebuild of a table that is under way or was interrupted.
func CurrentRebuild(ctx context.Context, client progressClient, table string) (RebuildStatus, error) {
	now, err := (&rebuildLease{client: client, table: table}).read(ctx)
	if err != nil || now.heartbeat == 0 {
		return RebuildStatus{}, err
	}
	return RebuildStatus{Who: now.who, Items: now.scanned, Interrupted: now.owner == "" || time.Since(now.saved) > silence}, nil
}
