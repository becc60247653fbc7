package dynamo

import (
	"reflect"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

// Two queries that differ in any field have different keys. Each field of an empty query is set to
// several values, and no two of these queries may share a page.
func TestQueryKeysTellQueriesApart(t *testing.T) {
	var zero comment.Query
	seen := map[flightKey]string{{keyOf(zero), 0}: "the empty query", {keyOf(zero), 1}: "the same after a write"}
	eachField(t, reflect.ValueOf(&zero).Elem(), "", func(field string) {
		key := flightKey{keyOf(zero), 0}
		if other, known := seen[key]; known {
			t.Errorf("%s has the key of %s", field, other)
		}
		seen[key] = field
	})
	if len(seen) < 30 {
		t.Errorf("only %d queries were compared", len(seen))
	}
}

// eachField sets each field within a value, one at a time, to several non-zero values, and calls
// look for each.
func eachField(t *testing.T, v reflect.Value, name string, look func(name string)) {
	if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
		for i := range v.NumField() {
			eachField(t, v.Field(i), name+"."+v.Type().Field(i).Name, look)
		}
		return
	}
	values := valuesOf(v.Type())
	if len(values) == 0 {
		t.Fatalf("no values are known for %s, a %s: name some, and have the key tell them apart", name, v.Type())
	}
	before := reflect.New(v.Type()).Elem()
	for _, value := range values {
		v.Set(value)
		look(name + " of " + value.String())
	}
	v.Set(before)
}

// valuesOf returns different values for a query field of a type, some of them close to zero.
func valuesOf(t reflect.Type) (out []reflect.Value) {
	add := func(values ...any) {
		for _, value := range values {
			out = append(out, reflect.ValueOf(value).Convert(t))
		}
	}
	at := func(millisecond int64) *time.Time { moment := time.UnixMilli(millisecond); return &moment }
	switch t {
	case reflect.TypeFor[*time.Time]():
		add(at(-1), at(0), at(1), &time.Time{})
	case reflect.TypeFor[*comment.Place]():
		add(&comment.Place{}, comment.At(comment.Position{15: 1}), comment.At(comment.MaxPosition), &comment.Place{Key: 1})
	case reflect.TypeFor[*bool]():
		add(new(true), new(false))
	case reflect.TypeFor[[]int]():
		add([]int{1}, []int{2}, []int{5}, []int{1, 2}, []int{1, 2, 3, 4})
	case reflect.TypeFor[[]comment.Language]():
		add([]comment.Language{"de"}, []comment.Language{"en"}, []comment.Language{"de", "en"}, []comment.Language{"de-AT"})
	default:
		switch t.Kind() {
		case reflect.String:
			add("a", "b", "a,", "\x00")
		case reflect.Int:
			add(1, 2)
		case reflect.Bool:
			add(true)
		}
	}
	return out
}

// The first page by its number shows the same comments as the first page. Only these two are
// cached.
func TestKeyOfTheFirstPage(t *testing.T) {
	keys, cache := make([]queryKey, 3), newPageCache(time.Second, nil)
	for page := range keys {
		key := keyOf(comment.Query{Product: "42", Slice: comment.Slice{Size: 5, Page: page}})
		if got := cache.keeps(key); got != (page < 2) {
			t.Errorf("page %d is cached: %v", page, got)
		}
		keys[page] = key.page()
	}
	if keys[0] != keys[1] || keys[1] == keys[2] {
		t.Errorf("pages without a number, 1 and 2 are %+v", keys)
	}
}
