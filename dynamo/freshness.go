package dynamo

import (
	"context"
	"time"
)

// CountedUpTo is a moment up to which every change of a comment is in the statistics, however old
// the comment; false when that is unknown. It reads the table at most once a second for all
// callers. It is false without a Watermark.
func (s *Store) CountedUpTo(ctx context.Context) (upTo time.Time, known bool) {
	if s.memory == nil {
		return time.Time{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	upTo, known, err := s.memory.mark.upTo(ctx)
	return upTo, known && err == nil
}
