package counts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The item of a product's statistics. It holds the grid of the first languages (rows.go), so that nearly all that is asked
// of a product is one read.
// Its attributes are in no index but for the keys of the leaderboard.
const (
	statisticsSK = "S"
	attrGrid     = "g" // M, by language a list of the counts of 1 to 5 stars
	attrChanges  = "n" // N, rises with every change, so that who read the item can tell whether it is still the same
	attrHold     = "h" // S, while a recount wants no one else to change the item
)

// statistics are a product's counts, as the table holds them.
type statistics struct {
	stats comment.Stats
	// others are the counts of languages that share a row of the stats, as far as they were read.
	others comment.Stats
	// changes is how often the item was written, 0 when it is not there. It rises by more after one that could not be read.
	changes int64
	// hold keeps others from changing the item; the zero hold does not.
	hold hold
	// damaged are the attributes of an item that is not what it should be, nil of one that is.
	damaged layout.Item
}

// hold is the wish of a recount that nobody else changes a product's statistics. It ends by itself, should its owner.
type hold struct {
	owner string
	until time.Time
}

// holdsAt tells whether the hold is to be respected.
func (h hold) holdsAt(now time.Time) bool { return h.owner != "" && now.Before(h.until) }

// String is the hold as the table keeps it.
func (h hold) String() string { return strconv.FormatInt(h.until.UnixMilli(), 10) + "/" + h.owner }

func parseHold(text string) (hold, error) {
	until, owner, found := strings.Cut(text, "/")
	millis, err := strconv.ParseInt(until, 10, 64)
	if !found || err != nil {
		return hold{}, fmt.Errorf("%q is no hold of a recount", text)
	}
	return hold{owner: owner, until: time.UnixMilli(millis)}, nil
}

// statisticsItem is the item of a product's statistics, with its place on the leaderboard if it has one.
func statisticsItem(product string, s statistics, shards int) layout.Item {
	out := layout.ProductKey(product, statisticsSK)
	addLeaderKeys(out, leaderPlace{product: product, count: bestCount(s.stats, "")}, shards)
	out[attrChanges] = layout.Number(s.changes)
	grid := make(layout.Item, len(s.stats))
	for language, counts := range s.stats {
		grid[string(language)] = countsList(counts)
	}
	out[attrGrid] = &types.AttributeValueMemberM{Value: grid}
	if s.hold.owner != "" {
		out[attrHold] = layout.Text(s.hold.String())
	}
	return out
}

// decodeStatistics reads the item of a product's statistics; none is that of a product which was never counted. Along with
// an error come statistics that say what is there instead, by which it can be replaced.
func decodeStatistics(in layout.Item) (statistics, error) {
	s := statistics{stats: comment.Stats{}}
	if len(in) == 0 {
		return s, nil
	}
	err := s.decode(in)
	if err != nil {
		s = statistics{stats: comment.Stats{}, damaged: in, changes: max(0, layout.NewReader(in).Number(attrChanges))}
	}
	return s, err
}

func (s *statistics) decode(in layout.Item) (err error) {
	r := layout.NewReader(in)
	s.changes = r.Number(attrChanges)
	grid, ok := in[attrGrid].(*types.AttributeValueMemberM)
	if !ok || r.Err() != nil || s.changes < 1 {
		return fmt.Errorf("item %s of statistics has no grid or no number of changes", r.Text(layout.AttrPK))
	}
	for language, list := range grid.Value {
		if s.stats[comment.Language(language)], err = decodeCounts(list); err != nil {
			return fmt.Errorf("item %s of statistics, language %q: %w", r.Text(layout.AttrPK), language, err)
		}
	}
	if in[attrHold] != nil {
		s.hold, err = parseHold(r.Text(attrHold))
	}
	return err
}

func decodeCounts(value types.AttributeValue) (comment.Counts, error) {
	var counts comment.Counts
	list, ok := value.(*types.AttributeValueMemberL)
	if !ok || len(list.Value) != len(counts) {
		return counts, fmt.Errorf("not a list of %d counts", len(counts))
	}
	for i, element := range list.Value {
		n, ok := layout.ParseNumber(element)
		if !ok {
			return counts, fmt.Errorf("the count of %d stars is not a number", i+1)
		}
		counts[i] = int(n)
	}
	return counts, nil
}

// bestCount is the number of comments with the best rating, in one language or, if that is empty, in all.
func bestCount(stats comment.Stats, language comment.Language) int {
	filter := comment.Filter{Ratings: []int{comment.MaxRating}}
	if language != "" {
		filter.Languages = []comment.Language{language}
	}
	return stats.Counts(filter)[comment.MaxRating-1]
}

// languagesOf are all languages of some grids, sorted, but not the row that several share.
func languagesOf(grids ...comment.Stats) []comment.Language {
	var out []comment.Language
	for _, stats := range grids {
		for language := range stats {
			if language != comment.OtherLanguages {
				out = append(out, language)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// StatsOf fetches the statistics of at most MaxKeysPerGet different products in one call, eventually consistently. A
// product that was never commented on is missing from the answer; one that the table left out, or whose item is damaged,
// has an error among the failed.
func (r *Reader) StatsOf(ctx context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	if err := r.first.check(ctx); err != nil {
		return nil, nil, err
	}
	keys := make([]layout.Item, len(products))
	for i, product := range products {
		keys[i] = layout.ProductKey(product, statisticsSK)
	}
	items, left, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{Keys: keys})
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of the statistics of %d products", len(products))
	}
	found, failed = make(map[string]comment.Stats, len(items)), map[string]error{}
	for _, it := range items {
		product := layout.ProductOfKey(it)
		decoded, err := decodeStatistics(it)
		if err != nil {
			failed[product] = err
			continue
		}
		found[product] = decoded.stats
		r.onRead(product, decoded.stats)
	}
	for _, key := range left {
		failed[layout.ProductOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch these statistics; ask again in a moment")
	}
	return found, failed, nil
}
