package leases

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Keys and attributes of a heartbeat, whose primary key is STREAM#HEARTBEAT#<key> / HEARTBEAT. The
// key determines the shard.
const (
	heartbeatPKPrefix = streamPK + "#HEARTBEAT#"
	heartbeatSK       = "HEARTBEAT"

	attrHeartbeatLabel = "l"
	attrHeartbeatShard = "s"
	attrHeartbeatSent  = "t"
)

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
	return stream.Heartbeat{
		Key:     strings.TrimPrefix(r.Text(layout.AttrPK), heartbeatPKPrefix),
		Label:   r.Text(attrHeartbeatLabel),
		Shard:   r.Text(attrHeartbeatShard),
		Counter: r.Number(attrCounter),
		Sent:    r.OptionalTime(attrHeartbeatSent),
	}, true
}

// Own reports whether a record is of an item about the stream, or about the progress of a hook.
func (l *Leases) Own(record stream.Record) bool {
	pk := layout.NewReader(record.Keys).Text(layout.AttrPK)
	key, _, _ := strings.Cut(pk, "#")
	return key == streamPK || strings.HasPrefix(pk, layout.HookPKPrefix)
}

func heartbeatItem(heartbeat stream.Heartbeat) layout.Item {
	it := layout.Key(heartbeatPKPrefix+heartbeat.Key, heartbeatSK)
	it[attrHeartbeatLabel] = layout.Text(heartbeat.Label)
	it[attrHeartbeatShard] = layout.Text(heartbeat.Shard)
	it[attrCounter] = layout.Number(heartbeat.Counter)
	it[layout.AttrTTL] = layout.Number(heartbeat.Sent.Add(heartbeatLifetime).Unix())
	layout.SetOptionalTime(it, attrHeartbeatSent, heartbeat.Sent)
	return it
}
