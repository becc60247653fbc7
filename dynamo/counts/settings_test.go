package counts

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/stream"
)

// busyTable is a table without items. As in DynamoDB, no two transactions that name one item run at
// once, and each names at most 100. All reads must be consistent.
type busyTable struct {
	VoteWriter
	mu                      sync.Mutex
	named                   map[itemKey]bool
	transactions, conflicts int
}

func (*busyTable) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, wanted := range in.RequestItems {
		if !aws.ToBool(wanted.ConsistentRead) {
			return nil, errors.New("a read is not consistent")
		}
	}
	return &dynamodb.BatchGetItemOutput{}, nil
}

func (b *busyTable) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	var keys []itemKey
	for _, write := range in.TransactItems {
		if write.Put != nil {
			keys = append(keys, keyOf(write.Put.Item))
		} else {
			keys = append(keys, keyOf(write.ConditionCheck.Key))
		}
	}
	if len(keys) > 100 {
		return nil, fmt.Errorf("a transaction has %d items", len(keys))
	}
	if !b.begin(keys) {
		return nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: new("TransactionConflict")}}}
	}
	time.Sleep(10 * time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		delete(b.named, key)
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func (b *busyTable) begin(keys []itemKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.transactions++
	for _, key := range keys {
		if b.named[key] {
			b.conflicts++
			return false
		}
	}
	for _, key := range keys {
		b.named[key] = true
	}
	return true
}

// Processes that count new products seldom conflict.
func TestNewProductsDoNotMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &busyTable{named: map[itemKey]bool{}}
		var group errgroup.Group
		for reader := range 4 {
			group.Go(func() error {
				counter := NewCounter(table, "t", CounterOptions{})
				for batch := range 10 {
					var records []stream.Record
					for i := range 100 {
						n := reader*1000 + batch*100 + i
						c := comment.Comment{ID: comment.IDOf(comment.Position{14: byte(n >> 8), 15: byte(n)}), ProductID: fmt.Sprint("p", n), Language: "en", Rating: 5, Version: 1}
						records = append(records, stream.Record{Position: stream.Position(fmt.Sprint(n)), New: layout.Encode(c)})
					}
					if err := counter.Handle(t.Context(), records); err != nil {
						return err
					}
				}
				return nil
			})
		}
		began := time.Now()
		must.Do(t, group.Wait())
		t.Logf("4,000 new products by 4 readers: %d transactions, %d of them in conflict, in %v", table.transactions, table.conflicts, time.Since(began))
		if 4*table.conflicts > table.transactions {
			t.Errorf("%d of %d transactions are in conflict", table.conflicts, table.transactions)
		}
	})
}

// After a rebuild has raised the guards, no transaction with earlier settings succeeds, whatever
// its product.
func TestSettingsChange(t *testing.T) {
	unreadable := decodeSettings(layout.Item{attrShards: layout.Text("many")})
	if comment.KindOf(unreadable.damage) != comment.Unavailable {
		t.Errorf("%v", unreadable.damage)
	}
	at4, at7 := leaderSettings{shards: 4}, leaderSettings{shards: 7, was: 4, generation: 1_000}
	for _, row := range []struct {
		why         string
		before      leaderSettings
		shards      int
		latestGuard int64
		now         int64 // milliseconds
		want        leaderSettings
	}{
		{"another number", at4, 7, 0, 1_000, at7},
		{"the same number again", at7, 7, 0, 2_000, at7},
		{"a clock that went back", at7, 5, 0, 1, leaderSettings{shards: 5, was: 7, generation: 1_001}},
		{"an interrupted change from 9 to 3", leaderSettings{shards: 3, was: 9, generation: 1}, 5, 0, 2_000, leaderSettings{shards: 5, was: 9, generation: 2_000}},
		{"settings that cannot be read", unreadable, 0, 0, 1_000, leaderSettings{shards: defaultLeaderShards, was: MaxLeaderShards, generation: 1_000}},
		{"settings that are behind their guards", at4, 0, 2_000, 1_000, leaderSettings{shards: 4, was: MaxLeaderShards, generation: 2_001}},
		{"settings whose guards were not raised yet", at7, 0, 0, 2_000, at7},
	} {
		if got := row.before.change(row.shards, row.latestGuard, time.UnixMilli(row.now)); !got.same(row.want) {
			t.Errorf("%s: %+v, want %+v", row.why, got, row.want)
		}
	}
}

// pickyTable refuses transactions that name an item of one product as invalid.
type pickyTable struct {
	busyTable
	product string
	sizes   []int
}

func (p *pickyTable) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, write := range in.TransactItems {
		if write.Put != nil && layout.ProductOfKey(write.Put.Item) == p.product {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.sizes = append(p.sizes, len(in.TransactItems))
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "Item size has exceeded the maximum allowed size"}
		}
	}
	return p.busyTable.TransactWriteItems(ctx, in, o...)
}

// Records that DynamoDB refuses as invalid are found by halving the batch, and named. The rest of
// the batch is counted.
func TestWhatIsRefusedIsFoundByHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &pickyTable{busyTable: busyTable{named: map[itemKey]bool{}}, product: "p77"}
		var records []stream.Record
		for i := range 200 {
			product := fmt.Sprint("p", i)
			if i%10 == 0 {
				product = table.product
			}
			c := comment.Comment{ID: comment.IDOf(comment.Position{15: byte(i)}), ProductID: product, Language: "en", Rating: 1, Version: 1}
			records = append(records, stream.Record{Position: stream.Position(fmt.Sprint(i)), New: layout.Encode(c)})
		}
		err := NewCounter(table, "t", CounterOptions{}).Handle(t.Context(), records)
		var named stream.RecordErrors
		if !errors.As(err, &named) || len(named) != 21 {
			t.Fatalf("%v", err)
		}
		for i := range named {
			if product, err := layout.ProductOf(records[i].New); err != nil || product != table.product {
				t.Errorf("record %d of product %s is named", i, product)
			}
		}
		if len(table.sizes) > 3*21 {
			t.Errorf("%d transactions were refused", len(table.sizes))
		}
	})
}

// silentTable leaves all keys of each read unprocessed.
type silentTable struct{ busyTable }

func (s *silentTable) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
}

// What a busy table leaves out of its answer is unknown, and does not count as missing.
func TestUnprocessedKeysAreNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &silentTable{busyTable{named: map[itemKey]bool{}}}
		var named stream.RecordErrors
		err := NewCounter(table, "t", CounterOptions{}).Handle(t.Context(), []stream.Record{{Position: "1", New: layout.Encode(changed(1, 5))}})
		if !errors.As(err, &named) || comment.KindOf(named[0]) != comment.Throttled || table.transactions > 0 {
			t.Errorf("%v, after %d transactions", err, table.transactions)
		}
	})
}
