package commenttest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

// Random comments have every field of a comment. So tests that write random comments and read them
// back, as items, in exports and in restored tables, fail when a new field gets lost on the way.
func TestRandomCommentsHaveEveryField(t *testing.T) {
	r := Rand(t)
	// A Mark is made by each edit. A ReplyDeletion is in no export: a restored reply starts anew.
	found := map[string]bool{"Mark": true, "ReplyDeletion": true}
	for range 2000 {
		setFields(reflect.ValueOf(Moderated(r, Nasty(r, "42"))), "", found)
	}
	var all []string
	fieldsOf(reflect.TypeFor[comment.Comment](), "", &all)
	for _, field := range all {
		if !found[field] {
			t.Errorf("no random comment has %s: set it in Random, Nasty or Moderated, and write, read and export it", field)
		}
	}
	if !slices.Contains(all, "Moderation.HeldEdit.Text") {
		t.Errorf("the fields are %v: this test does not find them any more", all)
	}
}

// fieldsOf adds the paths of the fields of a type that have no fields of their own.
func fieldsOf(of reflect.Type, path string, all *[]string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		*all = append(*all, path)
		return
	}
	for field := range of.Fields() {
		fieldsOf(field.Type, below(path, field.Name), all)
	}
}

// setFields notes the paths of fields that are not zero.
func setFields(value reflect.Value, path string, found map[string]bool) {
	switch _, isTime := reflect.TypeAssert[time.Time](value); {
	case value.IsZero():
	case value.Kind() == reflect.Pointer:
		setFields(value.Elem(), path, found)
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			setFields(value.Index(i), path, found)
		}
	case value.Kind() == reflect.Struct && !isTime:
		for field, inside := range value.Fields() {
			setFields(inside, below(path, field.Name), found)
		}
	default:
		found[path] = true
	}
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
