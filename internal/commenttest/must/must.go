// Package must ends a test whose step fails. Only tests import it.
package must

import "time"

// TB is the part of a test that ends it. A test, a benchmark, a fuzz test and a check of package
// rapid have it.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if a step failed:
//
//	must.Do(t, store.Delete(ctx, c))
func Do(tb TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Get returns a function that returns the result of a step, and ends the test if the step failed:
//
//	page := must.Get(store.Comments(ctx, query))(t)
func Get[T any](result T, err error) func(TB) T {
	return func(tb TB) T {
		tb.Helper()
		Do(tb, err)
		return result
	}
}

// patience bounds the wait for a condition. Only a failing test uses it up.
const patience = 5 * time.Minute

// Wait waits until a condition holds, and ends the test if it never does. The longer that takes,
// the rarer it looks, since what it waits for shares the processors: a look comes at most a
// thirtieth of the wait too late.
//
//	must.Wait(t, "the engine is gone", func() bool { return !alive(pid) })
func Wait(tb TB, what string, holds func() bool) {
	tb.Helper()
	for began, pause := time.Now(), time.Millisecond; !holds(); pause = min(max(pause, time.Since(began)/30), 200*time.Millisecond) {
		if time.Since(began) > patience {
			tb.Fatal("waited in vain until ", what)
		}
		time.Sleep(pause)
	}
}
