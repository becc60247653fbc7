// Package restore writes the items of a copy of the table back: comments and all items that cannot
// be derived, such as votes, reports, decisions and tombstones. It leaves out counts, the page
// index and the state of the stream, because counting the new table makes them anew. It also leaves
// out events and hooks.
//
// kinds.go selects these items, check.go checks whether a copy can be restored, and loader.go
// writes the items.
package restore

import (
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Kind says how a restore treats an item.
type Kind int

const (
	// Unknown is an item that this release does not know.
	Unknown Kind = iota
	// Comment is a comment or its tombstone.
	Comment
	// Beside is any other item that is restored. Comments are restored first: votes without their
	// comment would be deleted as those of a deleted one.
	Beside
	// Derived is an item that can be derived from others, or that only holds the progress of a
	// process. It is left out.
	Derived
	// Layout is the item with the layout version of the table.
	Layout
)

// Items outside the partitions of comments, by the prefixes of their partition keys.
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
	{"DOCTOR#", Derived},              // test items of talkback doctor
	{"OUT", Derived},                  // events, which were delivered or expire
	{"HOOK", Derived},                 // hooks: a copy must not post to the addresses of the original
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
