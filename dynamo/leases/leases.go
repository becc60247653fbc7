// Package leases stores in the table the state that readers of its stream share: leases of shards
// with checkpoints, heartbeats, dead letters, and whether all comments were counted. It implements
// the interfaces of package stream.
package leases

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// LeaseClient is the part of the SDK's client that Leases works with.
type LeaseClient interface {
	call.Querier
	call.ItemGetter
	call.Putter
}

// Leases stores in the table the state that processes reading its stream share. It is safe for
// concurrent use.
type Leases struct {
	client LeaseClient
	table  string
}

// NewLeases makes the leases of the stream of a table.
func NewLeases(client LeaseClient, table string) *Leases {
	return &Leases{client: client, table: table}
}

// List reads all leases of a stream, consistently.
func (l *Leases) List(ctx context.Context, label string) ([]stream.Lease, error) {
	leases, err := partition(ctx, l, leasePK(label), leaseOf)
	return leases, call.Wrap(err, "leases of the stream")
}

// silence is how long after its last write a lease has no reader any more, by the clocks of both.
// It is ten times what a reader of the default lease time waits for, and more than clocks may
// differ by.
const silence = time.Minute

// ListAlive lists the leases as List does, without owners that were killed and whose shards no
// other process has taken over. These used an ended run of the local engine, or have been silent.
// It is for people to read: processes that take leases over do not rely on clocks.
func (l *Leases) ListAlive(ctx context.Context, label, engine string, now time.Time) ([]stream.Lease, error) {
	leases, err := partition(ctx, l, leasePK(label), func(it layout.Item) stream.Lease {
		lease := leaseOf(it)
		written := time.Unix(layout.NewReader(it).OptionalNumber(layout.AttrTTL), 0).Add(-leaseLifetime)
		if engine != "" && lease.Engine != "" && lease.Engine != engine || now.Sub(written) > silence {
			lease.Owner = ""
		}
		return lease
	})
	return leases, call.Wrap(err, "leases of the stream")
}

// Swap writes a lease if the stored one equals the old one. If it already equals the new one, an
// earlier try wrote it and its answer was lost.
func (l *Leases) Swap(ctx context.Context, label string, old, new stream.Lease) error {
	condition, values := layout.IfAbsent, layout.Item{}
	if old.Counter > 0 {
		condition = attrLeaseOwner + " = :o AND " + attrCounter + " = :n"
		values[":o"], values[":n"] = layout.Text(old.Owner), layout.Number(old.Counter)
	}
	written := leaseItem(label, new, time.Now())
	there, err := call.Swap(ctx, l.client, l.table, written, condition, values)
	if is := leaseOf(there); there != nil && is.Owner == old.Owner && is.Counter == old.Counter { // unchanged, but damaged by hand
		values = layout.Item{}
		there, err = call.Swap(ctx, l.client, l.table, written, layout.SameAttrs(there, values, attrLeaseOwner, attrCounter), values)
	}
	if there != nil && leaseOf(there) == leaseOf(written) {
		return nil
	}
	return call.Wrap(err, "lease of shard %s", new.Shard)
}

// State reads the state, consistently.
func (l *Leases) State(ctx context.Context) (stream.State, error) {
	it, err := call.Item(ctx, l.client, l.table, layout.Key(streamPK, streamStateSK), "state of the stream")
	return stateOf(it), err
}

// SwapState writes the state, with the version after that of the old one.
func (l *Leases) SwapState(ctx context.Context, old, new stream.State) error {
	condition, values := layout.SameNumber(attrCounter, old.Version)
	new.Version = old.Version + 1
	written := stateItem(new)
	there, err := call.Swap(ctx, l.client, l.table, written, condition, values)
	if there != nil && reflect.DeepEqual(stateOf(there), stateOf(written)) {
		return nil
	}
	return call.Wrap(err, "state of the stream")
}

// PutDeadLetter stores the position of a record that could not be processed, and the reason.
func (l *Leases) PutDeadLetter(ctx context.Context, label string, letter stream.DeadLetter) error {
	_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: deadLetterItem(label, letter)})
	return call.Wrap(err, "dead letter of the stream")
}

