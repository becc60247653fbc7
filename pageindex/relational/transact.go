package relational

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

const (
	// attempts bounds how often a transaction is tried. After a conflict with other transactions,
	// it waits for a random part of pause, which doubles each time.
	attempts = 8
	pause    = 5 * time.Millisecond
)

// read runs a read-only step, which sees one state of the database.
func (s *Store) read(ctx context.Context, do step) error {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	return s.persist(ctx, func() error { return transact(ctx, s.db.Read, s.db.ReadOnce, do) })
}

// change runs a step that changes the database.
func (s *Store) change(ctx context.Context, do step) error {
	ctx, cancel := context.WithTimeout(ctx, changeWithin)
	defer cancel()
	return s.persist(ctx, func() error { return transact(ctx, s.db.Write, s.db.WriteOnce, do) })
}

// persist runs a transaction, and retries after faults that may pass: conflicts, stale connections,
// dropped tables. A step may run twice.
func (s *Store) persist(ctx context.Context, do func() error) error {
	away := false
	for try := 1; ; try++ {
		err := s.ensure(ctx)
		if err == nil {
			err = do()
		}
		if err == nil {
			return nil
		}
		fault, _ := s.db.Explain(err)
		if errors.Is(err, sql.ErrNoRows) || errors.Is(err, errOlder) {
			// The store's only row is missing if all tables were emptied, and an older schema
			// counts as none.
			fault = faultMissing
		}
		switch {
		case ctx.Err() != nil || try == attempts:
			return s.explain(ctx, err)
		case fault == faultMissing:
			s.making.Lock()
			s.made = false
			s.making.Unlock()
		case fault == faultCrossed:
			if task.Wait(ctx, rand.N(pause<<try)) != nil {
				return s.explain(ctx, err)
			}
		case fault == faultAway && !away:
			away = true
		default:
			return s.explain(ctx, err)
		}
	}
}

// explain turns an error into one of a known kind. Its text contains neither values nor a password.
func (s *Store) explain(ctx context.Context, err error) error {
	if errors.As(err, new(*comment.Error)) {
		return err
	}
	fault, text := s.db.Explain(err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case fault == faultSlow, ctx.Err() != nil:
		return comment.Errorf(comment.Timeout, "the page index in %s did not answer in time", s.db.Name)
	case fault == faultAway:
		return s.unavailable("cannot be reached", text)
	case fault == faultMissing:
		return s.unavailable("has no tables, although they were just created", text)
	case fault == faultCrossed:
		return s.unavailable("is busy with other changes", text)
	}
	return s.unavailable("failed", text)
}

func (s *Store) unavailable(what, text string) error {
	err := comment.Errorf(comment.Unavailable, "the page index in %s %s", s.db.Name, what)
	if text != "" {
		err.Cause = errors.New(text)
	}
	return err
}
