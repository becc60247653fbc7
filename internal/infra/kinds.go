package main

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/talkback/talkback/dynamo/layout"
)

// kind is a kind of items, a facet of the model. Parts of keys in angle brackets vary.
type kind struct {
	name, pk, sk string
	// attributes are the attributes besides the primary key, each with its type after a colon, the
	// usual type first.
	attributes string
}

// kinds are all kinds of items, as in docs/design/table.md. An item's kind is the first one whose
// keys match.
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

// attribute is the name and the type of an attribute.
type attribute struct{ name, kind string }

// all returns the attributes of a kind, besides the primary key.
func (k kind) all() []attribute {
	var all []attribute
	for _, field := range strings.Fields(k.attributes) {
		name, kind, _ := strings.Cut(field, ":")
		all = append(all, attribute{name, kind})
	}
	return all
}

// variable matches a part of a key that varies.
var variable = regexp.MustCompile(`<[^>]*>`)

// has reports whether a key matches a form.
func has(key, form string) bool {
	quoted := variable.ReplaceAllString(regexp.QuoteMeta(form), ".*")
	return regexp.MustCompile("^" + quoted + "$").MatchString(key)
}

// kindOf returns the kind of an item in DynamoDB JSON.
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
