package counts

import (
	"context"
	"time"
)

// RebuildStatus is what others can see of a rebuild. The zero value is none.
type RebuildStatus struct {
	// Who is at it, in words.
	Who string
	// Items are those of the table that were looked at.
	Items int64
	// Interrupted says that nobody goes on with it.
	Interrupted bool
}

// silence is for how long a rebuild may say nothing before it is taken to be interrupted.
const silence = rebuildPatience * rebuildHeartbeat

// CurrentRebuild is the rebuild of a table that is under way or was interrupted.
func CurrentRebuild(ctx context.Context, client progressClient, table string) (RebuildStatus, error) {
	now, err := (&rebuildLease{client: client, table: table}).read(ctx)
	if err != nil || now.heartbeat == 0 {
		return RebuildStatus{}, err
	}
	return RebuildStatus{Who: now.who, Items: now.scanned, Interrupted: now.owner == "" || time.Since(now.saved) > silence}, nil
}
