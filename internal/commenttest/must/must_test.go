package must_test

import (
	"errors"
	"testing"

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
