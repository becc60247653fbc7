package counts_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/pageindex/table"
)

// rebuildKeeping rebuilds and keeps the page index.
func rebuildKeeping(t *testing.T, client *dynamodb.Client, name string) counts.RebuildResult {
	t.Helper()
	rebuilder := newRebuilder(client, name)
	rebuilder.Pages, rebuilder.Logger = table.New(client, name), slog.New(slog.DiscardHandler)
	return must.Get(rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}))(t)
}

// verifyIndex is verify, also of the page index.
func verifyIndex(t *testing.T, client *dynamodb.Client, name string, want ...counts.DriftKind) {
	t.Helper()
	verifyWith(t, client, name, counts.VerifyOptions{Calls: 2, Pages: table.New(client, name)}, want...)
}

// Verify finds damage to a page index, and a rebuild starts that index anew.
func TestDamagedIndex(t *testing.T) {
	r := commenttest.Rand(t)
	client, name := newTableAt(t, dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: name}
	rd, counter := &reader{life: newLife(r, "p")}, keeping(client, name)
	more := func(number int) {
		for range number {
			c := rd.comment(true) // languages are so long that the runs take several chunks
			c.Language = comment.Language(fmt.Sprintf("x-aaaaaaaa-bbbbbbbb-cccccccc-%03d", rd.changes%130))
			c.Votes, c.ImportedVotes = comment.VoteCounts{}, comment.VoteCounts{} // which are verified with calls of their own
			rd.note(nil, &c)
		}
		rd.mustCount(t, counter)
		counter.AwaitMerges(t.Context())
		all := rd.model.All()
		load(t, client, name, all[len(all)-number:])
	}
	more(280)
	if chunks := sortKeys(t, client, name, "R#p", "K#"); len(chunks) < 2 {
		t.Fatalf("chunks %q", chunks)
	}
	setHead := func(change func(head *runs.Head)) func() {
		return func() {
			head := headOf(t, client, name, "p")
			change(&head)
			v.update("P#p", "S", "SET i = :a", layout.Binary(head.Encode()))
		}
	}
	unreadable := layout.Binary([]byte("?"))
	lastEntry := func() string { return layout.LogEntrySK(headOf(t, client, name, "p").Last) }
	chunk := func() string { return sortKeys(t, client, name, "R#p", "K#")[0] }
	for _, row := range []struct {
		why   string
		do    func()
		finds counts.DriftKind // WrongIndex if empty
	}{
		{why: "the head has other counts", do: setHead(func(head *runs.Head) {
			head.Counts = comment.Stats{"x-none": {Counts: comment.Counts{1}}} // no comment is in this language
		})},
		{why: "the head has another bound", do: setHead(func(head *runs.Head) { head.Bound = comment.Position{} })},
		{why: "the head has a bound, and there are no runs", do: setHead(func(head *runs.Head) { head.Last = head.First })},
		{why: "the head cannot be read", do: func() { v.update("P#p", "S", "SET i = :a", unreadable) }},
		{why: "the head is gone", finds: counts.MissingIndex, do: func() { v.update("P#p", "S", "REMOVE i") }},
		{why: "an entry of the log cannot be read", do: func() { v.update("R#p", lastEntry(), "SET v = :a", unreadable) }},
		{why: "an entry of the log is gone", do: func() { v.delete("R#p", lastEntry()) }},
		{why: "a chunk is gone", do: func() { v.delete("R#p", chunk()) }},
		{why: "a chunk cannot be read", do: func() { v.update("R#p", chunk(), "SET v = :a", text("?")) }},
		{why: "the directory is gone", do: func() { v.delete("R#p", layout.DirectorySK) }},
		{why: "the directory cannot be read", do: func() { v.update("R#p", layout.DirectorySK, "SET v = :a", unreadable) }},
		{why: "the head is gone, and what is left of the index cannot be read", finds: counts.MissingIndex, do: func() {
			v.update("P#p", "S", "REMOVE i")
			v.update("R#p", layout.DirectorySK, "SET v = :a", unreadable)
		}},
		{why: "neither the statistics nor the head can be read", finds: counts.UnreadableStatistics, do: func() {
			v.update("P#p", "S", "SET i = :a REMOVE g", unreadable)
		}},
		{why: "the statistics cannot be read, and an entry of the log is gone", finds: counts.UnreadableStatistics, do: func() {
			v.update("P#p", "S", "REMOVE g")
			v.delete("R#p", lastEntry())
		}},
		{why: "only the statistics cannot be read", finds: counts.UnreadableStatistics, do: func() { v.update("P#p", "S", "REMOVE n") }},
		{why: "everything is gone", do: func() {
			for _, sort := range sortKeys(t, client, name, "R#p", "") {
				v.delete("R#p", sort)
			}
		}},
	} {
		t.Run(row.why, func(t *testing.T) {
			more(3)
			if len(sortKeys(t, client, name, "R#p", lastEntry())) == 0 {
				t.Fatal("the log has no entry")
			}
			row.do()
			verifyIndex(t, client, name, cmp.Or(row.finds, counts.WrongIndex))
			rebuildKeeping(t, client, name)
			verifyIndex(t, client, name)
			checkRanks(t, r, client, name, "p", rd.model)
		})
	}
	more(3)
	checkIndex(t, client, name, rd.life)
}

// sortKeys returns the sort keys in a partition that have a prefix.
func sortKeys(t *testing.T, client *dynamodb.Client, name, partition, prefix string) (found []string) {
	t.Helper()
	for it, err := range call.Items(t.Context(), client, call.PartitionInput(name, text(partition), prefix), partition) {
		must.Do(t, err)
		found = append(found, layout.NewReader(it).Text("SK"))
	}
	return found
}

// A rebuild that keeps the index starts it for each product that is large enough, also with
// languages that share a row. A rebuild that does not keep it drops the index of each product it
// rewrites, and leaves other products alone. Comments that a rebuild counts go through the index.
func TestRebuildKeepsTheIndex(t *testing.T) {
	r := commenttest.Rand(t)
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	name := newTable(t, client)
	large, many, small := newLife(r, "large"), newLife(r, "many"), newLife(r, "small")
	large.add(300, true)
	many.add(300, true)
	small.add(3, true)
	languages := commenttest.ManyLanguages(150)
	for i, c := range many.model.All()[:len(languages)] {
		c.Language = languages[i]
		many.model.Replace(c)
	}
	for _, l := range []*life{large, many, small} {
		load(t, client, name, l.model.All())
	}
	rebuildKeeping(t, client, name)
	checkIndex(t, client, name, large)
	checkIndex(t, client, name, many)
	verifyIndex(t, client, name)
	if again := rebuildKeeping(t, client, name); again.Repaired > 0 {
		t.Errorf("the second rebuild repairs %d products", again.Repaired)
	}

	before := headOf(t, client, name, "large")
	fresh := large.comment(true)
	large.model.Insert(fresh)
	load(t, client, name, []comment.Comment{fresh})
	rebuildKeeping(t, client, name)
	if after := checkIndex(t, client, name, large); after.First != before.First {
		t.Error("the index started anew although it was right")
	}
	v := vandal{t: t, client: client, table: name}
	v.update("P#many", "S", "SET g = :a", text("*=0,0,0,0,1"))
	rebuild(t, client, name)
	checkIndex(t, client, name, large)
	if head := headOf(t, client, name, "many"); head.Exists() {
		t.Error("a rebuild without the index leaves the heads of products that it rewrites")
	}
}
