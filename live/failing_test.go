package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/live"
)

var (
	errBusy    = comment.Errorf(comment.Throttled, "the table is too busy")
	errDamaged = fmt.Errorf("%w: no date", comment.ErrImproper)
)

// troubled is a table whose calls fail as its functions say, where they are set.
type troubled struct {
	*table
	want    func() error
	tail    func(failed func(error)) error
	comment func(nth int) error // of the nth comment of a call
	counts  func(product string) error
}

func (b *troubled) Want(ctx context.Context, name string, lasts time.Duration) error {
	if b.want != nil {
		return b.want()
	}
	return b.table.Want(ctx, name, lasts)
}

func (b *troubled) Tail(ctx context.Context, from outbox.Position, each func(context.Context, int, outbox.Batch) error, failed func(error)) error {
	if b.tail != nil {
		if err := b.tail(failed); err != nil {
			return err
		}
	}
	return b.table.Tail(ctx, from, each, failed)
}

func (b *troubled) CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	found, _, err := b.table.CommentsByID(ctx, ids, withoutText)
	failed := map[comment.ID]error{}
	for i, id := range ids {
		if b.comment == nil {
			break
		}
		if err := b.comment(i); err != nil {
			delete(found, id)
			failed[id] = err
		}
	}
	return found, failed, err
}

func (b *troubled) CurrentStatsOf(ctx context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	found, _, err := b.table.CurrentStatsOf(ctx, products)
	failed := map[string]error{}
	for _, product := range products {
		if b.counts == nil {
			break
		}
		if err := b.counts(product); err != nil {
			delete(found, product)
			failed[product] = err
		}
	}
	return found, failed, err
}

// hub returns a hub of the table, and its log.
func (b *troubled) hub() (*live.Hub, *bytes.Buffer) {
	var log bytes.Buffer
	return live.New(b, b, unknown, slog.New(slog.NewTextHandler(&log, nil))), &log
}

// once returns an error at the first call, and none at others.
func once(err error) func() error {
	return func() error {
		now := err
		err = nil
		return now
	}
}

// A comment that could not be read for a moment counts as unchanged. Subscribers are not told that
// it is gone, since they would remove it from view. That holds for subscribers that follow, and for
// those that resume.
func TestUnreadCommentsAreNotGone(t *testing.T) {
	for _, row := range []struct {
		why     string
		comment func() func(nth int) error
		want    comment.EventKind
		resumes bool // also at once, without another try of the subscriber
	}{
		{"all is read", func() func(int) error { return nil }, comment.CameIn, true},
		{"the table is busy for one call", func() func(int) error {
			busy := once(errBusy)
			return func(int) error { return busy() }
		}, comment.CameIn, false},
		{"a call has room for one comment, since all are large", func() func(int) error {
			return func(nth int) error {
				if nth > 0 {
					return comment.Errorf(comment.BadInput, "these comments are large")
				}
				return nil
			}
		}, comment.CameIn, true},
		{"the item is damaged, and stays so", func() func(int) error { return func(int) error { return errDamaged } }, comment.Gone, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &troubled{table: newTable(t)}
				hub, _ := b.hub()
				defer hub.Close()
				s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
				b.happens(outbox.Added, b.random("p"), false, true)
				_, before := s.next(t)
				b.comment = row.comment()
				const comments = 3
				for range comments {
					b.happens(outbox.Added, b.random("p"), false, true)
				}
				for range comments {
					if e, _ := s.next(t); e.Kind != row.want {
						t.Errorf("a follower is told %v", e.Kind)
					}
				}
				b.comment = row.comment()
				again, err := follow(t, hub, "p", comment.Filter{}, before)
				if !row.resumes && comment.KindOf(err) == comment.Throttled {
					again, err = follow(t, hub, "p", comment.Filter{}, before)
				}
				must.Do(t, err)
				for range comments {
					if e, _ := again.next(t); e.Kind != row.want {
						t.Errorf("a subscriber that resumes is told %v", e.Kind)
					}
				}
			})
		})
	}
}

// Statistics that the table was too busy to read are read again.
func TestUnreadStatisticsAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &troubled{table: newTable(t)}
		hub, _ := b.hub()
		defer hub.Close()
		s := must.Get(count(t, hub, "p"))(t)
		s.next(t) // as they are
		busy := once(errBusy)
		b.counts = func(string) error { return busy() }
		b.happens(outbox.StatisticsChanged, b.random("p"), false, false)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := s.Next(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Damaged statistics of one product do not delay other events, and subscriptions to them are
// refused.
func TestDamagedStatisticsHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &troubled{table: newTable(t)}
		hub, log := b.hub()
		defer hub.Close()
		must.Get(count(t, hub, "damaged"))(t)
		s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
		b.counts = func(product string) error {
			if product == "damaged" {
				return errors.New("no grid; talkback rebuild mends it")
			}
			return nil
		}
		c := b.random("p")
		of := c
		of.ProductID = "damaged"
		b.happens(outbox.StatisticsChanged, of, false, false) // in the same lane
		b.happens(outbox.Added, c, false, true)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := s.Next(ctx); err != nil {
			t.Errorf("behind damaged statistics, a subscriber is told nothing: %v", err)
		}
		if text := log.String(); !strings.Contains(text, "rebuild mends it") {
			t.Errorf("the log does not say what is wrong: %s", text)
		}
		if refused, err := count(t, hub, "damaged"); err == nil || refused.Subscription != nil {
			t.Error("damaged statistics are subscribed to")
		}
	})
}

// The log names what keeps events from subscribers. It does not have a reading that ends because
// nobody needs it.
func TestWarnings(t *testing.T) {
	const warning = "events for subscriptions cannot be read for now"
	for _, row := range []struct {
		why     string
		trouble func(b *troubled)
		text    string
		told    bool // about what happens
	}{
		{"all is well", func(*troubled) {}, "", true},
		{"it cannot say that events are wanted", func(b *troubled) { b.want = func() error { return errBusy } }, warning, false},
		{"it can only the first time, and in five minutes others stop to keep events", func(b *troubled) {
			calls := 0
			b.want = func() error {
				if calls++; calls > 1 {
					return errBusy
				}
				return nil
			}
		}, warning, true},
		{"a read fails, and is tried again", func(b *troubled) { b.tail = func(failed func(error)) error { failed(errBusy); return nil } }, warning, true},
		{"the events are gone", func(b *troubled) { b.tail = func(func(error)) error { return outbox.ErrGone } }, warning, false},
		{"a comment cannot be read for a moment", func(b *troubled) {
			busy := once(errBusy)
			b.comment = func(int) error { return busy() }
		}, warning, true},
		{"a comment is damaged", func(b *troubled) { b.comment = func(int) error { return errDamaged } }, "a damaged item is hidden", true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &troubled{table: newTable(t)}
				row.trouble(b)
				hub, log := b.hub()
				told := false
				if s, err := follow(t, hub, "p", comment.Filter{}, ""); err == nil {
					b.happens(outbox.Added, b.random("p"), false, true)
					_, err := s.Next(t.Context())
					told = err == nil
				}
				time.Sleep(6 * time.Minute) // then it renews the wish for events
				hub.Close()
				synctest.Wait()
				if text := log.String(); told != row.told || !strings.Contains(text, row.text) || (text == "") != (row.text == "") {
					t.Errorf("told: %t; the log: %s", told, text)
				}
			})
		})
	}
}
