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

// page is a kind of page, with the read units of an uncached view.
type page struct {
	what  string
	share float64
	units layout.Units
}

// deepPage is the number of a numbered page, if the product has that many. Pages near the beginning
// are read through to, and cost less.
const deepPage = 10

// pages returns the kinds of pages. TestTheEngineBillsPages compares them with the engine.
func (w Workload) pages() []page {
	first := comment.Slice{Size: int(w.PageSize)}
	further, numbered := first, first
	further.After, numbered.Page = new(comment.Place), deepPage
	filter := comment.Filter{Languages: languages(int(w.FilterLanguages))}
	for rating := comment.MaxRating; rating > comment.MaxRating-int(w.FilterRatings); rating-- {
		filter.Ratings = append(filter.Ratings, rating)
	}
	filter, _ = filter.Normalize() // the filter is valid
	statistics := layout.Units{layout.InTable: dynamo.StatsUnits()}
	with := func(units layout.Units) layout.Units { units.Add(statistics, 1); return units }
	leaders := counts.LeadersBill(int(w.Leaders), len(productName))
	return []page{
		{"product pages", w.Kinds.Product, with(w.mean(comment.Query{Slice: first}))},
		{"further pages", w.Kinds.Further, w.mean(comment.Query{Slice: further})},
		{"pages by number", w.Kinds.Numbered, with(w.mean(comment.Query{Slice: numbered}))},
		{"filtered lists", w.Kinds.Filtered, with(w.mean(comment.Query{Filter: filter, Slice: first}))},
		{"lists of products", w.Kinds.Lists, layout.Units{layout.InTable: w.ListSize * dynamo.StatsUnits()}},
		{"leaderboards", w.Kinds.Leaderboards, layout.Units{layout.InTable: layout.EventualUnits(1), layout.Boards: leaders - layout.EventualUnits(1)}},
	}
}

// mean returns the expected read units of a page: the mean over the products, weighted by views.
func (w Workload) mean(q comment.Query) layout.Units {
	q.Order = comment.NewestFirst
	units := layout.Units{}
	for _, class := range w.classes() {
		units.Add(w.expected(q, class.comments), class.share)
	}
	return units
}

// expected returns the read units that a page of a product with that many comments is expected to
// take. It replaces a page beyond the end by the last one.
func (w Workload) expected(q comment.Query, comments float64) layout.Units {
	stats := w.statsOf(comments)
	if total := stats.Counts(q.Filter).Total(); q.Slice.Page > 0 {
		q.Slice.Page = min(q.Slice.Page, (total-1)/q.Slice.Size+1)
	}
	return planner.Expected(planner.Knowledge{Stats: stats, Trusted: true, Sizes: w.sizes()}, q, dynamo.TypicalLookup())
}

// sizes returns the mean entry size in list indexes. Its deviation is that of unknown products.
func (w Workload) sizes() planner.Sizes {
	it, bytes := layout.Encode(w.example()), 0
	for _, index := range layout.ListIndexes() {
		bytes += layout.EntrySize(it, index) / len(layout.ListIndexes())
	}
	return planner.Sizes{Any: planner.ItemSize{Mean: float64(bytes), Deviation: float64(bytes) / 2}}
}

// reads returns the read units of a month's uncached views, in total and by kind.
func (w Workload) reads() (kinds []Line, all layout.Units) {
	all = layout.Units{}
	for _, page := range w.pages() {
		views := w.Views * page.share * (1 - w.Cached)
		if views == 0 {
			continue
		}
		kinds = append(kinds, Line{What: page.what, Number: views, Each: page.units.Total()})
		all.Add(page.units, views)
	}
	return kinds, all
}

// deed is a kind of change of a comment, and its consumption.
type deed struct {
	what   string
	number float64
	// writes are the write units of each deed without counting, and reads its read units.
	writes layout.Units
	reads  float64
	// counting are the write units of counting a deed, countingReads the read units.
	counting      layout.Units
	countingReads float64
	// records is how many stream records each deed causes, not including those of counting.
	records float64
}

