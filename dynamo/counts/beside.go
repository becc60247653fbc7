package counts

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// statisticsAttrs are the attributes that tell statistics, but for PK and those that the items of
// comments have too.
const statisticsAttrs = layout.AttrSK + "," + attrGrid + "," + attrNewest

// Beside is what StatsBeside fetched.
type Beside struct {
	// Found has the statistics of products that have comments, Failed those that could not be
	// fetched.
	Found  map[string]Snapshot
	Failed map[string]error
	// Comments are the items of comments that exist.
	Comments []layout.Item
	// Left are the ids of comments that the table left out.
	Left []comment.ID
}

// StatsBeside fetches statistics of products like StatsOf, and comments beside them, eventually
// consistently and in one call. There must be 1 to MaxKeysPerGet keys. projection names the attributes of the comments: layout.AttrPK and layout.AttrChanges among them, and none
// that statistics alone have.
func (r *Reader) StatsBeside(ctx context.Context, products []string, ids []comment.ID, projection string) (Beside, error) {
	if err := r.first.check(ctx); err != nil {
		return Beside{}, err
	}
	keys := make([]layout.Item, 0, len(products)+len(ids))
	for _, product := range products {
		keys = append(keys, layout.ProductKey(product, statisticsSK))
	}
	for _, id := range ids {
		keys = append(keys, layout.CommentKey(id))
	}
	got, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{
		Keys: keys, ProjectionExpression: aws.String(projection + "," + statisticsAttrs),
	})
	if err != nil {
		return Beside{}, call.Wrap(err, "BatchGetItem of the statistics of %d products, and of %d comments", len(products), len(ids))
	}
	out := Beside{Found: make(map[string]Snapshot, len(products)), Failed: map[string]error{}}
	for _, it := range got.Items {
		out.take(it)
	}
	for _, key := range got.Left {
		if isComment(key) {
			out.Left = append(out.Left, layout.IDOfKey(key))
		} else {
			out.Failed[layout.ProductOfKey(key)] = errStatisticsBusy
		}
	}
	for product, read := range out.Found {
		r.onRead(product, read.Stats)
	}
	return out, nil
}

// take takes an item that was fetched.
func (b *Beside) take(it layout.Item) {
	if isComment(it) {
		b.Comments = append(b.Comments, it)
		return
	}
	product := layout.ProductOfKey(it)
	decoded, err := decodeStatistics(it)
	if err != nil {
		b.Failed[product] = err
		return
	}
	b.Found[product] = decoded.snapshot()
}

func isComment(key layout.Item) bool {
	return layout.NewReader(key).Text(layout.AttrSK) == layout.CommentSK
}
