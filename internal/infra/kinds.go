package main

import (
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
var kinds = []kind{
	{
		"comment, or what is left of a deleted one", "C#<ulid>", "C",
		"A:S L:S R:S B:S H:S M:S U:S board:S place:S l:S r:N h:S t:S t:B a:B n:S v:N u:N o:M k:S y:S i:S z:S p:S j:M s:N b:S f:N g:B w:S e:N m:S q:N d:M x:S",
	},
	{"votes of a comment", "C#<ulid>", "T", "sums:S changes:N"},
	{"vote", "C#<ulid>", "V#<hash of the customer>", "U:S vote:S c:N"},
	{"report", "C#<ulid>", "F#<hash of the customer>", "U:S reason:S note:S c:N"},
	{"decision", "C#<ulid>", "D#<ulid>", "by:S from:S to:S reason:S note:S decided:N expires:N"},
	{"statistics", "P#<product>", "S", "g:S k:B w:B i:B n:N h:S board:S place:S"},
	{"statistics in a language", "P#<product>", "S#<language>", "c:S board:S place:S"},
	{"counted-as marker", "P#<product>", "M#<ulid>", "s:S p:S o:S expires:N"},
	{"page index: directory", "R#<product>", "L", "v:B n:N"},
	{"page index: log entry", "R#<product>", "L#<number>", "v:B"},
	{"page index: chunk", "R#<product>", "K#<version>-<number>", "v:B"},
	{"stores of page numbers", "PAGES", "STORES", "n:N s:M"},
	{"page markers: generations", "K#", "GENERATIONS", "current:S building:S covers:S old:SS"},
	{"page markers: header", "K#<generation>#/<product>", "H", "v:S c:M"},
	{"page markers: entry", "K#<generation>#/<product>", "E#<ulid>", "s:S p:S"},
	{"page markers: comment", "K#<generation>#<cell>/<product>", "C#<ulid>", ""},
	{"page markers: chunk", "K#<generation>#<cell>/<product>", "N#<number>", "b:B"},
	{"page markers: product", "K#<generation>", "<product>", ""},
	{"idempotency key", "KEY#<hash>", "K", "c:S d:S expires:N"},
	{"one for each customer and product", "ONE#<hash>", "ONE", "c:S d:S"},
	{"author being erased", "ERASING", "<hash of the author>", "id:S ids:L st:M rq:N co:N he:N re:N de:N ra:N rp:N vo:N ke:N ru:N wu:N ow:S who:S en:S bt:N sv:N"},
	{"author erased", "ERASED", "<hash of the author>", "un:N rq:N co:N he:N re:N de:N ra:N rp:N vo:N ke:N ru:N wu:N"},
	{"import", "IMPORTS", "N#<name>", "n:N b:N e:N w:N u:N d:N"},
	{"latest number of imports", "IMPORTS", "NUMBERS", "n:N"},
	{"layout", "SETTINGS", "LAYOUT", "v:N"},
	{"leaderboards, and guards of their settings", "STATISTICS", "LEADERS<#guard>", "shards:N was:N g:N"},
	{"rebuild", "STATISTICS", "REBUILD", "shards:N sc:N be:N la:S gf:N gs:S gw:S sg:L ow:S who:S en:S bt:N sv:N"},
	{"state of counting", "STREAM", "STATE", "n:N l:S c:BOOL t:N s:N gt:N gs:S gr:S"},
	{"heartbeat", "STREAM#HEARTBEAT#<number>", "HEARTBEAT", "l:S s:S t:N n:N expires:N"},
	{"item of the schedule", "STREAM#SCHEDULE", "SCHEDULE", "t:S"},
	{"dead letter", "STREAM#<label>#ASIDE", "<position>", "s:S k:S r:S t:N expires:N"},
	{"lease of a shard", "STREAM#<label>", "<shard>", "p:S o:S d:S n:N k:S e:BOOL a:N h:S v:N t:N expires:N"},
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
