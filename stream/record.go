// Package stream reads the table's stream. It knows the shards, their order, the process that reads
// each, and its progress. It passes records to a handler, and does not know what they mean.
//
// Start with record.go and lease.go: what is read, and by which process. Pure functions decide:
// plan.go which shards a process takes, progress.go how a shard's progress changes. consumer.go,
// worker.go and reader.go act on these decisions. deliver.go passes records to the handler, and
// journal.go keeps those that fail.
package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Position orders the records of an item across shards. As text, later positions sort after earlier
// ones. The zero value is before all.
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

// Label returns the label of the record's stream.
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
	// Old and New are the item before and after the change; nil if it did not exist.
	Old, New map[string]types.AttributeValue
}

// Key returns the key of the item as text, the same for all records of an item, and nothing else.
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

// keyText returns a text of the key, such as that of SK; "" if there is none.
func (r Record) keyText(name string) string {
	if text, ok := r.Keys[name].(*types.AttributeValueMemberS); ok {
		return text.Value
	}
	return ""
}

// Handler processes records in their order: all of them, unless it returns an error. It may get a
// record again, even after later ones or while another process has it. Some errors are temporary:
// those of the kinds Throttled, Unavailable, Timeout or Canceled, and those of a call that AWS did
// not refuse as invalid. Any other error is the fault of a record.
type Handler func(ctx context.Context, records []Record) error

// Source is a stream that can be read.
type Source interface {
	// Shards lists all shards. It returns ErrNoStream if the table has no stream.
	Shards(ctx context.Context) (Listing, error)
	// Open returns an iterator of a shard that starts after a sequence number; if that is empty, at
	// the oldest record that is left. It returns ErrTrimmed if records after the number are gone,
	// and ErrGone if the shard is gone.
	Open(ctx context.Context, label, shard, after string) (iterator string, err error)
	// Read returns the next records of an iterator. It returns ErrExpired if the iterator is too
	// old, and otherwise errors as Open.
	Read(ctx context.Context, label, iterator string) (Batch, error)
}

// Errors of a Source that need more than a retry. All others are temporary.
var (
	ErrNoStream = errors.New("the table has no stream")
	ErrExpired  = errors.New("the iterator has expired")
	ErrTrimmed  = errors.New("records were dropped before they were read")
	ErrGone     = errors.New("the shard is not there any more")
)

// Listing has all shards of a stream.
type Listing struct {
	// Label distinguishes this stream from earlier and later ones of the same table.
	Label string
	// Shards are in no particular order.
	Shards []Shard
}

// Shard is a part of a stream, in which records are ordered.
type Shard struct {
	ID string
	// Parent is the shard to be read to its end first; empty for none. It may be gone already.
	Parent string
}

// Batch is the result of one read.
type Batch struct {
	// Records are in order. After an empty batch, more records may follow.
	Records []Record
	// Next is the iterator for the next read. It is empty at the end of the shard.
	Next string
}

func (l Listing) has(shard string) bool {
	return slices.ContainsFunc(l.Shards, func(s Shard) bool { return s.ID == shard })
}
