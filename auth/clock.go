package auth

import (
	"crypto/rand"
	"time"

	"github.com/talkback/talkback/comment"
)

// Clock returns the current time. A nil Clock is that of the machine.
type Clock func() time.Time

// millisecond returns the current time, in UTC to the millisecond.
func (c Clock) millisecond() time.Time { return c.now().UTC().Truncate(time.Millisecond) }

func (c Clock) now() time.Time {
	if c != nil {
		return c()
	}
	return time.Now()
}

// position returns a new position: the current time, and random bytes that no other has.
func (c Clock) position() comment.Position {
	var distinct [10]byte
	_, _ = rand.Read(distinct[:]) // never fails: see its documentation
	return comment.PositionAt(c.now(), distinct)
}

// timeOfEdit returns the current time, but never a time before the last write. That may have been
// made by a server whose clock is ahead.
func (c Clock) timeOfEdit(before comment.Comment) *time.Time {
	now, last := c.millisecond(), before.CreatedAt()
	if before.UpdatedAt != nil {
		last = *before.UpdatedAt
	}
	if now.Before(last) {
		now = last
	}
	return &now
}
