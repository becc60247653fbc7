// Package restore puts the items of a copy of the table back: comments, and what cannot be found out
// anew, such as who voted, reported and decided, tombstones and marks of erased authors. Counts, the
// page index and the state of the stream follow from these and are left out: the process that counts the
// new table makes them. Events and hooks are left out, too.
//
// kinds.go says which items those are, check.go whether a copy can be restored, and loader.go writes
// them.
package restore

import (
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Kind is what an item is to a restore.
type Kind int

const (
	// Unknown is an item that this release does not know.
	Unknown Kind = iota
	// Comment is a comment or its tombstone.
	Comment
	// Beside is anything else that is restored. Votes that come before their comment would be deleted
	// as those of a deleted one, so comments are restored first.
	Beside
	// Derived is an item that follows from others, or that only says how far a process is. It is left out.
	Derived
	// Layout is the item that says which layout a table has.
	Layout
)

// Items that have a partition of their own, by what their partition keys begin with.
var partitions = []struct {
	prefix string
	kind   Kind
}{
	{layout.ProductPKPrefix, Derived}, // statistics and markers
	{"R#", Derived},                   // page index
	{"K#", Derived},                   // page markers
	{"PAGES", Derived},                // stores of page numbers
	{"STREAM", Derived},               // leases, heartbeats
	{"STATISTICS", Derived},           // state of counting
	{"DOCTOR#", Derived},              // what talkback doctor tries out
	{"OUT", Derived},                  // events, which were delivered or expire
	{"HOOK", Derived},                 // hooks, too: a copy must not post to the addresses that the table posts to
	{"SETTINGS", Layout},
	{"KEY#", Beside},   // idempotency keys: a retry may come after the move
	{"ONE#", Beside},   // one comment for each customer and product
	{"ERASED", Beside}, // authors who were erased
	{"ERASING", Beside},
	{importsPK, Beside},
}

const importsPK = "IMPORTS"

// KindOf returns the kind of an item, by its key.
func KindOf(key layout.Item) Kind {
	r := layout.NewReader(key)
	pk, sk := r.Text(layout.AttrPK), r.Text(layout.AttrSK)
	if ulid, of := strings.CutPrefix(pk, layout.CommentPKPrefix); of {
		if _, err := comment.ParseID(comment.IDPrefix + ulid); err != nil {
			return Unknown
		}
		switch sk {
		case layout.CommentSK:
			return Comment
		case layout.VoteSumsSK:
			return Derived
		}
		for _, prefix := range []string{layout.DecisionSKPrefix, layout.ReportSKPrefix, layout.VoteSKPrefix} {
			if strings.HasPrefix(sk, prefix) {
				return Beside
			}
		}
		return Unknown
	}
	for _, p := range partitions {
		if strings.HasPrefix(pk, p.prefix) {
			return p.kind
		}
	}
	return Unknown
}
