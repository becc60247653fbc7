package counts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/stream"
)

// readerClient is the part of the SDK's client that a Reader works with.
type readerClient interface {
	call.Querier
	call.BatchGetter
	call.ItemGetter
}

// Reader reads statistics and leaderboards. It is safe for concurrent use.
type Reader struct {
	client  readerClient
	leaders readerClient // reads leaderboards
	table   string
	// first refuses reads until the first counting is complete; nil refuses nothing.
	first    *firstCount
	improper *layout.Reporter
	onRead   func(product string, stats comment.Stats)
}

// ReaderOptions are the settings of a Reader. With the zero value it only reads.
type ReaderOptions struct {
	// Journal says whether all comments of the table were counted once. Until then, reads of
	// statistics and leaderboards fail as Unavailable. Nil refuses nothing.
	Journal Journal
	// Read is called with all statistics that StatsOf and StatsBeside read, from many goroutines.
	Read func(product string, stats comment.Stats)
	// Improper reports items that a leaderboard leaves out.
	Improper *layout.Reporter
}

// NewReader makes a reader of the counts of a table.
func NewReader(client readerClient, table string, options ReaderOptions) *Reader {
	r := &Reader{client: call.For(client, call.ForStatistics), leaders: call.For(client, call.ForLeaderboards), table: table, onRead: options.Read, improper: options.Improper}
	if r.onRead == nil {
		r.onRead = func(string, comment.Stats) {}
	}
	if options.Journal != nil {
		r.first = &firstCount{journal: options.Journal, now: time.Now}
	}
	return r
}

// Snapshot is the statistics of a product at one time.
type Snapshot struct {
	Stats comment.Stats
	// Newest has the positions of the newest comments; nil if unknown.
	Newest *layout.Bounds
}

func snapshotOf(it layout.Item) (Snapshot, error) {
	s := decodeStatistics(it)
	return Snapshot{Stats: s.stats, Newest: s.newest}, s.damage
}

// Latest returns a product's current statistics, read consistently. It does not retry, since
// callers can do without them.
func (r *Reader) Latest(ctx context.Context, product string) (Snapshot, error) {
	output, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(r.table),
		Key:            layout.ProductKey(product, layout.StatisticsSK),
		ConsistentRead: aws.Bool(true),
	}, call.NoRetries)
	if err != nil {
		return Snapshot{}, call.Wrap(err, "GetItem of the statistics of product %q", product)
	}
	return snapshotOf(output.Item)
}

// errStatisticsBusy is for statistics that DynamoDB left unprocessed.
var errStatisticsBusy = comment.Errorf(comment.Throttled, "the table is too busy to fetch these statistics; ask again in a moment")

// decoded decodes fetched items of counts, by what they are about. failed has the unreadable ones,
// and those that DynamoDB left unprocessed.
func decoded[K comparable, V any](got call.Got, of func(layout.Item) K, decode func(layout.Item) (V, error)) (found map[K]V, failed map[K]error) {
	found, failed = make(map[K]V, len(got.Items)), map[K]error{}
	for _, it := range got.Items {
		if counts, err := decode(it); err != nil {
			failed[of(it)] = fmt.Errorf("%w; talkback rebuild mends it", err)
		} else {
			found[of(it)] = counts
		}
	}
	for _, key := range got.Left {
		failed[of(key)] = errStatisticsBusy
	}
	return found, failed
}

// gridProjection names the attributes of statistics that StatsOf needs. The others, the head of the
// page index and the newest positions, can be larger.
const gridProjection = layout.AttrPK + "," + layout.AttrGrid + "," + layout.AttrSplit

// StatsOf fetches the statistics of at most MaxKeysPerGet different products in one call.
// Consistent reads take twice the read units. A product without comments is missing from found.
// failed has the products that DynamoDB left unprocessed, and those with damaged items.
func (r *Reader) StatsOf(ctx context.Context, products []string, consistent bool) (found map[string]comment.Stats, failed map[string]error, err error) {
	if err := r.first.check(ctx); err != nil {
		return nil, nil, err
	}
	keys := make([]layout.Item, len(products))
	for i, product := range products {
		keys[i] = layout.ProductKey(product, layout.StatisticsSK)
	}
	want := types.KeysAndAttributes{Keys: keys, ProjectionExpression: aws.String(gridProjection)}
	if consistent {
		want.ConsistentRead = aws.Bool(true)
	}
	got, err := call.GetItems(ctx, r.client, r.table, want)
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of the statistics of %s", comment.Amount(len(products), "product"))
	}
	found, failed = decoded(got, layout.ProductOfKey, decodeGrid)
	for product, stats := range found {
		r.onRead(product, stats)
	}
	return found, failed, nil
}

