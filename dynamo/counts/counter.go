package counts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/stream"
)

// How comments are counted exactly, whatever is replayed, duplicated, overtaken, lost or killed.
//
// A counter that is added to is wrong as soon as an addition whose answer was lost is tried again. So nothing is added
// here: what a record says a comment is to be counted as (standing) is compared with what it is counted as (mark), and the
// difference goes into the product's counts in one transaction that also sets the mark, under the condition that
// everything is still as it was read. The decision is pure (tally.go). A counter that does not know whether its
// transaction happened reads again and decides anew. If it did happen, nothing is left to do.
//
// A mark follows the records of its comment in their order: it carries the position of the last one, and refuses those at
// or before it. So a reader that lost its shard, and still applies what it had in hand, does no harm.

// standingsPerRound is how many comments of one product are looked up at once: what fits into one transaction at best.
const standingsPerRound = maxItemsPerTransaction - 2

// countClient is the part of the SDK's client that a Counter works with.
type countClient interface {
	call.BatchGetter
	call.Transactor
}

// Counter keeps the statistics and the leaderboard of a table by the records of its stream. It is safe for use by many
// goroutines and processes at once.
type Counter struct {
	client countClient
	table  string
	now    func() time.Time
	// before and after are told of each change.
	before, after func(Change)
}

var _ stream.Handler = (*Counter)(nil)

// NewCounter makes a counter for a table, which must be as Definition says.
func NewCounter(client countClient, table string) *Counter {
	return &Counter{client: client, table: table, now: time.Now, before: func(Change) {}, after: func(Change) {}}
}

// OnChange has functions told of each change that records tell of: before it is counted, and once that was tried,
// whether it succeeded or not. It is to be called before the first Handle.
func (c *Counter) OnChange(before, after func(Change)) { c.before, c.after = before, after }

// Handle counts what records say of comments; other records are of no concern. All of them are counted unless it returns
// an error. One of the type stream.RecordErrors says which are not, by their own fault or that of an item which they
// concern: all others are. Any other error may pass.
func (c *Counter) Handle(ctx context.Context, records []stream.Record) error {
	changes, failed := decodeChanges(records)
	for _, change := range changes {
		c.before(change)
	}
	err := c.countChanges(ctx, changes, failed)
	for _, change := range changes {
		c.after(change)
	}
	if err == nil && len(failed) > 0 {
		return failed
	}
	return err
}

// countChanges counts changes. Those that cannot be counted are added to the failed; an error is of all.
func (c *Counter) countChanges(ctx context.Context, changes []Change, failed stream.RecordErrors) error {
	pending := workload{}
	for _, change := range changes {
		pending.add(change.Product, standing{ID: change.ID, Cell: change.After, position: change.Position})
	}
	refused := refusals{}
	if err := c.count(ctx, pending, refused); err != nil {
		return err
	}
	for _, change := range changes {
		if err := refused[counted{change.Product, change.ID}]; err != nil {
			failed[change.record] = fmt.Errorf("record %s: %w", change.Position, err)
		}
	}
	return nil
}

// counted is a comment of a product.
type counted struct {
	product string
	id      comment.ID
}

// refusals are comments that cannot be counted as what they are, and why.
type refusals map[counted]error

// workload are the standings still to be counted, by product.
type workload map[string][]standing

// add takes a standing, also for an earlier one of the same comment.
func (w workload) add(product string, s standing) {
	if i := slices.IndexFunc(w[product], func(earlier standing) bool { return earlier.ID == s.ID }); i >= 0 {
		earlier := w[product][i]
		s.moved = earlier.moved || !sameCell(earlier.Cell, s.Cell)
		w[product][i] = s
		return
	}
	w[product] = append(w[product], s)
}

// count brings standings into the statistics, in as many rounds as it takes. Those that cannot be are added to the refused.
func (c *Counter) count(ctx context.Context, pending workload, refused refusals) error {
	for len(pending) > 0 {
		err := call.Retry(ctx, func() (further bool, err error) { return c.round(ctx, pending, refused) })
		if invalid(err) {
			return c.halve(ctx, pending, refused, err)
		}
		if err != nil {
			return call.Wrap(err, "count of comments of %d products", len(pending))
		}
	}
	return nil
}

// halve counts standings of which some are refused as invalid: each half on its own, down to the culprits.
func (c *Counter) halve(ctx context.Context, pending workload, refused refusals, cause error) error {
	first, second := pending.halves()
	if len(second) == 0 {
		for product, standings := range first {
			refused[counted{product, standings[0].ID}] = cause
		}
		return nil
	}
	if err := c.count(ctx, first, refused); err != nil {
		return err
	}
	return c.count(ctx, second, refused)
}

