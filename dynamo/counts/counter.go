// Package counts keeps the exact number of comments of each product by language and rating, the
// leaderboards that follow from it, and the number of votes in each comment's item.
//
// A [Counter] applies the changes in the table's stream to the counts, each change once, however
// often its record comes. A [Reader] reads statistics and leaderboards. A [Rebuilder] counts
// everything anew while the Counter goes on. A [Verifier] compares the counts with the comments.
// All of them have a [VoteRecounter] for votes. It never adds to a total but counts the votes of a
// comment anew, so a record that comes twice, late or to two processes at once does no harm. A
// [Runner] keeps all this up to date while a command runs.
//
// To read it, start with change.go (a record becomes a Change), counter.go and tally.go (changes
// become one transaction), then the items: marker.go, statistics.go, places.go and settings.go.
// reader.go and leaders.go read them. rebuild.go and rebuild_product.go count anew, verify.go only
// compares; both examine products with examiner.go. vote_records.go finds the comments whose votes
// changed, and votes.go counts these. runner.go and the files beside it decide when all that runs.
package counts

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// How counts stay exact when records are replayed, duplicated, late or lost, and when processes are
// killed.
//
// Adding to a counter goes wrong as soon as an addition whose answer was lost is retried. So
// nothing is added blindly. A record says how its comment should be counted (standing), and the
// table says how it is counted (marker). The difference goes into the product's counts, in one
// transaction that also writes the marker. The transaction's condition is that everything is as it
// was read. The decision is a pure function (tally.go). A counter that does not know whether its
// transaction happened reads and decides again. If it did happen, nothing is left to do.
//
// A marker follows the records of its comment in their order. It carries the position of the last
// one, and refuses records at or before that. So a reader that lost its shard, and applies old
// records late, does no harm.

// countClient is the part of the SDK's client that a Counter works with.
type countClient interface {
	VoteWriter
	call.Transactor
}

// Counter keeps the statistics and the leaderboard of a table up to date from the records of its
// stream. It is safe for concurrent use by goroutines and processes.
type Counter struct {
	client countClient
	table  string
	now    func() time.Time
	feed   feed
	pages  *pages
	log    *slog.Logger // nil for none
	// dropping logs the first page index that is dropped.
	dropping sync.Once
	// follower receives the changes; nil for none.
	follower Follower
	patience time.Duration
	turns    turns
	votes    *VoteRecounter
}

// Follower is called for each change that a Counter counts, by many goroutines.
type Follower interface {
	// Changing is called before the change is counted, and Changed after, even if that failed.
	Changing(Change)
	Changed(Change)
}

// CounterOptions are the settings of a Counter. With the zero value it only counts.
type CounterOptions struct {
	// Feed is an index of ranks that receives an entry for each change once it is counted, and
	// again if the record is handled again. If it returns an error, so does Handle.
	Feed feed
	// Pages merges the logs of the page index in the table, in the background. A Counter without it
	// drops the index of each product that it counts, and logs the first. The next Counter with Pages
	// that counts the product starts the index anew.
	Pages merger
	// Logger logs merges that fail, and indexes that are dropped. The next merge does the work of a
	// failed one. It may be nil without Pages.
	Logger *slog.Logger
	// Follower receives the changes.
	Follower Follower
	// Patience is how long Handle waits for contended or throttled products. Then it returns their
	// records as failed, to be handled again. 0 is longestPatience.
	Patience time.Duration
	// VotesAtOnce is how many votes of one comment Handle reads. It returns the records of further
	// ones as failed, to be handled again. 0 is any number.
	VotesAtOnce int
}

// longestPatience is about how long call.Retry tries.
const longestPatience = 20 * time.Second

// NewCounter makes a counter for a table, whose keys and indexes must be those of Definition.
func NewCounter(client countClient, table string, options CounterOptions) *Counter {
	c := &Counter{
		client: client, table: table, now: time.Now, feed: options.Feed, follower: options.Follower, log: options.Logger,
		patience: cmp.Or(options.Patience, longestPatience), turns: turns{queues: map[string]*queue{}},
		votes: NewVoteRecounter(client, table, options.VotesAtOnce),
	}
	if options.Pages != nil {
		c.pages = &pages{client: client, table: table, merging: newMerging(options.Pages, options.Logger)}
	}
	return c
}

// MergePages starts a merge of a product's log in the background, unless one is under way. It is
// for lookups that find a long log. The Counter must have Pages.
func (c *Counter) MergePages(product string) { c.pages.merging.begin(product) }

// AwaitMerges waits until no merge is under way. A process that ends earlier loses nothing: the
// next merge does the work.
func (c *Counter) AwaitMerges(ctx context.Context) {
	if c.pages != nil {
		c.pages.merging.await(ctx)
	}
}

