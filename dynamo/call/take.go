package call

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/wire"
)

// Taker takes the items of an answer.
type Taker interface {
	// Begin is called before the first item, with about how many will come. When it is called
	// again, the items before it do not count: their answer was damaged.
	Begin(items int)
	// Take takes an item. The Reader is valid until Take returns.
	Take(*layout.Reader)
}

// Purposeful is a Taker that says what its items are for, in a word.
type Purposeful interface {
	Taker
	// Purpose returns that word.
	Purpose() string
}

// Query makes a Query and hands over its items as they are decoded. A client with the protocol of
// this package makes no maps of them. The output has no items.
func Query(ctx context.Context, client Querier, in *dynamodb.QueryInput, items Taker) (*dynamodb.QueryOutput, error) {
	t := &taker{items: items}
	if p, ok := items.(Purposeful); ok {
		t.index, t.purpose = cmp.Or(aws.ToString(in.IndexName), tableIndex), p.Purpose()
	}
	return take(ctx, t, func(ctx context.Context) (*dynamodb.QueryOutput, []layout.Item, error) {
		output, err := client.Query(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		found := output.Items
		output.Items = nil
		return output, found, nil
	})
}

// take makes a call whose items are handed over: as records, or else those that call returns.
func take[Out any](ctx context.Context, t *taker, call func(context.Context) (*Out, []layout.Item, error)) (*Out, error) {
	output, found, err := call(context.WithValue(ctx, takerKey{}, t))
	if err == nil && !t.taken {
		t.takeMaps(found)
	}
	return output, err
}

// tableIndex stands for the table itself among its indexes.
const tableIndex = "table"

// usualItems is how many items most answers have at most: a page, and one to see whether more follow.
const usualItems = 21

// taker hands items over to a Taker.
type taker struct {
	items  Taker
	reader layout.Reader // of records
	taken  bool          // all were handed over as records
	// index and purpose are what a Query reads, and what for; empty if its Taker does not say.
	index, purpose string
}

type takerKey struct{}

// takerOf returns the taker of a call, nil for none.
func takerOf(ctx context.Context) *taker {
	t, _ := ctx.Value(takerKey{}).(*taker)
	return t
}

// begin returns what takes the items of an answer, nil if nothing does.
func (t *taker) begin() func(*wire.Record) {
	if t == nil {
		return nil
	}
	t.items.Begin(usualItems)
	return t.take
}

// take takes an item.
func (t *taker) take(r *wire.Record) {
	t.reader.Next(r)
	t.items.Take(&t.reader)
}

// end notes that an answer was decoded.
func (t *taker) end() {
	if t != nil {
		t.taken = true
	}
}

// takeMaps takes items that the SDK has decoded.
func (t *taker) takeMaps(items []layout.Item) {
	t.items.Begin(len(items))
	for _, it := range items {
		t.items.Take(layout.NewReader(it))
	}
}
