package must_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// ended is a test that notes what ended it.
type ended struct{ with []any }

func (*ended) Helper() {}

func (e *ended) Fatal(args ...any) { e.with = append(e.with, args...) }

func TestFailedStepsEndATest(t *testing.T) {
	broken, e := errors.New("broken"), &ended{}
	must.Do(e, nil)
	if got := must.Get(5, nil)(e); got != 5 || len(e.with) != 0 {
		t.Errorf("a step that returned 5: %d, and the test ended with %v", got, e.with)
	}
	must.Do(e, broken)
	must.Get(5, broken)(e)
	if len(e.with) != 2 || e.with[0] != broken || e.with[1] != broken {
		t.Errorf("two steps that failed ended the test with %v", e.with)
	}
}

// A condition is waited for as long as it takes, and one that never holds ends the test.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, e := time.Now(), &ended{}
		must.Wait(e, "a minute is over", func() bool { return time.Since(began) >= time.Minute })
		if took := time.Since(began); took > time.Minute+200*time.Millisecond || len(e.with) > 0 {
			t.Errorf("waited %v, and the test ended with %v", took, e.with)
		}
		must.Wait(e, "never", func() bool { return len(e.with) > 0 })
		if len(e.with) != 2 || e.with[1] != "never" {
			t.Errorf("the test ended with %v", e.with)
		}
	})
}
