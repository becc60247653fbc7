// Package must ends a test whose step fails. Only tests import it.
package must

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
