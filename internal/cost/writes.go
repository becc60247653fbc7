package cost

import (
	"math/rand/v2"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// deed is something that changes a comment, and what that consumes.
type deed struct {
	what   string
	number float64
	// writes are the write units of each, counting left out, and reads its read units.
	writes layout.Units
	reads  float64
	// counting are the write units of counting each, countingReads the read units.
	counting      layout.Units
	countingReads float64
	// records is how many records the stream has of each, beside those of counting.
	records float64
}

// deeds are what changes comments in a month. TestTheEngineBillsTheSame holds them against the
// Store and the engine.
func (w Workload) deeds() []deed {
	c := w.example()
	held, edited, replied := c, c, c
	held.Status, held.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: moment}
	edited.Text, edited.Version, edited.UpdatedAt = text(w.TextBytes, rand.New(rand.NewPCG(2, 2))), 2, &moment
	replied.Reply = &comment.Reply{Text: text(w.ReplyBytes, rand.New(rand.NewPCG(3, 3))), Name: shopName, CreatedAt: moment, Version: 1}
	reported := layout.Encode(c)
	reported[layout.AttrReports] = layout.Number(1)

	item, heldItem := layout.Encode(c), layout.Encode(held)
	beside := layout.WriteUnits(nil, layout.CommentKey(c.ID), true) // a small item in the same transaction, in no index
	add := func(it layout.Item) layout.Units {
		units := sum(1-w.Keyed, layout.WriteUnits(nil, it, false), w.Keyed, layout.WriteUnits(nil, it, true))
		units.Add(beside, w.Keyed)
		return units
	}
	arrives, leaves, votes := w.counted(false), w.counted(true), voted(c)
	vote := layout.VoteItem(c.ID, strings.Repeat("0", 32), comment.CastVote{By: customerID, Vote: comment.Helpful, At: moment})
	report := layout.ReportItem(c.ID, strings.Repeat("0", 64), comment.Report{By: customerID, Reason: comment.ReportReason("SPAM"), At: moment})
	one := dynamo.CommentUnits()
	return []deed{
		{what: "new comments", number: w.NewComments * (1 - w.Held), writes: add(item), counting: arrives.writes, countingReads: arrives.reads, records: 1},
		{what: "new comments that wait", number: w.NewComments * w.Held, writes: add(heldItem), records: 1},
		{
			what: "their approval", number: w.NewComments * w.Held, reads: one, records: 2,
			writes: sum(1, layout.WriteUnits(heldItem, item, true), 1, beside), counting: arrives.writes, countingReads: arrives.reads,
		},
		{what: "edits of texts", number: w.Edits, writes: layout.WriteUnits(item, layout.Encode(edited), false), reads: one, records: 1},
		{
			what: "deletions", number: w.Deletions, reads: one, records: 1, counting: leaves.writes, countingReads: leaves.reads,
			writes: layout.WriteUnits(item, layout.Tombstone(c.ID, strings.Repeat("0", 26), moment), false),
		},
		{
			what: "votes", number: w.Votes, reads: one + dynamo.ViewerVoteUnits(), writes: layout.WriteUnits(nil, vote, false),
			counting: votes.writes, countingReads: votes.reads, records: 2,
		},
		{what: "replies", number: w.Replies, writes: layout.WriteUnits(item, layout.Encode(replied), false), reads: one, records: 1},
		{
			what: "reports", number: w.Reports, reads: one, records: 2,
			writes: sum(1, layout.WriteUnits(nil, report, true), 1, layout.WriteUnits(item, reported, true)),
		},
	}
}

// counting is what counting one move consumes.
type counting struct {
	writes layout.Units
	reads  float64
}

// logUnits is what the log of the page index and its merges take for each comment that comes, and for
// each that goes: BenchmarkCostOfTheIndex of dynamo/counts measures them, at 10^5 comments a product.
const (
	logUnits       = .047
	logUnitsOfGone = 3.4
)

// counted returns what counting consumes if comments come, or go, one by one: the mean of products and
// ratings.
func (w Workload) counted(gone bool) counting {
	mean := counting{writes: layout.Units{layout.InTable: logUnits}}
	if gone {
		mean.writes[layout.InTable] = logUnitsOfGone
	}
	for _, class := range w.classes() {
		stats := w.statsOf(class.comments)
		for i, share := range planner.LikelyRatings() {
			move := counts.Move{To: &comment.Cell{Language: languages(1)[0], Rating: i + 1}}
			if gone {
				move.From, move.To = move.To, nil
			}
			writes, reads := counts.Bill(productName, stats, []counts.Move{move}, moment)
			mean.writes.Add(writes, class.share*share)
			mean.reads += reads * class.share * share
		}
	}
	return mean
}

// voted returns what counting a vote consumes if votes come one by one, of a comment that has some: its
// item moves among the helpful ones. Its votes are counted before that and after it.
func voted(c comment.Comment) counting {
	c.Votes = comment.VoteCounts{Helpful: 4, NotHelpful: 1}
	before := layout.Encode(c)
	c.Votes.Helpful++
	const lookup = 3 // the comment, the place of its sums, and its votes, consistently
	return counting{writes: layout.WriteUnits(before, layout.Encode(c), false), reads: 2 * lookup}
}

func sum(times float64, a layout.Units, more float64, b layout.Units) layout.Units {
	units := layout.Units{}
	units.Add(a, times)
	units.Add(b, more)
	return units
}

// Stored returns the bytes that a comment takes with its marker, and those that a vote takes.
func (w Workload) Stored() (comments, votes layout.Units) {
	c := w.example()
	marker := layout.ProductKey(c.ProductID, layout.MarkerSKPrefix+c.ID.Position().String())
	marker[layout.AttrCell] = layout.Text(layout.CellText(c.Cell()))
	marker["p"] = layout.Text(strings.Repeat("0", 64)) // a position in the stream
	vote := layout.VoteItem(c.ID, strings.Repeat("0", 32), comment.CastVote{By: customerID, Vote: comment.Helpful, At: moment})
	return sum(1, layout.StoredBytes(layout.Encode(c)), 1, layout.StoredBytes(marker)), layout.StoredBytes(vote)
}
