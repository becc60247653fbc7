package command

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo/call"
)

// Where nothing can be counted, the work beside is not concerned, and its end is the end.
func TestCountingFailsBesideTheWork(t *testing.T) {
	var said bytes.Buffer
	session := &Session{Client: call.NewLocalClient("http://127.0.0.1:1"), Table: "t"}
	counting := newCounting(session, "talkback serve", slog.New(slog.NewTextHandler(&said, nil)))
	counting.prepare(t.Context())
	done := errors.New("done")
	err := counting.beside(t.Context(), func(ctx context.Context) error {
		rest(ctx, time.Millisecond)
		return done
	})
	if !errors.Is(err, done) {
		t.Error(err)
	}
	if !strings.Contains(said.String(), "it is not known whether all comments are counted") {
		t.Errorf("the log says %s", &said)
	}
}

// What panics is begun again, and its value is not told.
func TestPanicIsAnError(t *testing.T) {
	err := withoutPanic(t.Context(), func(context.Context) error { panic("what a customer wrote") })
	if err == nil || err.Error() != "panic with a string" {
		t.Error(err)
	}
}

// A further gap is not told twice to who has not even begun with the first.
func TestNoticeGap(t *testing.T) {
	c := newCounting(&Session{Client: call.NewLocalClient("http://127.0.0.1:1"), Table: "t"}, "talkback serve", slog.New(slog.DiscardHandler))
	c.noticeGap()
	c.noticeGap()
	<-c.gap
	select {
	case <-c.gap:
		t.Error("told twice")
	default:
	}
}
