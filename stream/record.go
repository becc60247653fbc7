// Package stream reads the table's stream: shards, their order, who reads which, and how far each was read. It hands the
// records to a handler and knows nothing of what they are about.
//
// To read it, start with record.go, source.go and lease.go: what is read, and who reads it. What to do is decided by pure
// functions: plan.go says which shards a process takes, progress.go what an answer of a shard means. consumer.go, worker.go
// and reader.go act on it, in that order. deliver.go hands records to the handler, deadletter.go keeps those that fail.
package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Position is the place of a record among all records of the same item, also across shards: a later one sorts above an
// earlier one as text. The zero value is before all.
type Position string

// sequenceDigits is the length that AWS documents as the longest of a sequence number.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
const sequenceDigits = 40

// PositionOf is the position of a record in the stream of a label, which is the time when that stream was switched on:
// those of a later stream of the same table sort above those of an earlier one.
func PositionOf(label, sequenceNumber string) Position {
	padding := max(0, sequenceDigits-len(sequenceNumber))
	return Position(label + "/" + strings.Repeat("0", padding) + sequenceNumber)
}

// Label is the label of the stream that the record is in.
func (p Position) Label() string {
	label, _, _ := strings.Cut(string(p), "/")
	return label
}

// Record is one change of one item of the table.
type Record struct {
	// Position orders the records of an item.
	Position Position
	// Sequence is the record's number in its shard, as the stream writes it.
	Sequence string
	// Created is when the change was made, to the second. It orders nothing.
	Created time.Time
	// Keys is the key of the item.
	Keys map[string]types.AttributeValue
	// Old and New are the item before and after the change, nil where it was not there.
	Old, New map[string]types.AttributeValue
}

// Key is the key of the item as text, the same for all records of an item. It holds nothing else of the item.
func (r Record) Key() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Keys)) {
		switch value := r.Keys[name].(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, name+"="+value.Value)
		case *types.AttributeValueMemberN:
			parts = append(parts, name+"="+value.Value)
		case *types.AttributeValueMemberB:
			parts = append(parts, fmt.Sprintf("%s=%x", name, value.Value))
		}
	}
	return strings.Join(parts, " ")
}

// Handler processes records.
type Handler interface {
	// Handle processes records in their order, all of them unless it returns an error. It may get a record again, after
	// later ones too, and at the same time as another process does. An error of the kinds Throttled, Unavailable, Timeout
	// or Canceled may pass, and so may one of a call to AWS that it did not refuse as invalid; any other is the fault of a
	// record.
	Handle(ctx context.Context, records []Record) error
}
