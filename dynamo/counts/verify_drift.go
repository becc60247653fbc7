package counts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// DriftKind is in what a product's statistics are wrong.
type DriftKind string

// The kinds of drift.
const (
	// WrongCount is a number of comments in one language with one rating that is not the number of such comments.
	WrongCount DriftKind = "wrong count"
	// EmptyLanguage is a language among the counts in which there are no comments.
	EmptyLanguage DriftKind = "empty language"
	// WrongSum is a count that is not the number of the marks that say so.
	WrongSum DriftKind = "wrong sum"
	// MissingMark is a comment that is not marked as counted.
	MissingMark DriftKind = "missing mark"
	// WrongMark is a comment that is marked as counted in another language or with another rating.
	WrongMark DriftKind = "wrong mark"
	// StrayMark is a mark by which a comment is counted that is not there.
	StrayMark DriftKind = "stray mark"
	// FurtherMarks are more marks of a product that do not fit their comments than are told one by one.
	FurtherMarks DriftKind = "further marks"
	// MissingLeader is a product that is not on a leaderboard on which it belongs.
	MissingLeader DriftKind = "missing leader"
	// WrongLeader is a product on a leaderboard with a wrong number of comments.
	WrongLeader DriftKind = "wrong leader"
	// WrongShard is a product in a part of a leaderboard in which nobody looks for it, or in another than its own.
	WrongShard DriftKind = "wrong shard"
	// WrongRow is a row of the languages that share one which is not the sum of their counts.
	WrongRow DriftKind = "wrong row"
	// UnreadableStatistics are statistics of which nothing can be read.
	UnreadableStatistics DriftKind = "unreadable statistics"
	// UnreadableMark is a mark of which nothing can be read.
	UnreadableMark DriftKind = "unreadable mark"
	// StrayLeader is a product on a leaderboard on which it does not belong.
	StrayLeader DriftKind = "stray leader"
)

// Drift is something that is wrong about the statistics of a product.
type Drift struct {
	// Product is the id of the product.
	Product string
	// Kind is what sort of thing is wrong.
	Kind DriftKind
	// Detail is where, what is there, and what should be.
	Detail string

	// follows is whether it can only be wrong because a mark or a sum is. A product that is written all the time may be seen
	// to lag by the same number at each look, for other comments each time.
	follows bool
}

// String is the product, the kind and the detail on one line.
func (d Drift) String() string { return fmt.Sprintf("%s: %s: %s", d.Product, d.Kind, d.Detail) }

// compare puts drifts in an order for people.
func (d Drift) compare(other Drift) int {
	return cmp.Or(strings.Compare(d.Product, other.Product), strings.Compare(string(d.Kind), string(other.Kind)), strings.Compare(d.Detail, other.Detail))
}

// drifts are what a steady look found that does not fit, but for single marks.
func (e *examined) drifts(settings leaderSettings) []Drift {
	var out []Drift
	add := func(kind DriftKind, follows bool, detail string, args ...any) {
		out = append(out, Drift{Product: e.product, Kind: kind, Detail: fmt.Sprintf(detail, args...), follows: follows})
	}
	if e.after.damaged != nil {
		_, err := decodeStatistics(e.after.damaged)
		add(UnreadableStatistics, false, "%v", err)
		return out
	}
	counted := e.counted()
	for cell := range cellsThatDiffer(counted, e.listed) {
		add(WrongCount, true, "%s: %d counted, and there are %d", cellName(cell), at(counted, cell), at(e.listed, cell))
	}
	for cell := range cellsThatDiffer(counted, e.marked) {
		add(WrongSum, false, "%s: %d counted, and there are %d marks", cellName(cell), at(counted, cell), at(e.marked, cell))
	}
	if shared, rows := e.after.stats[comment.OtherLanguages], (statistics{others: e.rows}).shared(); shared != rows {
		add(WrongRow, false, "languages that share a row: %d comments counted, and their own counts say %d", shared.Total(), rows.Total())
	}
	for language, counts := range e.after.stats {
		if counts == (comment.Counts{}) {
			add(EmptyLanguage, false, "%s: it has no comments", language)
		}
	}
	e.leaderDrifts(settings, add)
	return out
}

// leaderDrifts holds the leaderboards against the comments.
func (e *examined) leaderDrifts(settings leaderSettings, add func(kind DriftKind, follows bool, detail string, args ...any)) {
	right, counted := placesOf(e.product, e.listed, settings.shards), placesOf(e.product, e.counted(), settings.shards)
	moving := right
	if settings.was != 0 { // a rebuild moves the products from one number of shards to the other
		moving = placesOf(e.product, e.listed, settings.was)
	}
	for _, language := range slices.Sorted(maps.Keys(right)) {
		there, found := e.places[language]
		follows := there == counted[language]
		switch want := right[language]; {
		case !found:
			add(MissingLeader, follows, "%s: it is not there, and has %d", boardName(language), bestCount(e.listed, language))
		case there.sort != want.sort:
			add(WrongLeader, follows, "%s: %s, and has %d", boardName(language), leaderName(there), bestCount(e.listed, language))
		case there.partition != want.partition && there.partition != moving[language].partition:
			add(WrongShard, false, "%s: it stands in %q, and belongs into %q", boardName(language), there.partition, want.partition)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(e.places)) {
		if _, wanted := right[language]; !wanted {
			there := e.places[language]
			add(StrayLeader, there == counted[language], "%s: %s, and has none", boardName(language), leaderName(there))
		}
	}
}

// drift is what is wrong about a mark.
func (m misfit) drift(product string) Drift {
	switch {
	case m.unreadable != nil:
		return Drift{Product: product, Kind: UnreadableMark, Detail: m.unreadable.Error()}
	case m.cell == nil:
		return Drift{Product: product, Kind: StrayMark, Detail: fmt.Sprintf("comment %s is counted as %s, and is not there", m.id, textOf(m.counted))}
	case m.counted == nil:
		return Drift{Product: product, Kind: MissingMark, Detail: fmt.Sprintf("comment %s is %s, and is not counted", m.id, textOf(m.cell))}
	}
	return Drift{Product: product, Kind: WrongMark, Detail: fmt.Sprintf("comment %s is counted as %s, and is %s", m.id, textOf(m.counted), textOf(m.cell))}
}

func cellName(cell comment.Cell) string {
	if cell.Rating == 1 {
		return string(cell.Language) + ", 1 star"
	}
	return fmt.Sprintf("%s, %d stars", cell.Language, cell.Rating)
}

func boardName(language comment.Language) string {
	if language == "" {
		return "leaderboard"
	}
	return "leaderboard of " + string(language)
}

// leaderName says as what a product stands on a leaderboard.
func leaderName(keys leaderKeys) string {
	leader, err := parseLeaderKey(keys.sort)
	if err != nil {
		return fmt.Sprintf("it stands there as %q", keys.sort)
	}
	return fmt.Sprintf("it stands there with %d", leader.Count)
}
