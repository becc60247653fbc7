package stream

import (
	"context"
	"log/slog"
	"time"
)

// WriteDeadLetter dead-letters a record. The journal keeps its position, the logger gets a line,
// and the gap that this leaves in the counts is recorded and returned. shard is empty where it is
// not known.
func WriteDeadLetter(ctx context.Context, journal Journal, logger *slog.Logger, shard string, failure Failure) (Gap, error) {
	record := failure.Record
	letter := DeadLetter{Shard: shard, Position: record.Position, Key: record.Key(), Reason: failure.Reason, Found: time.Now()}
	if err := journal.PutDeadLetter(ctx, record.Position.Label(), letter); err != nil {
		return Gap{}, err
	}
	if shard != "" {
		logger = logger.With("shard", shard)
	}
	logger.Error("a record of the stream cannot be processed and was dead-lettered",
		"position", string(letter.Position), "key", letter.Key, "reason", letter.Reason)
	gap := Gap{Found: letter.Found, Shard: shard, Reason: "a record was dead-lettered at " + string(letter.Position)}
	return gap, recordGap(ctx, journal, gap)
}
