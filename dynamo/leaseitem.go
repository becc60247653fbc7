package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/stream"
)

func leaseItem(label string, lease stream.Lease, now time.Time) item {
	it := streamKey(leasePK(label), lease.Shard)
	it[attrLeaseParent] = textValue(lease.Parent)
	it[attrLeaseOwner] = textValue(lease.Owner)
	it[attrLeaseEngine] = textValue(lease.Engine)
	it[attrCounter] = number(lease.Counter)
	it[attrLeaseCheckpoint] = textValue(lease.Checkpoint)
	it[attrLeaseEnded] = &types.AttributeValueMemberBOOL{Value: lease.Ended}
	it[attrLeaseAside] = number(int64(lease.Aside))
	it[attrTTL] = number(now.Add(leaseLifetime).Unix())
	it[attrLeaseHeartbeat] = textValue(lease.Heartbeat)
	it[attrLeaseProven] = number(lease.Proven)
	setTime(it, attrLeaseCaughtUp, lease.CaughtUp)
	return it
}

func leaseOf(it item) stream.Lease {
	return stream.Lease{
		Shard:      textAt(it, attrSK),
		Parent:     textAt(it, attrLeaseParent),
		Owner:      textAt(it, attrLeaseOwner),
		Engine:     textAt(it, attrLeaseEngine),
		Counter:    numberAt(it, attrCounter),
		Checkpoint: textAt(it, attrLeaseCheckpoint),
		Ended:      flagAt(it, attrLeaseEnded),
		CaughtUp:   timeAt(it, attrLeaseCaughtUp),
		Heartbeat:  textAt(it, attrLeaseHeartbeat),
		Proven:     numberAt(it, attrLeaseProven),
		Aside:      int(numberAt(it, attrLeaseAside)),
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

func stateItem(state stream.State) item {
	it := streamKey(streamPK, streamStateSK)
	it[attrCounter] = number(state.Version)
	it[attrStateLabel] = textValue(state.Label)
	it[attrStateComplete] = &types.AttributeValueMemberBOOL{Value: state.Complete}
	setTime(it, attrStateSince, state.Since)
	if gap := state.Gap; gap != nil {
		setTime(it, attrStateGapFound, gap.Found)
		it[attrStateGapShard] = textValue(gap.Shard)
		it[attrStateGapReason] = textValue(gap.Reason)
	}
	return it
}

func stateOf(it item) stream.State {
	state := stream.State{
		Version:  numberAt(it, attrCounter),
		Label:    textAt(it, attrStateLabel),
		Complete: flagAt(it, attrStateComplete),
		Since:    timeAt(it, attrStateSince),
	}
	if it[attrStateGapReason] != nil {
		state.Gap = &stream.Gap{
			Found: timeAt(it, attrStateGapFound), Shard: textAt(it, attrStateGapShard), Reason: textAt(it, attrStateGapReason),
		}
	}
	return state
}

func sameState(a, b stream.State) bool {
	sameGap := a.Gap.Same(b.Gap)
	a.Gap, b.Gap = nil, nil
	return sameGap && a == b
}

func asideItem(label string, aside stream.Aside) item {
	it := streamKey(asidePK(label), string(aside.Position))
	it[attrAsideShard] = textValue(aside.Shard)
	it[attrAsideKey] = textValue(aside.Key)
	it[attrAsideReason] = textValue(aside.Reason)
	setTime(it, attrAsideFound, aside.Found)
	it[attrTTL] = number(aside.Found.Add(asideLifetime).Unix())
	return it
}

func asideOf(it item) stream.Aside {
	return stream.Aside{
		Shard:    textAt(it, attrAsideShard),
		Position: stream.Position(textAt(it, attrSK)),
		Key:      textAt(it, attrAsideKey),
		Reason:   textAt(it, attrAsideReason),
		Found:    timeAt(it, attrAsideFound),
	}
}