// invalid tells whether DynamoDB finds a call invalid, so that the same is refused whenever it is made.
func invalid(err error) bool {
	var api smithy.APIError
	return !call.Transient(err) && errors.As(err, &api) &&
		(api.ErrorCode() == "ValidationException" || api.ErrorCode() == "TransactionCanceledException")
}

// halves parts standings into two workloads, by product if there are several. The second is empty if there is only one.
func (w workload) halves() (first, second workload) {
	first, second = workload{}, workload{}
	products := slices.Sorted(maps.Keys(w))
	for i, product := range products {
		switch standings := w[product]; {
		case len(products) > 1 && i < len(products)/2 || len(products) == 1 && len(standings) == 1:
			first[product] = standings
		case len(products) > 1:
			second[product] = standings
		default:
			first[product], second[product] = standings[:len(standings)/2], standings[len(standings)/2:]
		}
	}
	return first, second
}

// round counts the first standings of each product, and takes those out that are done, or refused.
func (c *Counter) round(ctx context.Context, pending workload, refused refusals) (further bool, err error) {
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
		part := pending.sift(ledgers[product], len(parts[product]), refused)
		if len(part) == 0 {
			further = true
			continue
		}
		if ledgers[product].hold.holdsAt(c.now()) {
			err = errHeld
			continue
		}
		t := tallyUp(ledgers[product], part, maxItemsPerTransaction-1)
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

// sift takes those out of the first standings of a product that a ledger has objections to, and returns the others.
func (w workload) sift(l ledger, first int, refused refusals) (left []standing) {
	standings := w[l.product]
	if l.broken != nil {
		first = len(standings)
	}
	for _, s := range standings[:first] {
		if err := l.objection(s); err != nil {
			refused[counted{l.product, s.ID}] = err
			continue
		}
		left = append(left, s)
	}
	if len(left) < first {
		w[l.product] = slices.Concat(left, standings[first:])
		w.done(l.product, 0)
	}
	return left
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
		group.Go(panics.Guarded(func() error {
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
	if i := slices.IndexFunc(p.tallies, tally.creates); i >= 0 {
		// A rebuild that changes the number of shards looks at every product that is there. One that comes to be there must
		// not go by the old number after it has.
		writes = append(writes, settings.guard(c.table, p.tallies[i].product))
	}
	return call.Transact(ctx, c.client, writes)
}

// errHeld is for products whose statistics are held by a recount.
var errHeld = comment.Errorf(comment.Throttled, "the statistics of a product are being counted anew; try again")

// read fetches everything that the standings depend on, consistently. The settings come last: a rebuild changes them before it goes
// through the statistics, so that they are not older than any statistics which it has gone through.
func (c *Counter) read(ctx context.Context, parts workload) (map[string]ledger, leaderSettings, error) {
	var keys []layout.Item
	for product, standings := range parts {
		keys = append(keys, layout.ProductKey(product, statisticsSK))
		for _, s := range standings {
			keys = append(keys, markKey(product, s.ID))
		}
	}
	items, err := fetch(ctx, c.client, c.table, keys)
	if err != nil {
		return nil, leaderSettings{}, err
	}
	ledgers := make(map[string]ledger, len(parts))
	for product, standings := range parts {
		ledgers[product] = decodeLedger(product, standings, items)
	}
	if err := c.readRows(ctx, ledgers, parts); err != nil {
		return nil, leaderSettings{}, err
	}
	settings, err := fetchSettings(ctx, c.client, c.table)
	return ledgers, settings, err
}

// readRows fetches the counts of languages that share a row of the statistics. They may be newer than these: a tally made of
// both then comes to nothing, for the statistics have changed too.
func (c *Counter) readRows(ctx context.Context, ledgers map[string]ledger, parts workload) error {
	var keys []layout.Item
	for product, l := range ledgers {
		for _, language := range l.sharing(parts[product]) {
			keys = append(keys, languageKey(product, language))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	items, err := fetch(ctx, c.client, c.table, keys)
	for _, it := range items {
		what := languageOfKey(it)
		row, err := rowOfItem(it)
		if err != nil {
			ledgers[what.Product].brokenRows[what.Language] = err
		}
		if row != (comment.Counts{}) {
			ledgers[what.Product].others[what.Language] = row
		}
	}
	return err
}

func decodeLedger(product string, standings []standing, items map[itemKey]layout.Item) ledger {
	l := ledger{
		product: product, marks: make(map[comment.ID]mark, len(standings)),
		brokenMarks: map[comment.ID]error{}, brokenRows: map[comment.Language]error{},
	}
	l.statistics, l.broken = decodeStatistics(items[keyOf(layout.ProductKey(product, statisticsSK))])
	l.others = comment.Stats{}
	for _, s := range standings {
		var err error
		if l.marks[s.ID], err = decodeMark(items[keyOf(markKey(product, s.ID))]); err != nil {
			l.brokenMarks[s.ID] = err
		}
	}
	return l
}