// RowsOf fetches the counts of languages that share a row of their products' statistics, eventually
// consistently in one call. It takes at most MaxKeysPerGet different ones. A language without
// comments, or with a row of its own, is missing from found. failed has the languages that DynamoDB
// left unprocessed, and those with damaged items.
func (r *Reader) RowsOf(ctx context.Context, languages []comment.ProductLanguage) (
	found map[comment.ProductLanguage]comment.Row, failed map[comment.ProductLanguage]error, err error,
) {
	keys := make([]layout.Item, len(languages))
	for i, l := range languages {
		keys[i] = languageKey(l.Product, l.Language)
	}
	got, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{Keys: keys})
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of the counts of %s", comment.Amount(len(languages), "language"))
	}
	found, failed = decoded(got, languageOfKey, rowOfItem)
	return found, failed, nil
}

// statisticsAttrs names the attributes of statistics, except the key and those that items of
// comments have too.
const statisticsAttrs = layout.AttrGrid + "," + attrNewest

// Beside is the result of StatsBeside.
type Beside struct {
	// Found has the statistics of products with comments, and Failed has the products whose
	// statistics could not be fetched.
	Found  map[string]Snapshot
	Failed map[string]error
	// Comments has the items of the comments that exist.
	Comments []layout.Item
	// Left has the ids of comments that DynamoDB left unprocessed.
	Left []comment.ID
}

// StatsBeside fetches statistics of products like StatsOf, and comments beside them, eventually
// consistently and in one call. There must be 1 to MaxKeysPerGet keys. projection names the
// attributes of the comments. It must include the key and layout.AttrChanges, and none that only
// statistics have.
func (r *Reader) StatsBeside(ctx context.Context, products []string, ids []comment.ID, projection string) (Beside, error) {
	if err := r.first.check(ctx); err != nil {
		return Beside{}, err
	}
	keys := make([]layout.Item, 0, len(products)+len(ids))
	for _, product := range products {
		keys = append(keys, layout.ProductKey(product, layout.StatisticsSK))
	}
	for _, id := range ids {
		keys = append(keys, layout.CommentKey(id))
	}
	got, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{
		Keys: keys, ProjectionExpression: aws.String(projection + "," + statisticsAttrs),
	})
	if err != nil {
		return Beside{}, call.Wrap(err, "BatchGetItem of the statistics of %s, and of %s", comment.Amount(len(products), "product"), comment.Amount(len(ids), "comment"))
	}
	var out Beside
	var statistics call.Got
	for _, it := range got.Items {
		if isComment(it) {
			out.Comments = append(out.Comments, it)
		} else {
			statistics.Items = append(statistics.Items, it)
		}
	}
	for _, key := range got.Left {
		if isComment(key) {
			out.Left = append(out.Left, layout.IDOfKey(key))
		} else {
			statistics.Left = append(statistics.Left, key)
		}
	}
	out.Found, out.Failed = decoded(statistics, layout.ProductOfKey, snapshotOf)
	for product, read := range out.Found {
		r.onRead(product, read.Stats)
	}
	return out, nil
}

func isComment(key layout.Item) bool {
	return layout.NewReader(key).Text(layout.AttrSK) == layout.CommentSK
}

// errUncounted refuses statistics before the first counting: zeros would be wrong.
var errUncounted = comment.Errorf(comment.Unavailable, "the comments are being counted for the first time; ask again in a moment")

// uncountedAge is how long it is cached that a table was never counted.
const uncountedAge = time.Second

// Journal says whether the comments were ever counted.
type Journal interface {
	State(context.Context) (stream.State, error)
}

// firstCount refuses statistics until all comments were counted for the first time. After that it
// no longer reads the journal. The nil firstCount refuses nothing.
type firstCount struct {
	journal Journal
	now     func() time.Time

	mu     sync.Mutex
	done   bool
	looked time.Time
}

func (f *firstCount) check(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return nil
	}
	if f.now().Sub(f.looked) < uncountedAge {
		return errUncounted
	}
	state, err := f.journal.State(usage.With(ctx, nil)) // once for all, so no operation is charged
	if err != nil {
		return err
	}
	if f.done = state.Complete || !state.Since.IsZero(); f.done {
		return nil
	}
	f.looked = f.now()
	return errUncounted
}
