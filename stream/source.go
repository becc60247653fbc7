package stream

import (
	"context"
	"errors"
	"slices"
)

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
	// ID identifies the shard within the stream.
	ID string
	// Parent is the shard that must be read to its end first; empty for none. It may be gone
	// already.
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
