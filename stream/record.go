// Package stream reads the table's stream: its shards, their order, which process reads each, and
// how far it was read. It hands the records to a handler and does not know what they are about.
//
// To read it, start with record.go, source.go and lease.go: what is read, and by which process.
// Pure functions decide what to do: plan.go which shards a process takes, progress.go what an
// answer of a shard means. consumer.go, worker.go and reader.go act on it, in that order.
// deliver.go hands records to the handler, journal.go keeps those that fail.
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

// Position orders a record among all records of the same item, across shards. A later one
// sorts after an earlier one as text. The zero value is before all.
type Position string

// sequenceDigits is the maximum length of a sequence number that AWS documents.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
const sequenceDigits = 40

// PositionOf returns the position of a record in the stream with a label. Labels are the times when
// streams were switched on, so positions of a later stream sort after those of an earlier one.
func PositionOf(label, sequenceNumber string) Position {
	padding := max(0, sequenceDigits-len(sequenceNumber))
	return Position(label + "/" + strings.Repeat("0", padding) + sequenceNumber)
}

// Label returns the label of the stream that the record is in.
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
	// Created is when the change was made, to the second. Records are not ordered by it.
	Created time.Time
	// Keys is the key of the item.
	Keys map[string]types.AttributeValue
	// Old and New are the item before and after the change, nil where the item did not exist.
	Old, New map[string]types.AttributeValue
}

// Key returns the key of the item as text, the same for all records of an item. It contains no
// other attribute.
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
	// Handle processes records in their order: all of them, unless it returns an error. It may get
	// a record again, even after later ones or while another process has it. Some errors may pass:
	// those of the kinds Throttled, Unavailable, Timeout or Canceled, and those of a call that AWS
	// did not refuse as invalid. Any other error is the fault of a record.
	Handle(ctx context.Context, records []Record) error
}
