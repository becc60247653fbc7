package counts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// DriftKind is a way in which a product's statistics are wrong.
type DriftKind string

// The kinds of drift.
const (
	WrongCount           DriftKind = "wrong count"     // a count of a language and rating that differs from the number of such comments
	WrongSum             DriftKind = "wrong sum"       // a count that differs from the number of its markers
	MissingMarker        DriftKind = "missing marker"  // a comment without a marker that counts it
	WrongMarker          DriftKind = "wrong marker"    // a comment whose marker has another language or rating
	StrayMarker          DriftKind = "stray marker"    // a marker that counts a comment which does not exist
	FurtherMarkers       DriftKind = "further markers" // more markers of the product are wrong than are reported one by one
	MissingLeader        DriftKind = "missing leader"  // a product that is missing from a leaderboard
	WrongLeader          DriftKind = "wrong leader"    // a product on a leaderboard with a wrong number of comments
	WrongShard           DriftKind = "wrong shard"     // a product in a wrong shard, or on the leaderboard of another language
	WrongRow             DriftKind = "wrong row"       // a shared row that is not the sum of the counts of its languages
	UnreadableStatistics DriftKind = "unreadable statistics"
	UnreadableMarker     DriftKind = "unreadable marker"
	StrayLeader          DriftKind = "stray leader"            // a product on a leaderboard where it does not belong
	WrongNewest          DriftKind = "wrong newest"            // statistics whose positions of the newest comments are missing or too old
	WrongIndex           DriftKind = "wrong page index"        // a page index that does not match the markers, or that cannot be read
	HiddenInLists        DriftKind = "hidden comment in lists" // a comment that is in lists although it is not approved
	WrongLists           DriftKind = "wrong lists"             // a comment that is in wrong lists, or missing from some
	MissingInQueue       DriftKind = "missing in queue"        // a comment that waits for a moderator but is not in the queue
	WrongPlace           DriftKind = "wrong place in queue"    // a comment whose place in the queue belongs to another
	StrayInQueue         DriftKind = "stray in queue"          // a comment in the queue that does not wait
	WrongVotes           DriftKind = "wrong votes"             // a comment that shows wrong numbers of votes, or votes of a comment that is gone
	MissingIndex         DriftKind = "missing page index"      // a product that is large enough for a page index but has none
)

// Drift is one thing that is wrong with the statistics of a product.
type Drift struct {
	// Product is the id of the product.
	Product string
	Kind    DriftKind
	// Detail says where it is, what is stored, and what should be.
	Detail string

	// follows is whether the drift counts only together with a wrong marker or a wrong sum. Alone
	// it proves nothing: for a product that is written all the time, each look may find the same
	// lag, caused by different comments.
	follows bool
}

// String returns the product, the kind and the detail on one line.
func (d Drift) String() string { return fmt.Sprintf("%s: %s: %s", d.Product, d.Kind, d.Detail) }

// compare orders drifts by product, kind and detail.
func (d Drift) compare(other Drift) int {
	return cmp.Or(strings.Compare(d.Product, other.Product), strings.Compare(string(d.Kind), string(other.Kind)), strings.Compare(d.Detail, other.Detail))
}

// drifts returns all drifts that a steady look found, except those of single markers.
func (e *examination) drifts(settings leaderSettings) []Drift {
	var out []Drift
	add := func(kind DriftKind, follows bool, detail string, args ...any) {
		out = append(out, Drift{Product: e.product, Kind: kind, Detail: fmt.Sprintf(detail, args...), follows: follows})
	}
	if e.after.damage != nil {
		add(UnreadableStatistics, false, "%v", e.after.damage)
		return out
	}
	counted := e.counts()
	for _, d := range differencesOf(counted, e.listed) {
		add(WrongCount, true, "%s: counted as %d instead of %d", cellName(d.Cell), d.a, d.b)
	}
	for _, d := range differencesOf(counted, e.marked) {
		add(WrongSum, false, "%s: counted as %d, but its markers add up to %d", cellName(d.Cell), d.a, d.b)
	}
	if shared, rows := e.after.stats[comment.OtherLanguages], (statistics{others: e.rows}).shared(); shared != rows {
		add(WrongRow, false, "languages that share a row: counted as %d, but their own counts add up to %d", shared.Total(), rows.Total())
	}
	wrong := e.misdated()
	if countsFit := !slices.ContainsFunc(out, func(d Drift) bool { return !d.follows }); countsFit && wrong != "" {
		add(WrongNewest, false, "newest comments: %s", wrong)
	}
	e.leaderDrifts(settings, add)
	if wrong := e.runs.wrong(); wrong != "" {
		add(WrongIndex, false, "%s", wrong)
	}
	if pageHeadOf(e, time.Now()).starts {
		add(MissingIndex, false, "the product has %s, but no page index", comment.Amount(e.marked.Total(), "comment"))
	}
	return out
}

