package task_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/task"
)

func explode() error { panic("what a customer wrote") }

// A panic becomes an error that keeps its value and says only its type; an error stays as it is.
func TestTry(t *testing.T) {
	err := task.Try(explode)
	var panicked *task.Panic
	if !errors.As(err, &panicked) || err.Error() != "panic with a string" || panicked.Value != "what a customer wrote" {
		t.Errorf("%v", err)
	}
	if !bytes.Contains(panicked.Stack, []byte("task_test.explode")) {
		t.Errorf("the stack does not show who panicked:\n%s", panicked.Stack)
	}
	broken := errors.New("broken")
	if err := task.Try(func() error { return broken }); err != broken {
		t.Error(err)
	}
	if err := task.Try(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// An error of the runtime holds nothing that customers wrote, and says what to look for.
func TestRuntimeErrorsAreTold(t *testing.T) {
	var list []int
	err := task.Try(func() error { list[len(list)] = 1; return nil })
	if err == nil || err.Error() != "panic: runtime error: index out of range [0] with length 0" {
		t.Errorf("%v", err)
	}
}

// A guarded function says where it panicked, and still not with what; its own errors stay as they
// are.
func TestGuarded(t *testing.T) {
	err := task.Guarded(explode)()
	var panicked *task.Panic
	if !errors.As(err, &panicked) || !strings.Contains(err.Error(), "task_test.explode") || strings.Contains(err.Error(), "customer") {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if err := task.Guard(func() error { return broken }); err != broken {
		t.Error(err)
	}
}
