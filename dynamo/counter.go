package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// How comments are counted exactly, whatever is replayed, duplicated, overtaken, lost or killed.
//
// A counter that is added to is wrong as soon as an addition whose answer was lost is tried again. So nothing is added
// here: what a record says a comment is to be counted as (standing) is compared with what it is counted as (mark), and the
// difference goes into the product's counts in one transaction that also sets the mark, under the condition that
// everything is still as it was read. The decision is pure (tally.go). Whoever is unsure whether his transaction happened
// reads again and decides anew: if it did, nothing is left to do.
//
// A mark follows the records of its comment in their order: it carries the position of the last one, and refuses those at
// or before it. So a reader that lost its shard, and still applies what it had in hand, does no harm.

const (
	// countCalls bounds the calls of one Counter under way at once.
	countCalls = 4
	// standingsPerRound is how many comments of one product are looked up at once: what fits into one transaction at best.
	standingsPerRound = maxItemsPerTransaction - 2
)

// countClient is the part of the SDK's client that a Counter works with.
type countClient interface {
	itemGetter
	transactor
}

// Counter keeps the statistics and the leaderboard of a table by the records of its stream. It is safe for use by many
// goroutines and processes at once.
type Counter struct {
	client countClient
	table  string
	now    func() time.Time
}

var _ stream.Handler = (*Counter)(nil)

// NewCounter makes a counter for a table, which must be as Definition says.
func NewCounter(client countClient, table string) *Counter {
	return &Counter{client: client, table: table, now: time.Now}
}

// Handle counts what records say of comments; other records are of no concern. All of them are counted unless it returns
// an error, and then any of them may be. An error of the kinds Throttled, Unavailable, Timeout or Canceled may pass; any
// other is the fault of a record or of an item that it concerns.
func (c *Counter) Handle(ctx context.Context, records []stream.Record) error {
	pending := workload{}
	for _, record := range records {
		product, s, concerns, err := standingOf(record)
		if err != nil {
			return err
		}
		if concerns {
			pending.add(product, s)
		}
	}
	return c.count(ctx, pending)
}

// standingOf is what a record says of a comment, if it is about one.
func standingOf(record stream.Record) (product string, s standing, concerns bool, err error) {
	image := record.New
	if noComment(image) {
		image = record.Old
	}
	if noComment(image) {
		return "", s, false, nil // a tombstone was changed by hand
	}
	r := itemReader{item: image}
	if r.text(attrSK) != commentSK || r.missing != "" {
		return "", s, false, nil
	}
	s = standing{id: idOfKey(image), position: record.Position}
	if _, err := comment.ParseID(string(s.id)); err != nil {
		return "", s, false, fmt.Errorf("record %s: item %q is no comment", record.Position, r.text(attrPK))
	}
	if product, err = productOf(image); err != nil {
		return "", s, false, fmt.Errorf("record %s: %w", record.Position, err)
	}
	if !noComment(record.New) {
		if s.cell, err = cellOf(image); err != nil {
			return "", s, false, fmt.Errorf("record %s: %w", record.Position, err)
		}
	}
	return product, s, true, nil
}

// workload are the standings still to be counted, by product.
type workload map[string][]standing

// add takes a standing, also for an earlier one of the same comment.
func (w workload) add(product string, s standing) {
	if i := slices.IndexFunc(w[product], func(earlier standing) bool { return earlier.id == s.id }); i >= 0 {
		earlier := w[product][i]
		s.moved = earlier.moved || !sameCell(earlier.cell, s.cell)
		w[product][i] = s
		return
	}
	w[product] = append(w[product], s)
}

// count brings standings into the statistics, in as many rounds as it takes.
func (c *Counter) count(ctx context.Context, pending workload) error {
	for len(pending) > 0 {
		err := persist(ctx, func() (further bool, err error) { return c.round(ctx, pending) })
		if err != nil {
			return wrap(err, "count of comments of %d products", len(pending))
		}
	}
	return nil
}

// round counts the first standings of each product, and takes those out that are done.
func (c *Counter) round(ctx context.Context, pending workload) (further bool, err error) {
	parts := workload{}
	for product, standings := range pending {
		parts[product] = standings[:min(len(standings), standingsPerRound)]
	}
	ledgers, settings, err := c.read(ctx, parts)
	if err != nil {
		return false, err
	}
	var tallies []tally
	for _, product := range slices.Sorted(maps.Keys(parts)) {
		if ledgers[product].hold.holdsAt(c.now()) {
			err = errHeld
			continue
		}
		t := tallyUp(ledgers[product], parts[product], maxItemsPerTransaction-1)
		if t.empty() {
			pending.done(product, t.standings)
			further = true
			continue
		}
		tallies = append(tallies, t)
	}
	progress, failed := c.transactAll(ctx, tallies, settings, pending)
	return further || progress, errors.Join(err, failed)
}

// done drops the first standings of a product.
func (w workload) done(product string, standings int) {
	if w[product] = w[product][standings:]; len(w[product]) == 0 {
		delete(w, product)
	}
}

