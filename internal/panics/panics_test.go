package panics_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/talkback/talkback/internal/panics"
)

func explode() error { panic("what a customer wrote") }

// A panic becomes an error that keeps its value and says only its type; an error stays as it is.
func TestTry(t *testing.T) {
	err := panics.Try(explode)
	var panicked *panics.Error
	if !errors.As(err, &panicked) || err.Error() != "panic with a string" || panicked.Value != "what a customer wrote" {
		t.Errorf("%v", err)
	}
	if !bytes.Contains(panicked.Stack, []byte("panics_test.explode")) {
		t.Errorf("the stack does not show who panicked:\n%s", panicked.Stack)
	}
	broken := errors.New("broken")
	if err := panics.Try(func() error { return broken }); err != broken {
		t.Error(err)
	}
	if err := panics.Try(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
