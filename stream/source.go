package stream

import (
	"context"
	"errors"
)

// Source is a stream that can be read.
type Source interface {
	// Shards lists all shards that there are. The error is ErrNoStream when there is no stream.
	Shards(ctx context.Context) (Listing, error)
	// Open makes an iterator of a shard behind a sequence number, or at the oldest record that is left when that is empty.
	// The error is ErrTrimmed when records behind the sequence number are gone, ErrGone when the shard is.
	Open(ctx context.Context, label, shard, after string) (iterator string, err error)
	// Read reads on. The error is ErrExpired when the iterator is too old, else as that of Open.
	Read(ctx context.Context, label, iterator string) (Batch, error)
}

// What can be the matter with a stream. All other errors of a Source may pass.
var (
	ErrNoStream = errors.New("the table has no stream")
	ErrExpired  = errors.New("the iterator has expired")
	ErrTrimmed  = errors.New("records were dropped before they were read")
	ErrGone     = errors.New("the shard is not there any more")
)

// Listing is all shards of a stream.
type Listing struct {
	// Label tells this stream from earlier and later ones of the same table.
	Label string
	// Shards are in no order.
	Shards []Shard
}

// Shard is a part of a stream, in which records have an order.
type Shard struct {
	// ID names it within the stream.
	ID string
	// Parent is the shard that has to be read to its end before, empty for none. It may not be there any more.
	Parent string
}

// Batch is what was read at once.
type Batch struct {
	// Records are in their order. None does not mean that there are none further on.
	Records []Record
	// Next is the iterator behind them, empty at the end of the shard, which no record will follow.
	Next string
}

func (l Listing) has(shard string) bool {
	for _, s := range l.Shards {
		if s.ID == shard {
			return true
		}
	}
	return false
}

func (l Listing) childrenOf(shard string) []Shard {
	var children []Shard
	for _, s := range l.Shards {
		if s.Parent == shard {
			children = append(children, s)
		}
	}
	return children
}
