package command_test

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Settled comments are a page of the whole list: with its cursors, and beside the counts of all.
func TestSettledComments(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "42", 2)
	comments[1].ID = comment.IDOf(comment.PositionAt(time.Now(), [10]byte{}))
	a.load(comments...)
	a.count(arrived(comments...)...)
	var data struct {
		Product struct{ All, Settled, Next page }
	}
	const asked = `query($after: String) { product(id: "42") {
		all: comments(order: OLDEST_FIRST) { edges { cursor node { id } } }
		settled: comments(order: OLDEST_FIRST, settledOnly: true) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } }
		next: comments(order: OLDEST_FIRST, settledOnly: true, after: $after) { edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } }
	} }`
	a.mustAsk(asked, nil, &data)
	all, settled := data.Product.All.Edges, data.Product.Settled
	if len(all) != 2 || len(settled.Edges) != 1 || settled.Edges[0] != all[0] || settled.PageInfo.HasNextPage {
		t.Fatalf("%d comments, of which settled: %+v", len(all), settled)
	}
	for _, edge := range all { // also after one that is too recent
		a.mustAsk(asked, map[string]any{"after": edge.Cursor}, &data)
		if next := data.Product.Next; len(next.Edges) > 0 || next.PageInfo.HasNextPage || !next.PageInfo.HasPreviousPage || next.PageInfo.EndCursor != nil {
			t.Errorf("after %s: %+v", edge.Node.ID, next)
		}
	}
	var counted struct {
		Product struct{ Comments struct{ TotalCount int } }
	}
	a.mustAsk(`{ product(id: "42") { comments(settledOnly: true) { totalCount } } }`, nil, &counted)
	if total := counted.Product.Comments.TotalCount; total != 2 {
		t.Errorf("%d comments in all", total)
	}
}