// transactAll makes tallies true, several at once, and takes the standings of those that succeeded out of what is pending.
func (c *Counter) transactAll(ctx context.Context, tallies []tally, settings leaderSettings, pending workload) (progress bool, err error) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(countCalls)
	for _, pack := range packs(tallies, settings, c.table, c.now()) {
		group.Go(recovered(func() error {
			if err := c.transact(ctx, pack, settings); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			progress = true
			for _, t := range pack.tallies {
				pending.done(t.product, t.standings)
			}
			return nil
		}))
	}
	err = group.Wait()
	return progress, err
}

// pack are tallies of different products that go into one transaction.
type pack struct {
	tallies []tally
	writes  []types.TransactWriteItem
}

// packs fills transactions with tallies. One place is left for the condition that new products need.
func packs(tallies []tally, settings leaderSettings, table string, now time.Time) []pack {
	var out []pack
	for _, t := range tallies {
		writes := t.writes(table, settings.shards, now)
		last := len(out) - 1
		if last < 0 || len(out[last].writes)+len(writes) > maxItemsPerTransaction-1 {
			out = append(out, pack{})
			last++
		}
		out[last].tallies = append(out[last].tallies, t)
		out[last].writes = append(out[last].writes, writes...)
	}
	return out
}

// transact makes the tallies of a pack true, or returns an error and does nothing; after one that leaves open whether it
// did, reading again tells.
func (c *Counter) transact(ctx context.Context, p pack, settings leaderSettings) error {
	writes := p.writes
	if slices.ContainsFunc(p.tallies, tally.creates) {
		// A rebuild that changes the number of shards looks at every product that is there. One that comes to be there must
		// not go by the old number after it has.
		writes = append(writes, settings.stillSo(c.table))
	}
	return transact(ctx, c.client, writes)
}

// transactor is the part of the SDK's client that changes several items at once.
type transactor interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// transact writes items of the statistics, all or none. That others came first is an error of the kind Throttled.
func transact(ctx context.Context, client transactor, writes []types.TransactWriteItem) error {
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) && hasReason(canceled, "ConditionalCheckFailed") {
		return &comment.Error{Kind: comment.Throttled, Message: "others count the same products; try again", Cause: err}
	}
	return wrap(err, "TransactWriteItems of %d items", len(writes))
}

// errHeld is for products whose statistics are held by a recount.
var errHeld = comment.Errorf(comment.Throttled, "the statistics of a product are being counted anew; try again")

// read fetches all that the standings hang on, consistently. The settings come last: a rebuild changes them before it goes
// through the statistics, so that they are not older than any statistics which it has gone through.
func (c *Counter) read(ctx context.Context, parts workload) (map[string]ledger, leaderSettings, error) {
	var keys []item
	for product, standings := range parts {
		keys = append(keys, productKey(product, statisticsSK))
		for _, s := range standings {
			keys = append(keys, markKey(product, s.id))
		}
	}
	items, err := fetch(ctx, c.client, c.table, keys)
	if err != nil {
		return nil, leaderSettings{}, err
	}
	settings, err := fetchSettings(ctx, c.client, c.table)
	if err != nil {
		return nil, settings, err
	}
	ledgers := make(map[string]ledger, len(parts))
	for product, standings := range parts {
		if ledgers[product], err = decodeLedger(product, standings, items); err != nil {
			return nil, settings, err
		}
	}
	return ledgers, settings, nil
}

func decodeLedger(product string, standings []standing, items map[itemKey]item) (ledger, error) {
	l := ledger{product: product, marks: make(map[comment.ID]mark, len(standings))}
	var err error
	if l.statistics, err = decodeStatistics(items[keyOf(productKey(product, statisticsSK))]); err != nil {
		return l, err
	}
	for _, s := range standings {
		if l.marks[s.id], err = decodeMark(items[keyOf(markKey(product, s.id))]); err != nil {
			return l, err
		}
	}
	return l, nil
}

// itemKey is a primary key as a value that can be compared.
type itemKey struct{ partition, sort string }

func keyOf(it item) itemKey {
	r := itemReader{item: it}
	return itemKey{r.text(attrPK), r.text(attrSK)}
}

// fetch gets any number of items by their keys, consistently.
func fetch(ctx context.Context, client itemGetter, table string, keys []item) (map[itemKey]item, error) {
	var mu sync.Mutex
	found := make(map[itemKey]item, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(countCalls)
	for part := range slices.Chunk(keys, MaxKeysPerGet) {
		group.Go(recovered(func() error {
			items, left, err := getItems(ctx, client, table, types.KeysAndAttributes{Keys: part, ConsistentRead: aws.Bool(true)})
			if err != nil {
				return wrap(err, "BatchGetItem of %d keys", len(part))
			}
			if len(left) > 0 {
				return errBusy
			}
			mu.Lock()
			defer mu.Unlock()
			for _, it := range items {
				found[keyOf(it)] = it
			}
			return nil
		}))
	}
	return found, group.Wait()
}
