package main

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/talkback/talkback/dynamo/layout"
)

// kind is a kind of items, a facet of the model. A part of a key in angle brackets varies.
type kind struct {
	name, pk, sk string
	// attributes are those beside the primary key, each with its type behind a colon, the usual one first.
	attributes string
}

// kinds are all kinds of items, as docs/design/table.md has them. An item is of the first kind whose keys
// are its own.
var kinds = readKinds()

//go:embed kinds.txt
var kindsText string

// readKinds reads kinds.txt.
func readKinds() (all []kind) {
	for line := range strings.Lines(kindsText) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 4 {
			all = append(all, kind{fields[0], fields[1], fields[2], fields[3]})
		}
	}
	return all
}

// attribute is a name and a type of an attribute.
type attribute struct{ name, kind string }

// all returns the attributes of a kind beside the primary key.
func (k kind) all() []attribute {
	var all []attribute
	for _, field := range strings.Fields(k.attributes) {
		name, kind, _ := strings.Cut(field, ":")
		all = append(all, attribute{name, kind})
	}
	return all
}

// variable is a part of a key that varies.
var variable = regexp.MustCompile(`<[^>]*>`)

// has reports whether a key has a form.
func has(key, form string) bool {
	quoted := variable.ReplaceAllString(regexp.QuoteMeta(form), ".*")
	return regexp.MustCompile("^" + quoted + "$").MatchString(key)
}

// kindOf returns the kind of an item in DynamoDB's JSON.
func kindOf(item object) (k kind, ok bool) {
	text := func(attr string) string {
		value, _ := item[attr].(object)
		key, _ := value["S"].(string)
		return key
	}
	for _, k := range kinds {
		if has(text(layout.AttrPK), k.pk) && has(text(layout.AttrSK), k.sk) {
			return k, true
		}
	}
	return kind{}, false
}