// DeadLetters lists the dead-lettered records of a stream, in the order of their positions.
func (l *Leases) DeadLetters(ctx context.Context, label string) ([]stream.DeadLetter, error) {
	letters, err := partition(ctx, l, deadLetterPK(label), deadLetterOf)
	return letters, call.Wrap(err, "dead letters of the stream")
}

// ProcessedUpTo returns the watermark: a time up to which every change of the table is counted.
// known is false while the statistics may be wrong. It implements dynamo.Watermark.
func (l *Leases) ProcessedUpTo(ctx context.Context) (upTo time.Time, known bool, err error) {
	state, leases, err := l.Current(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	upTo, known = state.ProcessedUpTo(leases)
	return upTo, known && state.Complete, nil
}

// Current reads the state and the leases of the current stream. Before the first stream there are
// no leases.
func (l *Leases) Current(ctx context.Context) (stream.State, []stream.Lease, error) {
	state, err := l.State(ctx)
	if err != nil || state.Label == "" {
		return state, nil, err
	}
	leases, err := l.List(ctx, state.Label)
	return state, leases, err
}

// partition reads a partition consistently, and decodes its items.
func partition[T any](ctx context.Context, l *Leases, key string, decode func(layout.Item) T) ([]T, error) {
	input := call.PartitionInput(l.table, layout.Text(key), "")
	for all := []T{}; ; {
		output, err := l.client.Query(ctx, input)
		if err != nil {
			return nil, err
		}
		for _, it := range output.Items {
			all = append(all, decode(it))
		}
		if input.ExclusiveStartKey = output.LastEvaluatedKey; len(input.ExclusiveStartKey) == 0 {
			return all, nil
		}
	}
}

// The primary key of a heartbeat is STREAM#HEARTBEAT#<key> / HEARTBEAT. The key determines the
// shard.
const (
	heartbeatPKPrefix = streamPK + "#HEARTBEAT#"
	heartbeatSK       = "HEARTBEAT"
)

func heartbeatFields(h *stream.Heartbeat) layout.Fields {
	return layout.Fields{"l": &h.Label, "s": &h.Shard, attrCounter: &h.Counter, "t": &h.Sent}
}

// heartbeatLifetime is how long a heartbeat outlives its last write. A key in use is written every
// few seconds; one that was tried without success is useless.
const heartbeatLifetime = time.Hour

// SendHeartbeat writes a heartbeat.
func (l *Leases) SendHeartbeat(ctx context.Context, heartbeat stream.Heartbeat) error {
	_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: heartbeatItem(heartbeat)})
	return call.Wrap(err, "heartbeat of shard %s", heartbeat.Shard)
}

// HeartbeatOf returns the heartbeat in a record of the stream. ok is false for other records, and
// for the expiry of a heartbeat.
func (l *Leases) HeartbeatOf(record stream.Record) (heartbeat stream.Heartbeat, ok bool) {
	if layout.NewReader(record.Keys).Text(layout.AttrSK) != heartbeatSK || record.New == nil {
		return stream.Heartbeat{}, false
	}
	r := layout.NewReader(record.New)
	heartbeat.Key = strings.TrimPrefix(r.Text(layout.AttrPK), heartbeatPKPrefix)
	heartbeatFields(&heartbeat).Read(r)
	return heartbeat, true
}

// Own reports whether a record is of an item about the stream, or about the progress of a hook.
func (l *Leases) Own(record stream.Record) bool {
	pk := layout.NewReader(record.Keys).Text(layout.AttrPK)
	key, _, _ := strings.Cut(pk, "#")
	return key == streamPK || strings.HasPrefix(pk, layout.HookPKPrefix)
}

func heartbeatItem(heartbeat stream.Heartbeat) layout.Item {
	it := layout.Key(heartbeatPKPrefix+heartbeat.Key, heartbeatSK)
	heartbeatFields(&heartbeat).Write(it)
	it[layout.AttrTTL] = layout.Number(heartbeat.Sent.Add(heartbeatLifetime).Unix())
	return it
}

