// Package restore writes the items of a copy of the table back: comments and all items that cannot
// be derived, such as votes, reports, decisions and tombstones. It leaves out counts, the page
// index and the state of the stream, because counting the new table makes them anew. It also leaves
// out events and hooks.
//
// kinds.go selects these items and checks whether a copy can be restored, and loader.go writes
// them. A copy can be an export of DynamoDB to Amazon S3, in a bucket or copied to a folder. The
// format is that of full exports in DynamoDB JSON:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
//
// open.go finds an export and reads its manifests, read.go its items, and export.go restores them.
// place.go has the places of files: folders and buckets.
package restore

import (
	"fmt"
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

// mostImproper bounds how many malformed items are listed.
const mostImproper = 1000

// Check checks all items of a copy before anything is written. The zero Check has seen none.
type Check struct {
	// Comments, Deleted and Beside are the numbers of comments, tombstones and other items to
	// restore, and Derived is the number of items left out.
	Comments, Deleted, Beside, Derived int
	// Improper has comments that cannot be read. They are restored as they are.
	Improper []layout.Improper
	// Imports has the items of imports; see package imports.
	Imports []layout.Item

	unknown int
	example string // the beginning of the key of an unknown item
	version int64  // of the layout; 0 if no item has it
}

// Add adds an item.
func (c *Check) Add(it layout.Item) {
	switch KindOf(it) {
	case Comment:
		if layout.NoComment(it) {
			c.Deleted++
			return
		}
		c.Comments++
		if _, err := layout.Decode(it); err != nil && len(c.Improper) < mostImproper {
			c.Improper = append(c.Improper, layout.NewImproper(it, err.Error()))
		}
	case Beside:
		if c.Beside++; layout.NewReader(it).Text(layout.AttrPK) == importsPK {
			c.Imports = append(c.Imports, it)
		}
	case Derived:
		c.Derived++
	case Layout:
		c.version = layout.NewReader(it).OptionalNumber(layout.AttrVersion)
	default:
		if c.unknown++; c.unknown == 1 {
			begins, _, _ := strings.Cut(layout.NewReader(it).OptionalText(layout.AttrPK), "#")
			c.example = begins[:min(len(begins), len("STATISTICS"))] // the rest may be about a person
		}
	}
}

// Err returns why the copy cannot be restored by a program with the given layout version; nil if it
// can.
func (c *Check) Err(table string, version int64) error {
	switch {
	case c.version != 0 && c.version != version:
		return fmt.Errorf("table %q had layout %d when it was exported; this release knows layout %d: restore it with the release that wrote it, and move from there as docs/operate/migrate.md says", table, c.version, version)
	case c.unknown > 0 && c.Comments == 0:
		return fmt.Errorf("table %q is no table of Talkback: none of its items is a comment, and the keys of %s", table, c.unknownText())
	case c.unknown > 0:
		return fmt.Errorf("this release does not know all items of table %q: the keys of %s; use the release that wrote them", table, c.unknownText())
	case c.Comments > 0 && len(c.Improper) == min(c.Comments, mostImproper):
		return fmt.Errorf("no comment of table %q can be read by this release, for instance %s; use the release that wrote them", table, c.Improper[0])
	}
	return nil
}

func (c *Check) unknownText() string {
	return fmt.Sprintf("%d begin with letters such as %q", c.unknown, c.example)
}
