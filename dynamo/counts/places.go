package counts

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The leaderboard is an index of its own, of items about products alone. One of its partitions would take 1,000 writes a
// second, so it is parted by product into shards, and read as a merge of them.
const (
	leadersPrefix = "LEADERS#"
	// defaultLeaderShards is the number of shards of a table for which no rebuild has chosen another.
	defaultLeaderShards = 4
	// MaxLeaderShards bounds that number: each shard is a read of every leaderboard.
	MaxLeaderShards = 64
	// maxLeaderCount is taken minus the count to make the sort key, so that the index lists the highest count first and, of
	// equal counts, the product whose id sorts first.
	maxLeaderCount = 9_999_999_999
	languageSK     = "S#"
)

// leaderPlace is what the place of a product on a leaderboard depends on.
type leaderPlace struct {
	product string
	// language is empty on the leaderboard of all languages.
	language comment.Language
	count    int
	// row are the counts of a language that shares its row of the statistics, else all zero.
	row comment.Counts
}

// empty tells whether there is nothing to say of a language.
func (p leaderPlace) empty() bool { return p.count <= 0 && p.row == comment.Counts{} }

// addLeaderKeys gives an item its place on the leaderboard, none if the count is not above 0.
func addLeaderKeys(it layout.Item, p leaderPlace, shards int) {
	if p.count <= 0 {
		return
	}
	it[layout.AttrBoard] = layout.Text(leaderPartition(p.language, leaderShard(p.product, shards)))
	it[layout.AttrPlace] = layout.Text(fmt.Sprintf("%010d#%s", maxLeaderCount-p.count, p.product))
}

// parseLeaderKey reads the count and the product out of a sort key.
func parseLeaderKey(text string) (comment.Leader, error) {
	complement, product, found := strings.Cut(text, "#")
	n, err := strconv.Atoi(complement)
	if !found || err != nil {
		return comment.Leader{}, fmt.Errorf("%q is no sort key of a leaderboard", text)
	}
	return comment.Leader{Product: product, Count: maxLeaderCount - n}, nil
}

// leaderPartition is the partition key of a shard of a leaderboard. A language is never a number.
func leaderPartition(language comment.Language, shard int) string {
	if language != "" {
		return leadersPrefix + string(language) + "#" + strconv.Itoa(shard)
	}
	return leadersPrefix + strconv.Itoa(shard)
}

func leaderShard(product string, shards int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(product)) // it never fails
	return int(hash.Sum32() % uint32(shards))
}

// languageKey is the primary key of the item of a product's language: its entry on the leaderboard of the language, and its
// counts if it shares its row of the statistics.
func languageKey(product string, language comment.Language) layout.Item {
	return layout.ProductKey(product, languageSK+string(language))
}

// languageItem is the item of a product's language.
func languageItem(p leaderPlace, shards int) layout.Item {
	out := languageKey(p.product, p.language)
	addLeaderKeys(out, p, shards)
	if p.row != (comment.Counts{}) {
		out[attrRow] = countsList(p.row)
	}
	return out
}

// attrRow is a list of the counts of 1 to 5 stars, in the item of a language without a row in the statistics item.
const attrRow = "c"

// languageOfKey is what the item of a language is about, by its primary key.
func languageOfKey(key layout.Item) comment.ProductLanguage {
	language := strings.TrimPrefix(layout.NewReader(key).Text(layout.AttrSK), languageSK)
	return comment.ProductLanguage{Product: layout.ProductOfKey(key), Language: comment.Language(language)}
}

// rowOfItem reads the counts of a language that shares its row out of its item: none for one that does not.
func rowOfItem(it layout.Item) (row comment.Counts, err error) {
	if it[attrRow] == nil {
		return row, nil
	}
	if row, err = decodeCounts(it[attrRow]); err != nil {
		r := layout.NewReader(it)
		return comment.Counts{}, fmt.Errorf("item %s/%s: %w", r.Text(layout.AttrPK), r.Text(layout.AttrSK), err)
	}
	return row, nil
}

// leaderKeys are the index keys of a place on a leaderboard, empty for an item that has none.
type leaderKeys struct{ partition, sort string }

func leaderKeysOf(it layout.Item) leaderKeys {
	r := layout.NewReader(it)
	return leaderKeys{partition: r.Text(layout.AttrBoard), sort: r.Text(layout.AttrPlace)}
}

// placesOf are the places of a product on the leaderboards.
func placesOf(product string, stats comment.Stats, shards int) map[comment.Language]leaderKeys {
	out := map[comment.Language]leaderKeys{}
	place := func(language comment.Language) {
		it := layout.Item{}
		addLeaderKeys(it, leaderPlace{product: product, language: language, count: bestCount(stats, language)}, shards)
		if len(it) > 0 {
			out[language] = leaderKeysOf(it)
		}
	}
	place("")
	for language := range stats {
		place(language)
	}
	return out
}

func leaderWrite(table string, place leaderPlace, shards int) types.TransactWriteItem {
	if !place.empty() {
		return call.PutIf(table, languageItem(place, shards), "", nil)
	}
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(table), Key: languageKey(place.product, place.language)}}
}
