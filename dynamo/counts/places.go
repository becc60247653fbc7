package counts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The leaderboard is an index of its own, with items about products alone. A single partition takes
// only 1,000 writes a second. So the leaderboard is split by product into shards, and a read merges
// them.
const (
	leadersPrefix = "LEADERS#"
	// defaultLeaderShards is the number of shards of a table for which no rebuild has chosen
	// another.
	defaultLeaderShards = 4
	// MaxLeaderShards is the maximum number of shards: every read of a leaderboard reads each
	// shard.
	MaxLeaderShards = 64
	// The sort key is maxLeaderCount minus the count, then the product. So the index lists the
	// highest counts first, and equal counts by product id.
	maxLeaderCount = 9_999_999_999
	languageSK     = "S#"
	// attrRow is S, in the item of a language that shares its row: its counts as layout.CountsText
	// writes them.
	attrRow = "c"
)

// leaderPlace has the inputs of a product's place on a leaderboard.
type leaderPlace struct {
	product string
	// language is empty for the leaderboard of all languages.
	language comment.Language
	count    int
	// row has the counts of a language that shares its row of the statistics, else zeros.
	row comment.Row
}

// keys returns the index keys of the place; none if the count is not above 0.
func (p leaderPlace) keys(shards int) leaderKeys {
	if p.count <= 0 {
		return leaderKeys{}
	}
	partition := leaderPartition(p.language, layout.ShardOf(p.product, shards))
	return leaderKeys{partition, fmt.Sprintf("%010d#%s", maxLeaderCount-p.count, p.product)}
}

// addLeaderKeys gives an item its place on the leaderboard, if it has one.
func addLeaderKeys(it layout.Item, p leaderPlace, shards int) {
	if keys := p.keys(shards); keys != (leaderKeys{}) {
		it[layout.AttrBoard], it[layout.AttrPlace] = layout.Text(keys.partition), layout.Text(keys.sort)
	}
}

func parseLeaderKey(text string) (comment.Leader, error) {
	complement, product, found := strings.Cut(text, "#")
	n, err := strconv.Atoi(complement)
	if !found || err != nil {
		return comment.Leader{}, fmt.Errorf("%q is no sort key of a leaderboard", text)
	}
	return comment.Leader{Product: product, Count: maxLeaderCount - n}, nil
}

// leaderPartition returns the partition key of a leaderboard's shard. A language is never a number,
// so keys do not collide.
func leaderPartition(language comment.Language, shard int) string {
	if language != "" {
		return leadersPrefix + string(language) + "#" + strconv.Itoa(shard)
	}
	return leadersPrefix + strconv.Itoa(shard)
}

// languageKey returns the primary key of a language's item: its entry on the leaderboard of the
// language, and its counts if it shares its row of the statistics.
func languageKey(product string, language comment.Language) layout.Item {
	return layout.ProductKey(product, languageSK+string(language))
}

func languageItem(p leaderPlace, shards int) layout.Item {
	out := languageKey(p.product, p.language)
	addLeaderKeys(out, p, shards)
	if p.row != (comment.Row{}) {
		out[attrRow] = layout.Text(layout.CountsText(p.row.Counts))
		addSplit(out, comment.Stats{p.language: p.row})
	}
	return out
}

// languageOfKey returns the product and language of a language's item, from its primary key.
func languageOfKey(key layout.Item) comment.ProductLanguage {
	language := strings.TrimPrefix(layout.NewReader(key).Text(layout.AttrSK), languageSK)
	return comment.ProductLanguage{Product: layout.ProductOfKey(key), Language: comment.Language(language)}
}

// rowOfItem reads the counts of a language that shares its row from its item; zero for a language
// with a row of its own.
func rowOfItem(it layout.Item) (comment.Row, error) {
	if it[attrRow] == nil {
		return comment.Row{}, nil
	}
	r := layout.NewReader(it)
	counts, err := layout.ParseCounts(r.Text(attrRow))
	row := comment.Stats{"": {Counts: counts}}
	if err = cmp.Or(err, splitIn(it, row)); err != nil {
		return comment.Row{}, fmt.Errorf("item %s/%s: %w", r.Text(layout.AttrPK), r.Text(layout.AttrSK), err)
	}
	return row[""], nil
}

// leaderKeys has the index keys of a place on a leaderboard; empty for an item without a place.
type leaderKeys struct{ partition, sort string }

func leaderKeysOf(it layout.Item) leaderKeys {
	r := layout.NewReader(it)
	return leaderKeys{partition: r.Text(layout.AttrBoard), sort: r.Text(layout.AttrPlace)}
}

// placesOf returns the places that a product should have on the leaderboards.
func placesOf(product string, stats comment.Stats, shards int) map[comment.Language]leaderKeys {
	out := map[comment.Language]leaderKeys{}
	for _, language := range append(languagesOf(stats), "") {
		keys := leaderPlace{product: product, language: language, count: bestCount(stats, language)}.keys(shards)
		if keys != (leaderKeys{}) {
			out[language] = keys
		}
	}
	return out
}

func leaderWrite(table string, place leaderPlace, shards int) types.TransactWriteItem {
	if place.count <= 0 && place.row == (comment.Row{}) { // the language needs no item
		return call.DeleteIf(table, languageKey(place.product, place.language), "", nil)
	}
	return call.PutIf(table, languageItem(place, shards), "", nil)
}
