package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

// Possible products' ids, titles and authors' names.
var (
	wide   = "陶器の湯のみ茶碗"
	arabic = "كتاب-الطبخ"
	emoji  = "👩‍👩‍👧‍👦-mug"
	escape = "mug \x1b[2J\u202e"
	long   = strings.Repeat("p", comment.MaxIDBytes)
)

// screens returns the output of commands on a screen, for names that are hard to print.
func screens(screen output.Screen) string {
	width := 80
	if screen.Columns > 0 {
		width = min(screen.Columns, output.Readable)
	}
	return "# explain\n" + planText(screenedPlan(), screen) +
		"\n# stream --status\n" + screenedStatus().text(screen) +
		"\n# verify\n" + verifiedText(screenedDrifts(), 1500*time.Millisecond, screen) +
		"\n# rebuild\n" + screen.Fold(rebuildSummary(counts.RebuildResult{Products: 12345, Comments: 67, Repaired: 8, Resumed: true}, time.Minute)+"\n") +
		"\n# import\n" + importedText("714 rows = 700 written + 0 already there + 11 repeated in the file + 3 rejected, in 1.2 s (595 rows/s), all counted after another 0.5 s\nThe rejected rows, with line and reason, are in "+output.Printable(wide+".rejects.tsv"), screen) + "\n" +
		"\n# a report of import\n" + previewText(screenedPreview(), "zh", screen) +
		"\n# show\n" + inspectionText(screenedComment(), width, screen) +
		"\n# stats\n" + screenedRatings().text(noon, screen) +
		"\n# an error\n" + screen.Fold(screen.Error("talkback:")+" "+output.PrintableLines(noProduct(escape).Error())) + "\n"
}

func screenedPreview() *importer.Preview {
	file := "id,product,rating,title,text,date,status,reply," + wide + ",images\n"
	for i, product := range []string{long, wide, escape} {
		file += fmt.Sprintf("%d,%s,%d,%s,%s,2024-05-01,%s,%s,,\n", i, product, 1+i, "Un "+escape+emoji, strings.Repeat(wide+" ", 6), []string{"ok", "spam", "unheard-of " + arabic}[i], "Merci "+arabic)
	}
	in, err := importer.Open(context.Background(), "-", reviewfile.Options{Language: "zh"}, strings.NewReader(file))
	if err != nil {
		panic(err)
	}
	preview, err := in.Peek(context.Background(), 100)
	if err != nil {
		panic(err)
	}
	return preview
}

func screenedPlan() comment.QueryPlan {
	rank, price := 40, 1.5
	plan := comment.QueryPlan{
		Position:      &comment.PagePosition{By: comment.ByIndex, Rank: &rank, Skipped: 3, Waves: 2, Calls: 3, ReadUnits: 1.5},
		Candidates:    []comment.PlanCandidate{{Name: "cells", Reads: 4, EstimatedUnits: &price, Price: &price, Chosen: true}, {Name: "whole product", Reads: 1}},
		ItemsReturned: 20, Waves: 1, Queries: 5, ItemsRead: 105, ReadUnits: 2.5, MostUnits: 96, Duration: 1500 * time.Microsecond,
	}
	for i, product := range []string{"mug", wide, arabic, emoji, escape, long} {
		plan.Reads = append(plan.Reads, comment.PlanRead{Index: "byLangAndRating", PartitionKey: "P#" + product + "/zh-Hant/4", Limit: 21, Queries: 1, ItemsRead: 21, ItemsKept: 4 * i, ReadUnits: .5})
	}
	plan.Skipped = []comment.PlanSkip{{Index: "byRating", PartitionKey: "P#" + wide + "/1", AsOf: noon}}
	return plan
}