// leaderDrifts compares the leaderboards with the comments.
func (e *examination) leaderDrifts(settings leaderSettings, add func(kind DriftKind, follows bool, detail string, args ...any)) {
	right, counted := placesOf(e.product, e.listed, settings.shards), placesOf(e.product, e.counts(), settings.shards)
	moving := right
	if settings.was != 0 { // a rebuild is moving the products between shards
		moving = placesOf(e.product, e.listed, settings.was)
	}
	for _, language := range slices.Sorted(maps.Keys(right)) {
		there, found := e.places[language]
		follows := there == counted[language]
		switch want := right[language]; {
		case !found:
			add(MissingLeader, follows, "%s: not listed, but should be listed with %d", boardName(language), bestCount(e.listed, language))
		case there.sort != want.sort:
			add(WrongLeader, follows, "%s: %s instead of %d", boardName(language), leaderName(there), bestCount(e.listed, language))
		case there.partition != want.partition && there.partition != moving[language].partition:
			add(WrongShard, false, "%s: stored in %q instead of %q", boardName(language), there.partition, want.partition)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(e.places)) {
		if _, wanted := right[language]; !wanted {
			there := e.places[language]
			add(StrayLeader, there == counted[language], "%s: %s, but should not be listed", boardName(language), leaderName(there))
		}
	}
}

// misdated describes what is wrong with the positions of the newest comments: they are unknown, or
// a comment is newer. It is empty if nothing is wrong.
func (e *examination) misdated() string {
	stats := e.after.stats
	if len(stats) == 0 {
		return ""
	}
	if e.after.newest == nil {
		return "their positions are missing or cannot be read"
	}
	cell, found := e.after.newest.Below(e.bounds.In(stats), stats)
	switch {
	case !found:
		return ""
	case cell.Language == "":
		return comment.Amount(cell.Rating, "star") + ": another comment is the newest"
	}
	return cellName(cell) + ": a newer comment exists"
}

func (m misfit) drift(product string) Drift {
	switch {
	case m.marker.damage != nil:
		return Drift{Product: product, Kind: UnreadableMarker, Detail: m.marker.damage.Error()}
	case m.Cell == nil:
		return Drift{Product: product, Kind: StrayMarker, Detail: fmt.Sprintf("comment %s is counted as %s, but is not in the lists of the product", m.ID, layout.CellText(*m.marker.cell))}
	case m.marker.cell == nil:
		return Drift{Product: product, Kind: MissingMarker, Detail: fmt.Sprintf("comment %s is %s, but is not counted", m.ID, layout.CellText(*m.Cell))}
	}
	return Drift{Product: product, Kind: WrongMarker, Detail: fmt.Sprintf("comment %s is %s, but is counted as %s", m.ID, layout.CellText(*m.Cell), layout.CellText(*m.marker.cell))}
}

func misfiledDrifts(keys layout.IndexKeys) (out []Drift) {
	lists, queue := []string{}, []string{}
	for _, attr := range keys.Wrong() {
		if attr == layout.AttrBoard || attr == layout.AttrPlace {
			queue = append(queue, attr)
		} else {
			lists = append(lists, attr)
		}
	}
	add := func(kind DriftKind, attrs []string, detail string) {
		if len(attrs) > 0 {
			detail = fmt.Sprintf("comment %s is %s, %s: attributes %s", keys.ID, keys.Status, detail, strings.Join(attrs, ", "))
			out = append(out, Drift{Product: keys.ProductID, Kind: kind, Detail: detail})
		}
	}
	if keys.Status != comment.Approved && keys.InLists() {
		add(HiddenInLists, lists, "but is in lists")
	} else {
		add(WrongLists, lists, "but its keys of lists are missing or wrong")
	}
	switch {
	case !keys.Waits():
		add(StrayInQueue, queue, "and does not wait, but is in the queue")
	case !keys.InQueue():
		add(MissingInQueue, queue, "and waits, but is not in the queue")
	default:
		add(WrongPlace, queue, "but its place in the queue is wrong")
	}
	return out
}

func cellName(cell comment.Cell) string {
	name := string(cell.Language) + ", " + comment.Amount(cell.Rating, "star")
	if cell.Traits != 0 {
		name += ", traits " + cell.Traits.String()
	}
	return name
}

func boardName(language comment.Language) string {
	if language == "" {
		return "leaderboard"
	}
	return "leaderboard of " + string(language)
}

func leaderName(keys leaderKeys) string {
	leader, err := parseLeaderKey(keys.sort)
	if err != nil {
		return fmt.Sprintf("listed as %q", keys.sort)
	}
	return fmt.Sprintf("listed with %d", leader.Count)
}