// deeds returns the changes of comments in a month. TestTheEngineBillsDeeds checks them.
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
	arrives, leaves, votes := w.countingCost(false), w.countingCost(true), votingCost(c)
	vote := layout.VoteItem(c.ID, strings.Repeat("0", 32), comment.CastVote{By: customerID, Vote: comment.Helpful, At: moment})
	report := layout.ReportItem(c.ID, strings.Repeat("0", 64), comment.Report{By: customerID, Reason: comment.ReportReason("SPAM"), At: moment})
	one := dynamo.CommentUnits()
	looks := arrives.reads // the counter reads how a comment is counted also if no count changes
	return []deed{
		{what: "new comments", number: w.NewComments * (1 - w.Held), writes: add(item), counting: arrives.writes, countingReads: arrives.reads, records: 1},
		{what: "new comments that wait", number: w.NewComments * w.Held, writes: add(heldItem), countingReads: looks, records: 1},
		{
			what: "their approval", number: w.NewComments * w.Held, reads: one, records: 2,
			writes: sum(1, layout.WriteUnits(heldItem, item, true), 1, beside), counting: arrives.writes, countingReads: arrives.reads,
		},
		{what: "edits of texts", number: w.Edits, writes: layout.WriteUnits(item, layout.Encode(edited), false), reads: one, countingReads: looks, records: 1},
		{
			what: "deletions", number: w.Deletions, reads: one, records: 1, counting: leaves.writes, countingReads: leaves.reads,
			writes: layout.WriteUnits(item, layout.Tombstone(c.ID, strings.Repeat("0", 26), moment), false),
		},
		{
			what: "votes", number: w.Votes, reads: one + dynamo.ViewerVoteUnits(), writes: layout.WriteUnits(nil, vote, false),
			counting: votes.writes, countingReads: votes.reads + looks, records: 2,
		},
		{what: "replies", number: w.Replies, writes: layout.WriteUnits(item, layout.Encode(replied), false), reads: one, countingReads: looks, records: 1},
		{
			what: "reports", number: w.Reports, reads: one, countingReads: looks, records: 2,
			writes: sum(1, layout.WriteUnits(nil, report, true), 1, layout.WriteUnits(item, reported, true)),
		},
	}
}

// counting is the consumption of counting one move.
type counting struct {
	writes layout.Units
	reads  float64
}

// logUnits is the write units of the page index's log and its merges for each added comment,
// logUnitsOfGone for each deleted one: BenchmarkCostOfTheIndex of dynamo/counts, with 10^5
// comments.
const (
	logUnits       = .047
	logUnitsOfGone = 3.4
)

// countingCost returns the consumption of counting comments that are added, or deleted, one at a
// time: the mean over products and ratings.
func (w Workload) countingCost(gone bool) counting {
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

// votingCost returns the consumption of counting one vote about a comment that has some already:
// its item moves among the helpful ones. The counter reads its votes before and after.
func votingCost(c comment.Comment) counting {
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

// Stored returns the bytes stored for a comment with its marker, and for a vote.
func (w Workload) Stored() (comments, votes layout.Units) {
	c := w.example()
	marker := layout.ProductKey(c.ProductID, layout.MarkerSKPrefix+c.ID.Position().String())
	marker[layout.AttrCell] = layout.Text(layout.CellText(c.Cell()))
	marker["p"] = layout.Text(strings.Repeat("0", 64)) // a position in the stream
	vote := layout.VoteItem(c.ID, strings.Repeat("0", 32), comment.CastVote{By: customerID, Vote: comment.Helpful, At: moment})
	return sum(1, layout.StoredBytes(layout.Encode(c)), 1, layout.StoredBytes(marker)), layout.StoredBytes(vote)
}
