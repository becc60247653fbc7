package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// picky fails as its errors say when one of their records is among those handed over.
type picky struct {
	errors map[string]error
	panics string
	calls  []string
	fine   []string
}

func (p *picky) Handle(_ context.Context, records []stream.Record) error {
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

// called is how the SDK says that AWS refused a call.
func called(code string) error {
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
		{"two are, the first and the last", picky{errors: map[string]error{"a": poison, "h": poison}}, "ah", 8, "bcdefg", false},
		{"a panic is poison", picky{panics: "e"}, "e", 8, "abcdfgh", false},
		{"all are poison", picky{errors: map[string]error{"a": poison, "b": poison, "c": poison, "d": poison, "e": poison, "f": poison, "g": poison, "h": poison}},
			"abcdefgh", 8, "", false},
		{"the table is busy", picky{errors: map[string]error{"f": busy}}, "", 0, "", true},
		{"AWS does not let us", picky{errors: map[string]error{"f": called("AccessDeniedException")}}, "", 0, "", true},
		{"AWS finds what is asked invalid", picky{errors: map[string]error{"f": called("ValidationException")}}, "f", 8, "abcdegh", false},
		{"credentials cannot be had", picky{errors: map[string]error{"f": &smithy.OperationError{Err: errors.New("expired")}}}, "", 0, "", true},
		{"poison, and busy behind it", picky{errors: map[string]error{"b": poison, "f": busy}}, "b", 5, "acde", true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var records []stream.Record
				for _, name := range strings.Split("abcdefgh", "") {
					records = append(records, stream.Record{Sequence: name})
				}
				failures, done, err := stream.Deliver(t.Context(), &row.handler, records)
				failed := ""
				for _, f := range failures {
					if failed += f.Record.Sequence; strings.Contains(f.Reason, "customer") {
						t.Errorf("the reason tells what was written: %s", f.Reason)
					}
				}
				got := fmt.Sprint(failed, " ", done, " ", strings.Join(row.handler.fine, ""), " ", err != nil)
				if want := fmt.Sprint(row.failures, " ", row.done, " ", row.fine, " ", row.fails); got != want {
					t.Errorf("%q, want %q; calls %q", got, want, row.handler.calls)
				}
			})
		})
	}
}

// The end of the context is no record's fault.
func TestDeliverIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	handler := &picky{errors: map[string]error{"a": errors.New("closed")}}
	failures, done, err := stream.Deliver(ctx, handler, []stream.Record{{Sequence: "a"}})
	if len(failures) > 0 || done != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %d, %v", failures, done, err)
	}
}
