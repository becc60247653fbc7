package counts

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// The item of a rebuild that is under way, or was interrupted.
const (
	rebuildSK     = "REBUILD"
	attrOwner     = "ow"  // S, of a rebuild under way; left out of one that was interrupted and knew it
	attrWho       = "who" // S, the same for people
	attrEngine    = "en"  // S, the run of the engine that the owner works through; left out where that tells nothing
	attrHeartbeat = "bt"  // N, rises with every write
	attrSaved     = "sv"  // N, seconds since 1970, of the last write
	attrScanned   = "sc"  // N, items of the table that were looked at
	attrBegan     = "be"  // N, milliseconds since 1970, of the beginning, also before an interruption
	attrLabel     = "la"  // S, of the stream at the beginning, empty if none was read
	attrGapFound  = "gf"  // N, milliseconds since 1970, of the gap at the beginning; left out when there was none
	attrGapShard  = "gs"  // S, of that gap
	attrGapWhy    = "gw"  // S, of that gap
	attrSegments  = "sg"  // L of M, for each segment the key after which it goes on, none at its beginning; or attrDone
	attrDone      = "d"   // BOOL
)

// rebuildForgets is for how long an interrupted rebuild can be resumed.
const rebuildForgets = 12 * time.Hour

// rebuildProgress is how far a rebuild came.
type rebuildProgress struct {
	// owner is empty when nobody is at it. who is the owner in words.
	owner, who string
	// engine is the run of the engine that the owner works through, empty where that tells nothing.
	engine    string
	heartbeat int64
	saved     time.Time
	// shards is the number of shards of the leaderboard that it works for.
	shards   int
	scanned  int64
	segments []segmentProgress
	// began is when it began, also before an interruption, and stream what was known of the stream then.
	began  time.Time
	stream stream.State
}

// segmentProgress is how far a segment of the table is processed.
type segmentProgress struct {
	start layout.Item // nil at the beginning
	done  bool
}

func rebuildKey() layout.Item {
	return layout.Item{
		layout.AttrPK: layout.Text(settingsPK),
		layout.AttrSK: layout.Text(rebuildSK),
	}
}

func (p rebuildProgress) item() layout.Item {
	out := rebuildKey()
	if p.owner != "" {
		out[attrOwner] = layout.Text(p.owner)
	}
	out[attrWho] = layout.Text(p.who)
	if p.engine != "" {
		out[attrEngine] = layout.Text(p.engine)
	}
	out[attrHeartbeat] = layout.Number(p.heartbeat)
	out[attrSaved] = layout.Number(p.saved.Unix())
	out[attrShards] = layout.Number(int64(p.shards))
	out[attrScanned] = layout.Number(p.scanned)
	out[attrBegan] = layout.Time(p.began)
	out[attrLabel] = layout.Text(p.stream.Label)
	if gap := p.stream.Gap; gap != nil {
		out[attrGapFound] = layout.Time(gap.Found)
		out[attrGapShard] = layout.Text(gap.Shard)
		out[attrGapWhy] = layout.Text(gap.Reason)
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

// decodeRebuild reads how far a rebuild came; none is one that nobody began.
func decodeRebuild(in layout.Item) (rebuildProgress, error) {
	if len(in) == 0 {
		return rebuildProgress{}, nil
	}
	r := layout.NewReader(in)
	p := rebuildProgress{
		who: r.Text(attrWho), engine: r.OptionalText(attrEngine), heartbeat: r.Number(attrHeartbeat), saved: time.Unix(r.Number(attrSaved), 0),
		shards: int(r.Number(attrShards)), scanned: r.Number(attrScanned),
		began: r.Time(attrBegan), stream: stream.State{Label: r.Text(attrLabel)},
	}
	if in[attrGapFound] != nil {
		p.stream.Gap = &stream.Gap{
			Found: r.Time(attrGapFound), Shard: r.Text(attrGapShard), Reason: r.Text(attrGapWhy),
		}
	}
	p.owner = r.OptionalText(attrOwner)
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

// unchanged is the condition that nobody has saved anything since this was read.
func (p rebuildProgress) unchanged() (condition string, values layout.Item) {
	if p.heartbeat == 0 {
		return "attribute_not_exists(" + layout.AttrPK + ")", nil
	}
	values = layout.Item{":heartbeat": layout.Number(p.heartbeat)}
	return attrHeartbeat + " = :heartbeat" + andEqual(attrOwner, p.owner, values), values
}

// sameHeartbeat tells whether nobody has saved anything between two looks.
func (p rebuildProgress) sameHeartbeat(other rebuildProgress) bool {
	return p.owner == other.owner && p.heartbeat == other.heartbeat
}

// goesOn tells whether a rebuild for a number of shards can go on where this one was interrupted: what has changed in the
// part that is done must be in the stream yet, and nothing may be known to be lost since it began.
func (p rebuildProgress) goesOn(shards int, now time.Time, known stream.State) bool {
	return len(p.segments) > 0 && p.shards == shards && now.Sub(p.saved) < rebuildForgets &&
		(p.stream.Label == "" || p.stream.Label == known.Label) && p.stream.Gap.Same(known.Gap)
}
