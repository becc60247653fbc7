package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// picky returns the error of the first bad record in a call.
type picky struct {
	errors map[string]error
	panics string
	calls  []string
	fine   []string
}

func (p *picky) handle(_ context.Context, records []stream.Record) error {
	var names []string
	for _, r := range records {
		names = append(names, r.Sequence)
	}
	p.calls = append(p.calls, strings.Join(names, ""))
	for _, name := range names {
		if name == p.panics {
			panic("the words of a customer")
		}
		if err := p.errors[name]; err != nil {
			return err
		}
	}
	p.fine = append(p.fine, names...)
	return nil
}

// refusedCall returns the SDK's error for a call that AWS refused.
func refusedCall(code string) error {
	return fmt.Errorf("count: %w", &smithy.OperationError{OperationName: "TransactWriteItems", Err: &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient}})
}

func TestDeliver(t *testing.T) {
	poison, busy := errors.New("the words of a customer"), comment.Errorf(comment.Throttled, "busy")
	for _, row := range []struct {
		why      string
		handler  picky
		failures string
		done     int
		fine     string
		fails    bool
	}{
		{"all is well", picky{}, "", 8, "abcdefgh", false},
		{"one is poison", picky{errors: map[string]error{"c": poison}}, "c", 8, "abdefgh", false},
		{"the first and the last are poison", picky{errors: map[string]error{"a": poison, "h": poison}}, "ah", 8, "bcdefg", false},
		{"a panic is poison", picky{panics: "e"}, "e", 8, "abcdfgh", false},
		{"all are poison", picky{errors: map[string]error{"a": poison, "b": poison, "c": poison, "d": poison, "e": poison, "f": poison, "g": poison, "h": poison}},
			"abcdefgh", 8, "", false},
		{"the table is busy", picky{errors: map[string]error{"f": busy}}, "", 0, "", true},
		{"AWS denies access", picky{errors: map[string]error{"f": refusedCall("AccessDeniedException")}}, "", 0, "", true},
		{"AWS calls the request invalid", picky{errors: map[string]error{"f": refusedCall("ValidationException")}}, "f", 8, "abcdegh", false},
		{"no credentials are available", picky{errors: map[string]error{"f": &smithy.OperationError{Err: errors.New("expired")}}}, "", 0, "", true},
		{"poison, and the table is busy later", picky{errors: map[string]error{"b": poison, "f": busy}}, "b", 5, "acde", true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var records []stream.Record
				for _, name := range strings.Split("abcdefgh", "") {
					records = append(records, stream.Record{Sequence: name})
				}
				failed := ""
				done, err := stream.Deliver(t.Context(), row.handler.handle, records, func(i int, reason string) error {
					if failed += records[i].Sequence; strings.Contains(reason, "customer") {
						t.Errorf("the reason contains a customer's words: %s", reason)
					}
					return nil
				})
				got := fmt.Sprint(failed, " ", done, " ", strings.Join(row.handler.fine, ""), " ", err != nil)
				if want := fmt.Sprint(row.failures, " ", row.done, " ", row.fine, " ", row.fails); got != want {
					t.Errorf("%q, want %q; calls %q", got, want, row.handler.calls)
				}
			})
		})
	}
}

// If the context ends, no record fails.
func TestDeliverIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	handler := &picky{errors: map[string]error{"a": errors.New("closed")}}
	done, err := stream.Deliver(ctx, handler.handle, []stream.Record{{Sequence: "a"}}, nil)
	if done != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", done, err)
	}
}

// Records that the handler's error names become failures together, after as many tries as a single
// record gets.
func TestDeliverNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []stream.Record
		bad := map[string]int{"7": 1} // number of times that each fails
		for i := range 1000 {
			records = append(records, stream.Record{Sequence: fmt.Sprint(i)})
			if i%10 == 1 {
				bad[fmt.Sprint(i)] = 9
			}
		}
		calls, fine := 0, 0
		handler := func(_ context.Context, records []stream.Record) error {
			calls++
			failed := stream.RecordErrors{}
			for i, r := range records {
				if bad[r.Sequence]--; bad[r.Sequence] >= 0 {
					failed[i] = errors.New("the words of a customer")
				}
			}
			if fine += len(records) - len(failed); len(failed) == 0 {
				return nil
			}
			return failed
		}
		began := time.Now()
		var failures []string
		done, err := stream.Deliver(t.Context(), handler, records, func(i int, reason string) error {
			failures = append(failures, records[i].Sequence+" "+reason)
			return nil
		})
		if len(failures) != 100 || done != 1000 || err != nil || fine != 900 || calls != 3 || time.Since(began) > time.Second {
			t.Errorf("%d failures, %d done, %v, %d fine in %d calls, %v", len(failures), done, err, fine, calls, time.Since(began))
		}
		if !strings.HasPrefix(failures[1], "11 ") || strings.Contains(failures[1], "customer") {
			t.Errorf("the second is %s", failures[1])
		}
	})
}

// Records after one that waits wait too, since they may be of the same item, unless both were
// handed over at once.
func TestNothingPassesARecordThatWaits(t *testing.T) {
	busy := comment.Errorf(comment.Throttled, "busy")
	handler := func(_ context.Context, records []stream.Record) error {
		if len(records) > 4 {
			return errors.New("too much at once")
		}
		if records[0].Sequence == "a" {
			return stream.RecordErrors{0: busy}
		}
		return nil
	}
	var records []stream.Record
	for _, name := range "abcdefgh" {
		records = append(records, stream.Record{Sequence: string(name)})
	}
	done, err := stream.Deliver(t.Context(), handler, records, nil)
	var waiting stream.RecordErrors
	if !errors.As(err, &waiting) || done != 0 || len(waiting) != 5 || waiting[7] == nil || waiting[3] != nil {
		t.Errorf("up to %d: %v", done, err)
	}
}