func screenedStatus() status {
	return status{
		now:   noon,
		state: stream.State{Label: "l", Gap: &stream.Gap{Found: noon.Add(-time.Hour), Shard: "s", Reason: "records were dropped"}},
		leases: []stream.Lease{
			{Shard: "shardId-00000001777017600000-0a1b2c3d", Owner: "talkback serve (pid 4711 on web-1)", Checkpoint: "49590338271490256608559692538361571095921575989136588898", CaughtUp: noon.Add(-2 * time.Hour), DeadLetters: 1},
			{Shard: "shardId-00000001777017600001-4e5f6a7b", Ended: true, Checkpoint: "42", CaughtUp: noon},
			{Shard: "shardId-00000001777017599999-5c6d7e8f"},
		},
		pages:       []keeper.Status{{Name: "redis://cache:6379/0", Asked: true, Away: errors.New("connection refused")}},
		deadLetters: []stream.DeadLetter{{Key: "PK=C#\x1b[2J SK=C", Reason: "error of kind 0", Found: noon.Add(-time.Minute)}},
		rebuild:     counts.RebuildStatus{Who: "talkback serve (pid 1 on h)", Items: 12345},
	}
}

func screenedDrifts() counts.Verified {
	found := counts.Verified{Products: 6, Comments: 12345, Voted: 1234, Unproven: true, Restless: []string{wide}}
	for _, product := range []string{"mug", wide, arabic, escape, long} {
		found.Drifts = append(found.Drifts, counts.Drift{Product: product, Kind: counts.WrongCount, Detail: "zh-Hant, 4 stars: counted as 12 instead of 13"})
	}
	found.Improper = []layout.Improper{{Key: "C#01HZ0000000400000000000000/C", Reason: "it has no rating"}}
	return found
}

func screenedComment() dynamo.Inspection {
	title := emoji + " Très \x1b[31mbien"
	c := comment.Comment{
		ID: "c_01HZ0000000400000000000000", ProductID: wide, Rating: 4, Language: "zh-Hant", Title: &title, Version: 3,
		Text:   "One line that is wider than narrow terminals are.\n" + strings.Repeat(wide+"。", 6) + "\n" + arabic + "\n\x1b]0;x\a" + long,
		Author: comment.Author{ID: "u-42", Name: "Zoë " + arabic + " " + emoji, Imported: true},
	}
	return dynamo.Inspection{Comment: c, CompressedBytes: 90, Entries: []dynamo.Entry{
		{PartitionAttr: "PK", PartitionKey: "C#01HZ0000000400000000000000", SortAttr: "SK", SortKey: "C", Bytes: 1365},
		{Index: "byLangAndRating", PartitionAttr: "B", PartitionKey: "P#" + long + "/zh-Hant/4", SortAttr: "PK", SortKey: "C#01HZ0000000400000000000000", Bytes: 330},
	}}
}

func screenedRatings() ratings {
	latest, upTo := noon.Add(-time.Hour), noon.Add(-1500*time.Millisecond)
	return ratings{
		product: wide + " " + escape, counts: comment.Counts{1, 0, 345, 6172, 12345}, latest: &latest, upTo: &upTo,
		languages: []languageRatings{{"zh-Hant", comment.Counts{0, 0, 345, 6172, 12345}}, {"others", comment.Counts{1}}},
	}
}

// On a terminal, no line is wider than the terminal, except for a single wider word, which stays
// whole so that it can be copied. No control character reaches the terminal.
func TestScreensFit(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{32, 40, 50, 60, 80, 100, 200} {
		for line := range strings.Lines(screens(output.Screen{Columns: columns, Style: true})) {
			line = strings.TrimSuffix(line, "\n")
			if fields := strings.Fields(line); output.Width(line) > columns && output.Width(fields[len(fields)-1])+12 < columns {
				t.Errorf("%d columns: %d are taken by %q", columns, output.Width(line), line)
			}
			if plain := output.Unstyled(line); plain != output.Printable(plain) {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
	}
}

// The output of commands in a file and on terminals of some widths is in testdata/screens.golden.
// Colors are shown at 80 columns, with «1m» for an escape.
func TestScreens(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, screen := range []output.Screen{{}, {Columns: 40}, {Columns: 60}, {Columns: 80, Style: true}} {
		fmt.Fprintf(&got, "======== %+v\n\n%s\n", screen, screens(screen))
	}
	shown := strings.NewReplacer("\x1b[0m", "»", "\x1b[", "«").Replace(got.String())
	goldentest.Compare(t, "testdata/screens.golden", []byte(shown))
}
