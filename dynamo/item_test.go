package dynamo

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/stream"
)

// What is written is what is read, from the table and from an index, which carries the projected attributes alone.
func TestItemsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := commenttest.Random(r, rapid.SampledFrom([]string{"42", "a/en/5", "c", "コーヒー"}).Draw(t, "product"))
		whole := encode(want)
		product, err := productOf(whole)
		if err != nil || product != want.ProductID {
			t.Fatalf("product %q, %v", product, err)
		}
		if idOfKey(whole) != want.ID {
			t.Fatalf("id %s, want %s", idOfKey(whole), want.ID)
		}
		listed := item{}
		for _, name := range strings.Split(listProjection, ",") {
			if value, ok := whole[name]; ok {
				listed[name] = value
			}
		}
		for _, in := range []item{whole, listed} {
			got, err := decode(in, product)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
		}
	})
}

// Keys of different partitions differ, also for products with slashes in their ids, which look like other keys.
func TestPartitionKeysAreOneToOne(t *testing.T) {
	products := []string{"a", "a/en", "a/en/5", "a/5", "b"}
	for _, index := range indexes {
		owner := map[string]string{}
		for _, product := range products {
			for _, language := range []comment.Language{"en", "de"} {
				for rating := 1; rating <= comment.MaxRating; rating++ {
					p := partitionOf(index.name, comment.Comment{Language: language, Rating: rating})
					key, means := p.Key(product), product+"|"+string(p.Language)+"|"+string(rune('0'+p.Rating))
					if other, taken := owner[key]; taken && other != means {
						t.Errorf("in %s the key %s stands for %s and for %s", index.name, key, other, means)
					}
					owner[key] = means
				}
			}
		}
	}
}

func TestDamagedItems(t *testing.T) {
	good := encode(commenttest.Random(rand.New(rand.NewPCG(1, 1)), "42"))
	for _, attr := range []string{attrPK, attrLanguage, attrRating, attrText, attrAuthorID, attrAuthorName} {
		missing, mistyped := item{}, item{}
		for name, value := range good {
			missing[name], mistyped[name] = value, value
		}
		delete(missing, attr)
		mistyped[attr] = &types.AttributeValueMemberBOOL{Value: true}
		for _, bad := range []item{missing, mistyped} {
			if c, err := decode(bad, "42"); err == nil || !strings.Contains(err.Error(), attr) {
				t.Errorf("without a good %s it reads as %v, %v; want an error that names it", attr, c, err)
			}
		}
	}
	odd := item{attrPK: good[attrPK], attrRating: &types.AttributeValueMemberN{Value: "five"}}
	if _, err := decode(odd, "42"); err == nil {
		t.Error("a rating that is no number goes unnoticed")
	}
}

// An item is in an index because it has the index's key: no item but a comment may be in a list, and no comment on a
// leaderboard. Nor has any the spare attribute, whose time is yet to come.
func TestWhatIsInWhichIndex(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	now := c.CreatedAt()
	stats := statistics{stats: comment.Stats{"en": {0, 0, 0, 0, 3}}, hold: hold{owner: "me", until: now}}
	for kind, row := range map[string]struct {
		item item
		keys []string
	}{
		"comment":                {encode(c), []string{attrAll, attrByLang, attrByLangAndRating, attrByRating}},
		"statistics":             {statisticsItem("42", stats, 4), []string{attrBoard, attrPlace}},
		"place on a leaderboard": {languageItem(leaderPlace{product: "42", language: "en", count: 3}, 4), []string{attrBoard, attrPlace}},
		"mark":                   {markItem("42", c.ID, mark{cell: &comment.Cell{Language: "en", Rating: 5}, position: "1"}, now), nil},
		"idempotency key":        {keyItemOf(c, "key", now), nil},
		"lease":                  {leaseItem("label", stream.Lease{Shard: "s", CaughtUp: now}, now), nil},
		"heartbeat":              {heartbeatItem(stream.Heartbeat{Key: "1", Label: "label", Shard: "s", Counter: 1, Sent: now}), nil},
		"state":                  {stateItem(stream.State{Label: "label", Since: now, Gap: &stream.Gap{Found: now}}), nil},
		"set aside":              {asideItem("label", stream.Aside{Found: now}), nil},
	} {
		var keys []string
		for _, attr := range []string{attrAll, attrByLang, attrByLangAndRating, attrByRating, attrBoard, attrPlace, attrSpare} {
			if row.item[attr] != nil {
				keys = append(keys, attr)
			}
		}
		if !slices.Equal(keys, row.keys) {
			t.Errorf("%s has %v, want %v", kind, keys, row.keys)
		}
	}
}
