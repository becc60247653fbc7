package dynamo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/stream"
)

// Keys and attributes of a heartbeat, which is STREAM#HEARTBEAT#<key> / HEARTBEAT. Each key leads to some shard.
const (
	heartbeatPKPrefix = streamPK + "#HEARTBEAT#"
	heartbeatSK       = "HEARTBEAT"

	attrHeartbeatLabel = "l"
	attrHeartbeatShard = "s"
	attrHeartbeatSent  = "t"
)

// heartbeatLifetime is how long a heartbeat outlives its last write: a key that is in use is written every few seconds, and
// one that was tried in vain is of no use.
const heartbeatLifetime = time.Hour

// SendHeartbeat writes a heartbeat.
func (l *Leases) SendHeartbeat(ctx context.Context, beat stream.Heartbeat) error {
	_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(l.table), Item: heartbeatItem(beat)})
	return wrap(err, "heartbeat of shard %s", beat.Shard)
}

// HeartbeatOf is the heartbeat that a record of the stream shows. The end of one that has expired is none.
func (l *Leases) HeartbeatOf(record stream.Record) (beat stream.Heartbeat, ok bool) {
	if textAt(record.Keys, attrSK) != heartbeatSK || record.New == nil {
		return stream.Heartbeat{}, false
	}
	return heartbeatOf(record.New), true
}

func heartbeatItem(beat stream.Heartbeat) item {
	it := streamKey(heartbeatPKPrefix+beat.Key, heartbeatSK)
	it[attrHeartbeatLabel] = textValue(beat.Label)
	it[attrHeartbeatShard] = textValue(beat.Shard)
	it[attrCounter] = number(beat.Counter)
	it[attrTTL] = number(beat.Sent.Add(heartbeatLifetime).Unix())
	setTime(it, attrHeartbeatSent, beat.Sent)
	return it
}

func heartbeatOf(it item) stream.Heartbeat {
	return stream.Heartbeat{
		Key:     strings.TrimPrefix(textAt(it, attrPK), heartbeatPKPrefix),
		Label:   textAt(it, attrHeartbeatLabel),
		Shard:   textAt(it, attrHeartbeatShard),
		Counter: numberAt(it, attrCounter),
		Sent:    timeAt(it, attrHeartbeatSent),
	}
}
