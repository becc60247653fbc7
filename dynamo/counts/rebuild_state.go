package counts

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/stream"
)

// RebuildProgress is how far a rebuild came.
type RebuildProgress struct {
	// Items is how many items of the table were scanned, including before an interruption.
	Items int64
	// Products is how many products were recounted since the last interruption.
	Products int
}

// RebuildResult says what a rebuild did, since the last interruption if there was one.
type RebuildResult struct {
	// Products is how many products were recounted.
	Products int
	// Comments is how many comments were counted wrongly: not at all, in another cell, or although
	// they were gone.
	Comments int
	// Refiled is how many comments had wrong index keys of lists or of the queue.
	Refiled int
	// Recounted is how many comments showed wrong numbers of votes.
	Recounted int
	// Repaired is how many products had statistics or places on leaderboards that did not match
	// their markers.
	Repaired int
	// Resumed is whether it continued an interrupted rebuild.
	Resumed bool
	// Improper lists malformed items that no rebuild can fix: comments without a language or a
	// rating, which are not counted. It lacks those seen before an interruption.
	Improper []layout.Improper
	// Failed lists products whose statistics were not corrected, because DynamoDB refuses the
	// write.
	Failed []string
	// Complete is whether the statistics are known to be complete. It is false if records of the
	// stream were lost meanwhile, which requires another rebuild, or if products failed.
	Complete bool
}

// RebuildStatus describes a rebuild to other processes. The zero value means no rebuild.
type RebuildStatus struct {
	// Who describes the process that rebuilds.
	Who string
	// Items is how many items of the table were scanned.
	Items int64
	// Interrupted is whether no process works on it.
	Interrupted bool
}

// CurrentRebuild returns the rebuild of a table that is under way or was interrupted.
func CurrentRebuild(ctx context.Context, client leases.WorkClient, table string) (RebuildStatus, error) {
	it, err := readRebuild(ctx, client, table)
	if err != nil || len(it) == 0 {
		return RebuildStatus{}, err
	}
	now, err := decodeRebuild(it)
	holder := leases.HolderOf(it)
	return RebuildStatus{Who: holder.Who, Items: now.scanned, Interrupted: holder.Interrupted}, err
}

func readRebuild(ctx context.Context, client leases.WorkClient, table string) (layout.Item, error) {
	return leases.NewWork(leases.WorkOptions{Client: client, Table: table, Key: rebuildKey(), Name: rebuildName}).Read(ctx)
}

func rebuildKey() layout.Item { return layout.Key(settingsPK, rebuildSK) }

// The item of a rebuild that is under way or was interrupted.
const (
	rebuildName  = "a rebuild"
	rebuildSK    = "REBUILD"
	attrScanned  = "sc" // N, items of the table that were scanned
	attrBegan    = "be" // N, milliseconds since 1970, of the beginning before any interruption
	attrLabel    = "la" // S, of the stream at the beginning, empty if none was read
	attrGapFound = "gf" // N, milliseconds since 1970, of the gap at the beginning, if any
	attrSegments = "sg" // L of M, a segment each: the key after which it continues, or attrDone
	attrDone     = "d"  // BOOL
)

// mostSegments bounds the size of the item, which holds a key for each segment.
const mostSegments = 1500

// rebuildForgets is how long an interrupted rebuild can be resumed.
const rebuildForgets = 12 * time.Hour

// rebuildProgress is the progress of a rebuild.
type rebuildProgress struct {
	// saved is when a rebuild that is resumed was last saved.
	saved    time.Time
	shards   int
	scanned  int64
	segments []segmentProgress
	// began is when it began, before any interruption, and stream is the state of the stream at
	// that time.
	began  time.Time
	stream stream.State
}

// segmentProgress is how far a segment of the table is scanned.
type segmentProgress struct {
	start layout.Item // nil at the beginning
	done  bool
}

func gapFields(g *stream.Gap) layout.Fields {
	return layout.Fields{attrGapFound: &g.Found, "gs": &g.Shard, "gw": &g.Reason}
}

func (p rebuildProgress) attributes() layout.Item {
	out := layout.Item{}
	out[attrShards] = layout.Number(int64(p.shards))
	out[attrScanned] = layout.Number(p.scanned)
	out[attrBegan] = layout.Time(p.began)
	out[attrLabel] = layout.Text(p.stream.Label)
	if gap := p.stream.Gap; gap != nil {
		gapFields(gap).Write(out)
		out[attrGapFound] = layout.Time(gap.Found) // even a zero time, which stands for a gap as well
	}
	segments := make([]types.AttributeValue, len(p.segments))
	for i, s := range p.segments {
		value := s.start
		if s.done {
			value = layout.Item{attrDone: layout.Flag(true)}
		}
		segments[i] = &types.AttributeValueMemberM{Value: value}
	}
	out[attrSegments] = &types.AttributeValueMemberL{Value: segments}
	return out
}

// decodeRebuild decodes the progress of a rebuild. An empty item means no rebuild.
func decodeRebuild(in layout.Item) (rebuildProgress, error) {
	if len(in) == 0 {
		return rebuildProgress{}, nil
	}
	r := layout.NewReader(in)
	p := rebuildProgress{
		saved: leases.HolderOf(in).Saved, shards: int(r.Number(attrShards)), scanned: r.Number(attrScanned),
		began: r.Time(attrBegan), stream: stream.State{Label: r.Text(attrLabel)},
	}
	if in[attrGapFound] != nil {
		p.stream.Gap = &stream.Gap{}
		gapFields(p.stream.Gap).Read(r)
	}
	segments, ok := in[attrSegments].(*types.AttributeValueMemberL)
	if !ok || r.Err() != nil {
		return p, fmt.Errorf("item %s/%s does not say how far the rebuild came: delete it, and run the rebuild again", settingsPK, rebuildSK)
	}
	for _, value := range segments.Value {
		var s segmentProgress
		if m, ok := value.(*types.AttributeValueMemberM); ok && len(m.Value) > 0 {
			if s.done = m.Value[attrDone] != nil; !s.done {
				s.start = m.Value
			}
		}
		p.segments = append(p.segments, s)
	}
	return p, nil
}

// goesOn reports whether a rebuild for a number of shards can resume this one. The stream must
// still hold all changes since this one was last saved, and no records may be known to be lost
// since it began.
func (p rebuildProgress) goesOn(shards int, now time.Time, known stream.State) bool {
	return len(p.segments) > 0 && p.shards == shards && now.Sub(p.saved) < rebuildForgets &&
		(p.stream.Label == "" || p.stream.Label == known.Label) && p.stream.Gap.Same(known.Gap)
}
