package leases

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

func leaseItem(label string, lease stream.Lease, now time.Time) layout.Item {
	it := layout.StreamKey(leasePK(label), lease.Shard)
	it[attrLeaseParent] = layout.TextValue(lease.Parent)
	it[attrLeaseOwner] = layout.TextValue(lease.Owner)
	it[attrLeaseEngine] = layout.TextValue(lease.Engine)
	it[attrCounter] = layout.Number(lease.Counter)
	it[attrLeaseCheckpoint] = layout.TextValue(lease.Checkpoint)
	it[attrLeaseEnded] = &types.AttributeValueMemberBOOL{Value: lease.Ended}
	it[attrLeaseAside] = layout.Number(int64(lease.Aside))
	it[layout.AttrTTL] = layout.Number(now.Add(leaseLifetime).Unix())
	it[attrLeaseHeartbeat] = layout.TextValue(lease.Heartbeat)
	it[attrLeaseProven] = layout.Number(lease.Proven)
	layout.SetTime(it, attrLeaseCaughtUp, lease.CaughtUp)
	return it
}

func leaseOf(it layout.Item) stream.Lease {
	return stream.Lease{
		Shard:      layout.TextAt(it, layout.AttrSK),
		Parent:     layout.TextAt(it, attrLeaseParent),
		Owner:      layout.TextAt(it, attrLeaseOwner),
		Engine:     layout.TextAt(it, attrLeaseEngine),
		Counter:    layout.NumberAt(it, attrCounter),
		Checkpoint: layout.TextAt(it, attrLeaseCheckpoint),
		Ended:      layout.FlagAt(it, attrLeaseEnded),
		CaughtUp:   layout.TimeAt(it, attrLeaseCaughtUp),
		Heartbeat:  layout.TextAt(it, attrLeaseHeartbeat),
		Proven:     layout.NumberAt(it, attrLeaseProven),
		Aside:      int(layout.NumberAt(it, attrLeaseAside)),
	}
}

// Attributes of the state.
const (
	attrStateLabel     = "l"
	attrStateComplete  = "c"
	attrStateSince     = "t"
	attrStateGapFound  = "gt"
	attrStateGapShard  = "gs"
	attrStateGapReason = "gr"
)

func stateItem(state stream.State) layout.Item {
	it := layout.StreamKey(streamPK, streamStateSK)
	it[attrCounter] = layout.Number(state.Version)
	it[attrStateLabel] = layout.TextValue(state.Label)
	it[attrStateComplete] = &types.AttributeValueMemberBOOL{Value: state.Complete}
	layout.SetTime(it, attrStateSince, state.Since)
	if gap := state.Gap; gap != nil {
		layout.SetTime(it, attrStateGapFound, gap.Found)
		it[attrStateGapShard] = layout.TextValue(gap.Shard)
		it[attrStateGapReason] = layout.TextValue(gap.Reason)
	}
	return it
}

func stateOf(it layout.Item) stream.State {
	state := stream.State{
		Version:  layout.NumberAt(it, attrCounter),
		Label:    layout.TextAt(it, attrStateLabel),
		Complete: layout.FlagAt(it, attrStateComplete),
		Since:    layout.TimeAt(it, attrStateSince),
	}
	if it[attrStateGapReason] != nil {
		state.Gap = &stream.Gap{
			Found: layout.TimeAt(it, attrStateGapFound), Shard: layout.TextAt(it, attrStateGapShard), Reason: layout.TextAt(it, attrStateGapReason),
		}
	}
	return state
}

func sameState(a, b stream.State) bool {
	sameGap := a.Gap.Same(b.Gap)
	a.Gap, b.Gap = nil, nil
	return sameGap && a == b
}

func asideItem(label string, aside stream.Aside) layout.Item {
	it := layout.StreamKey(asidePK(label), string(aside.Position))
	it[attrAsideShard] = layout.TextValue(aside.Shard)
	it[attrAsideKey] = layout.TextValue(aside.Key)
	it[attrAsideReason] = layout.TextValue(aside.Reason)
	layout.SetTime(it, attrAsideFound, aside.Found)
	it[layout.AttrTTL] = layout.Number(aside.Found.Add(asideLifetime).Unix())
	return it
}

func asideOf(it layout.Item) stream.Aside {
	return stream.Aside{
		Shard:    layout.TextAt(it, attrAsideShard),
		Position: stream.Position(layout.TextAt(it, layout.AttrSK)),
		Key:      layout.TextAt(it, attrAsideKey),
		Reason:   layout.TextAt(it, attrAsideReason),
		Found:    layout.TimeAt(it, attrAsideFound),
	}
}