// Handle counts the changes of comments and of votes among records, and ignores other records. If
// it returns nil, all are counted. An error of type stream.RecordErrors has the records that are
// not, because of a fault of the record or of its items; all others are counted. Any other error
// may be temporary.
func (c *Counter) Handle(ctx context.Context, records []stream.Record) error {
	changes, failed := decodeChanges(records)
	if c.follower != nil {
		for _, change := range changes {
			c.follower.Changing(change)
		}
		defer func() {
			for _, change := range changes {
				c.follower.Changed(change)
			}
		}()
	}
	if err := c.countChanges(ctx, changes, failed); err != nil {
		return err
	}
	entries := make([]pageindex.Entry, 0, len(changes))
	for _, change := range changes {
		if failed[change.record] == nil {
			entries = append(entries, pageindex.Entry{
				Product: change.Product, Position: change.ID.Position(), Cell: change.After, Follows: change.Position,
			})
		}
	}
	if err := apply(ctx, c.feed, entries); err != nil {
		return err
	}
	c.votes.Handle(ctx, records, failed)
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// countChanges counts changes. It adds those that cannot be counted, now or ever, to failed. A
// returned error concerns all changes.
func (c *Counter) countChanges(ctx context.Context, changes []Change, failed stream.RecordErrors) error {
	patient, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	shares, why := c.turns.join(changes), error(errWaits)
	defer func() { c.turns.leave(shares, why, failed) }()
	for patient.Err() == nil {
		now, left, busy, wait := c.turns.begin(shares)
		switch {
		case !left:
			return nil
		case len(now.shares) > 0:
			if err := c.countTurn(ctx, now); err != nil {
				if why = err; !call.Transient(err) {
					return err
				}
			}
		default:
			select {
			case <-busy:
			case <-time.After(wait):
			case <-patient.Done():
			}
		}
	}
	return ctx.Err()
}

// countTurn counts the work of a turn, and ends it.
func (c *Counter) countTurn(ctx context.Context, now turn) (err error) {
	refused := refusals{}
	defer func() { c.turns.end(now, refused, err) }()
	return c.count(ctx, now.work, refused, now.apart)
}

// count counts standings, round by round. It adds those that cannot be counted to refused. If apart
// is set, each product has a transaction of its own.
func (c *Counter) count(ctx context.Context, pending workload, refused refusals, apart bool) error {
	for len(pending) > 0 {
		_, err := c.round(ctx, pending, refused, apart)
		if invalid(err) {
			return c.halve(ctx, pending, refused, err)
		}
		if err != nil {
			return call.Wrap(err, "count of comments of %s", comment.Amount(len(pending), "product"))
		}
	}
	return nil
}

// halve counts standings of which some make a call invalid. It counts each half on its own,
// recursively, until it has found the culprits. Several products are halved by product.
func (c *Counter) halve(ctx context.Context, pending workload, refused refusals, cause error) error {
	first, second := workload{}, workload{}
	products := slices.Sorted(maps.Keys(pending))
	switch standings := pending[products[0]]; {
	case len(products) > 1:
		for i, product := range products {
			half := first
			if i >= len(products)/2 {
				half = second
			}
			half[product] = pending[product]
		}
	case len(standings) > 1:
		first[products[0]], second[products[0]] = standings[:len(standings)/2], standings[len(standings)/2:]
	default:
		refused[productComment{products[0], standings[0].ID}] = cause
		clear(pending)
		return nil
	}
	for _, half := range []workload{first, second} {
		if err := c.count(ctx, half, refused, false); err != nil {
			return err
		}
	}
	clear(pending)
	return nil
}

// invalid reports whether DynamoDB calls a request invalid, so that a retry fails too.
func invalid(err error) bool {
	code := call.CodeOf(err)
	return !call.Transient(err) && (code == "ValidationException" || code == "TransactionCanceledException")
}

// round counts standings of each product, which has at most MostTogether. It removes those that
// are counted or refused from pending.
func (c *Counter) round(ctx context.Context, pending workload, refused refusals, apart bool) (further bool, err error) {
	ledgers, settings, err := c.read(ctx, pending)
	if err != nil {
		return false, err
	}
	var tallies []tally
	for _, product := range slices.Sorted(maps.Keys(pending)) {
		var part []standing
		for _, s := range pending[product] {
			if objection := ledgers[product].objection(s); objection != nil {
				refused[productComment{product, s.ID}] = objection
				continue
			}
			part = append(part, s)
		}
		if pending[product] = part; len(part) == 0 {
			delete(pending, product)
			further = true
			continue
		}
		if hold := ledgers[product].hold; hold.owner != "" && c.now().Before(hold.until) {
			err = errHeld
			continue
		}
		t := tallyUp(ledgers[product], part, maxItemsPerTransaction-1)
		if len(t.markers) == 0 {
			c.pages.startMerges(ctx, t, nil)
			pending.done(product, t.standings)
			further = true
			continue
		}
		tallies = append(tallies, t)
	}
	progress, failed := c.transactAll(ctx, packs(tallies, settings, c.table, c.now(), apart), settings, pending)
	return further || progress, errors.Join(err, failed)
}

// transactAll writes packs, several at once, each in whole or not at all. It removes the standings
// of those that succeeded from pending.
func (c *Counter) transactAll(ctx context.Context, packs []pack, settings leaderSettings, pending workload) (progress bool, err error) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(countCalls)
	within, cancel := context.WithTimeout(ctx, c.patience) // for merges that are far behind
	defer cancel()
	for _, pack := range packs {
		group.Go(task.Guarded(func() error {
			writes := pack.writes
			if i := slices.IndexFunc(pack.tallies, func(t tally) bool { return t.before.changes == 0 }); i >= 0 {
				// The product was never counted before. A rebuild that changes the number of shards
				// rewrites every product that exists. One created after that must not use the old
				// number.
				writes = append(writes, settings.guard(c.table, pack.tallies[i].product))
			}
			// If the outcome is unknown, the next round finds out.
			err := call.Transact(ctx, c.client, writes)
			for _, t := range pack.tallies {
				c.pages.startMerges(within, t, err)
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			progress = true
			for _, t := range pack.tallies {
				pending.done(t.product, t.standings)
				if c.pages == nil && c.log != nil && len(t.before.head) > 0 {
					c.dropping.Do(func() {
						c.log.Warn("page numbers in the table are dropped for each product that is counted here: give all processes that count the same --pages", "product", t.product)
					})
				}
			}
			return nil
		}))
	}
	err = group.Wait()
	return progress, err
}

// pack holds tallies of different products that go into one transaction.
type pack struct {
	tallies []tally
	writes  []types.TransactWriteItem
}

// packs fills transactions with tallies, or gives each its own. It leaves one place for the
// condition that new products need.
func packs(tallies []tally, settings leaderSettings, table string, now time.Time, apart bool) []pack {
	var out []pack
	for _, t := range tallies {
		writes := t.writes(table, settings.shards, now)
		last := len(out) - 1
		if last < 0 || apart || len(out[last].writes)+len(writes) > maxItemsPerTransaction-1 {
			out = append(out, pack{})
			last++
		}
		out[last].tallies = append(out[last].tallies, t)
		out[last].writes = append(out[last].writes, writes...)
	}
	return out
}

// errHeld refuses products whose statistics a recount holds.
var errHeld = comment.Errorf(comment.Throttled, "the statistics of a product are being counted anew; try again")

// read fetches everything that the standings depend on, consistently. It reads the settings last: a
// rebuild changes them before it rewrites any statistics. So the settings are not older than
// rewritten statistics.
func (c *Counter) read(ctx context.Context, parts workload) (map[string]ledger, leaderSettings, error) {
	var keys []layout.Item
	for product, standings := range parts {
		keys = append(keys, layout.ProductKey(product, layout.StatisticsSK))
		for _, s := range standings {
			keys = append(keys, markerKey(product, s.ID))
		}
	}
	items, err := fetch(ctx, c.client, c.table, keys)
	if err != nil {
		return nil, leaderSettings{}, err
	}
	ledgers := make(map[string]ledger, len(parts))
	for product, standings := range parts {
		l := ledger{
			product: product, markers: make(map[comment.ID]marker, len(standings)), brokenRows: map[comment.Language]error{},
			statistics: decodeStatistics(items[keyOf(layout.ProductKey(product, layout.StatisticsSK))]),
		}
		l.others = comment.Stats{}
		for _, s := range standings {
			l.markers[s.ID] = decodeMarker(items[keyOf(markerKey(product, s.ID))])
		}
		ledgers[product] = l
	}
	if err := c.readRows(ctx, ledgers, parts); err != nil {
		return nil, leaderSettings{}, err
	}
	if err := c.pages.heads(ctx, ledgers, parts, c.now()); err != nil {
		return nil, leaderSettings{}, err
	}
	settings, err := fetchSettings(ctx, c.client, c.table)
	return ledgers, settings, err
}

// readRows fetches the counts of languages that share a row of the statistics. They may be newer
// than the statistics; then the transaction fails, because the statistics have changed too.
func (c *Counter) readRows(ctx context.Context, ledgers map[string]ledger, parts workload) error {
	var keys []layout.Item
	for product, l := range ledgers {
		for _, language := range l.sharing(parts[product]) {
			keys = append(keys, languageKey(product, language))
		}
	}
	items, err := fetch(ctx, c.client, c.table, keys)
	for _, it := range items {
		what := languageOfKey(it)
		row, err := rowOfItem(it)
		if err != nil {
			ledgers[what.Product].brokenRows[what.Language] = err
		}
		if row != (comment.Row{}) {
			ledgers[what.Product].others[what.Language] = row
		}
	}
	return err
}