// Keys of the items about the stream, and attributes that conditions name. A lease is
// STREAM#<label> / <shard>, a dead letter STREAM#<label>#ASIDE / <position>, the state STREAM /
// STATE.
const (
	streamPK      = "STREAM"
	streamStateSK = "STATE"

	attrLeaseOwner = "o"
	// attrCounter holds the counter of a lease, and the version of the state.
	attrCounter = "n"
)

// leaseLifetime is how long a lease outlives its last write. By then the stream has dropped all
// records of the shard, so the lease is useless.
const leaseLifetime = 7 * 24 * time.Hour

// deadLetterLifetime is how long a dead letter is kept: long enough for people to look into it. By
// then a rebuild has counted its comment.
const deadLetterLifetime = 30 * 24 * time.Hour

func leasePK(label string) string { return streamPK + "#" + label }

func leaseFields(l *stream.Lease) layout.Fields {
	return layout.Fields{
		"p": &l.Parent, attrLeaseOwner: &l.Owner, "d": &l.Engine, attrCounter: &l.Counter, "k": &l.Checkpoint,
		"e": &l.Ended, "t": &l.CaughtUp, "a": &l.DeadLetters, "h": &l.Heartbeat, "v": &l.Proven,
	}
}

func leaseItem(label string, lease stream.Lease, now time.Time) layout.Item {
	it := layout.Key(leasePK(label), lease.Shard)
	leaseFields(&lease).Write(it)
	it[layout.AttrTTL] = layout.Number(now.Add(leaseLifetime).Unix())
	return it
}

// mostUnproven is more than the number of heartbeats that can be under way at once.
const mostUnproven = 1 << 20

func leaseOf(it layout.Item) stream.Lease {
	r := layout.NewReader(it)
	lease := stream.Lease{Shard: r.Text(layout.AttrSK)}
	leaseFields(&lease).Read(r)
	if lease.Counter < max(1, lease.Proven) { // damaged by hand: heartbeats that are under way must not prove later writes
		lease.Counter = lease.Proven + mostUnproven
	}
	return lease
}

func stateFields(s *stream.State) layout.Fields {
	return layout.Fields{attrCounter: &s.Version, "l": &s.Label, "c": &s.Complete, "t": &s.Since, "s": &s.Scheduled}
}

// attrGapReason is the attribute of the state that says whether there is a gap.
const attrGapReason = "gr"

func gapFields(g *stream.Gap) layout.Fields {
	return layout.Fields{"gt": &g.Found, "gs": &g.Shard, attrGapReason: &g.Reason}
}

func stateItem(state stream.State) layout.Item {
	it := layout.Key(streamPK, streamStateSK)
	stateFields(&state).Write(it)
	if state.Gap != nil {
		gapFields(state.Gap).Write(it)
	}
	return it
}

func stateOf(it layout.Item) (state stream.State) {
	r := layout.NewReader(it)
	stateFields(&state).Read(r)
	if it[attrGapReason] != nil {
		state.Gap = &stream.Gap{}
		gapFields(state.Gap).Read(r)
	}
	return state
}

func deadLetterPK(label string) string { return leasePK(label) + "#ASIDE" }

func deadLetterFields(d *stream.DeadLetter) layout.Fields {
	return layout.Fields{"s": &d.Shard, "k": &d.Key, "r": &d.Reason, "t": &d.Found}
}

func deadLetterItem(label string, letter stream.DeadLetter) layout.Item {
	it := layout.Key(deadLetterPK(label), string(letter.Position))
	deadLetterFields(&letter).Write(it)
	it[layout.AttrTTL] = layout.Number(letter.Found.Add(deadLetterLifetime).Unix())
	return it
}

func deadLetterOf(it layout.Item) stream.DeadLetter {
	r := layout.NewReader(it)
	letter := stream.DeadLetter{Position: stream.Position(r.Text(layout.AttrSK))}
	deadLetterFields(&letter).Read(r)
	return letter
}
