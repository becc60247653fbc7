package webhooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Damaged is an error about an item that Talkback would not write this way, for example one edited
// by hand. It shows no value except the keys.
type Damaged struct {
	// Hook is the id of the hook.
	Hook string
	// Item names the item and says what is wrong with it.
	Item layout.Improper
	Cure string
}

// Error names the item, what is wrong with it, and the cure.
func (d Damaged) Error() string { return d.Item.String() + "; " + d.Cure }

// hookIn reads a hook. damaged is nil if it can be delivered to.
func hookIn(it layout.Item) (h Hook, damaged *Damaged) {
	id := layout.NewReader(it).Text(layout.AttrSK)
	text, wrong := describe(it, &h)
	h.stored = text
	known := h
	known.Kinds = nil // unknown kinds, of a later version, do no harm
	switch err := known.Check(); {
	case wrong != "":
	case h.ID != id:
		wrong = "it describes another hook"
	case err != nil:
		wrong = comment.MessageOf(err)
	}
	if wrong != "" {
		damaged = &Damaged{id, layout.NewImproper(it, wrong), "it gets no events: run talkback hooks remove " + id + ", and add it again; talkback hooks replay of the new one delivers what it missed"}
	}
	return h, damaged
}

// letterIn reads a dead letter of a hook.
func letterIn(it layout.Item, hook string) (letter DeadLetter, damaged *Damaged) {
	_, wrong := describe(it, &letter)
	if wrong == "" && layout.DeadEventPrefix+letter.ID != layout.NewReader(it).Text(layout.AttrSK) {
		wrong = "it describes another event"
	}
	if wrong != "" {
		damaged = &Damaged{hook, layout.NewImproper(it, wrong), "delete the item, and run talkback hooks replay " + hook + " with a time before the event"}
	}
	return letter, damaged
}

// describe decodes the JSON of an item into a value. It returns the text, or what is wrong with it.
func describe(it layout.Item, into any) (text, wrong string) {
	r := layout.NewReader(it)
	text = r.Text(layout.AttrHook)
	if err := r.Err(); err != nil {
		return "", err.Error()
	}
	if json.Unmarshal([]byte(text), into) != nil || !strings.HasPrefix(text, "{") {
		return "", fmt.Sprintf("attribute %q cannot be read", layout.AttrHook)
	}
	return text, ""
}
