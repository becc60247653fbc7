package counts_test

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex/runs"
)

// rebuildKeeping rebuilds with a page index to keep.
func rebuildKeeping(t *testing.T, client *dynamodb.Client, name string, index counts.PageIndex) counts.RebuildResult {
	t.Helper()
	rebuilder := newRebuilder(client, name)
	rebuilder.Pages, rebuilder.Logger = index, slog.New(slog.DiscardHandler)
	return must.Get(rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}))(t)
}

// verifyIndex fails unless verify finds exactly these kinds of drift.
func verifyIndex(t *testing.T, client *dynamodb.Client, name string, index counts.PageIndex, want ...counts.DriftKind) {
	t.Helper()
	verifier := counts.HastenVerifier(counts.NewVerifier(client, name, counts.VerifyOptions{Calls: 2, Pages: index}))
	found := must.Get(verifier.Run(t.Context(), func(int) {}))(t)
	var kinds []counts.DriftKind
	for _, drift := range found.Drifts {
		kinds = append(kinds, drift.Kind)
	}
	if !slices.Equal(want, kinds) {
		t.Errorf("%d drifts, among them %v; want %q", len(kinds), found.Drifts[:min(len(kinds), 3)], want)
	}
}

// Verify finds damage to a page index, and a rebuild starts that index anew.
func TestDamagedIndex(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	u := &unmerged{client: client, table: newTable(t, client)}
	v := vandal{t: t, client: client, table: u.table}
	rd, counter := &reader{life: newLife(commenttest.Rand(t), "p")}, keeping(client, u)
	more := func(number int) {
		rd.add(number, true)
		rd.mustCount(t, counter)
		load(t, client, u.table, rd.model.All())
	}
	more(300)
	for _, row := range []struct {
		why   string
		do    func(head runs.Head)
		finds counts.DriftKind
	}{
		{"the head has other counts", func(head runs.Head) {
			head.Counts = comment.Stats{"x-none": {Counts: comment.Counts{1}}} // no comment is in this language
			v.update("P#p", "S", "SET i = :a", &types.AttributeValueMemberB{Value: head.Encode()})
		}, counts.WrongIndex},
		{"the head has another bound", func(head runs.Head) {
			head.Bound = comment.Position{}
			v.update("P#p", "S", "SET i = :a", &types.AttributeValueMemberB{Value: head.Encode()})
		}, counts.WrongIndex},
		{"the head has a bound, and there are no runs", func(head runs.Head) {
			head.Last = head.First
			v.update("P#p", "S", "SET i = :a", &types.AttributeValueMemberB{Value: head.Encode()})
		}, counts.WrongIndex},
		{"the head cannot be read", func(runs.Head) {
			v.update("P#p", "S", "SET i = :a", &types.AttributeValueMemberB{Value: []byte("?")})
		}, counts.WrongIndex},
		{"the head is gone", func(runs.Head) { v.update("P#p", "S", "REMOVE i") }, counts.MissingIndex},
		{"an entry of the log cannot be read", func(head runs.Head) {
			v.update("R#p", layout.LogEntrySK(head.Last), "SET v = :a", &types.AttributeValueMemberB{Value: []byte("?")})
		}, counts.WrongIndex},
		{"an entry of the log is gone", func(head runs.Head) { v.delete("R#p", layout.LogEntrySK(head.Last)) }, counts.WrongIndex},
	} {
		t.Run(row.why, func(t *testing.T) {
			verifyIndex(t, client, u.table, u)
			row.do(u.head(t, "p"))
			verifyIndex(t, client, u.table, u, row.finds)
			rebuildKeeping(t, client, u.table, u)
			verifyIndex(t, client, u.table, u)
			u.check(t, rd.life)
			more(3)
			u.check(t, rd.life)
		})
	}
}

// A rebuild that keeps the index starts it for each product that is large enough, also with
// languages that share a row. A rebuild that does not keep it drops the index of each product it
// rewrites, and leaves other products alone. Comments that a rebuild counts go through the index.
func TestRebuildKeepsTheIndex(t *testing.T) {
	r := commenttest.Rand(t)
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	u := &unmerged{client: client, table: newTable(t, client)}
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
		load(t, client, u.table, l.model.All())
	}
	rebuildKeeping(t, client, u.table, u)
	u.check(t, large)
	u.check(t, many)
	verifyIndex(t, client, u.table, u)
	if again := rebuildKeeping(t, client, u.table, u); again.Repaired > 0 {
		t.Errorf("the second rebuild repairs %d products", again.Repaired)
	}

	before := u.head(t, "large")
	fresh := large.comment(true)
	large.model.Insert(fresh)
	load(t, client, u.table, []comment.Comment{fresh})
	rebuildKeeping(t, client, u.table, u)
	if after := u.check(t, large); after.First != before.First {
		t.Error("the index started anew although it was right")
	}
	v := vandal{t: t, client: client, table: u.table}
	v.update("P#many", "S", "SET g = :a", text("*=0,0,0,0,1"))
	rebuild(t, client, u.table)
	u.check(t, large)
	if head := u.head(t, "many"); head.Exists() {
		t.Error("a rebuild without the index leaves the heads of products that it rewrites")
	}
}
