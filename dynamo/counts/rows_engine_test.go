package counts_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// babel returns comments of a product in a number of languages: one comment in each, and ten more
// in the last.
func babel(t *testing.T, product string, languages int) []comment.Comment {
	t.Helper()
	comments := commenttest.Many(commenttest.Rand(t), product, languages+10)
	for i := range comments {
		comments[i].Language = comment.Language(fmt.Sprintf("x-%04d", min(i, languages-1)))
	}
	return comments
}

// The statistics of a product in very many languages stay small, both by records and by a rebuild.
// The counts of each language and all leaderboards are exact, and other products are still counted.
func TestStatisticsOfManyLanguages(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		client, table := newTableAt(t, endpoint)
		const languages = 3 * comment.MaxLanguageRows
		comments := babel(t, "babel", languages)
		comments = append(comments, commenttest.Many(commenttest.Rand(t), "globe", 5)...)
		load(t, client, table, comments)
		h := &history{}
		for i, c := range comments {
			if i%3 > 0 { // the others are left to the rebuild
				h.add(i, nil, &c)
			}
		}
		counter := counts.NewCounter(client, table, counts.CounterOptions{})
		handle(t, counter, slices.Concat(h.shards[0], h.shards[1])...)
		checkItemSizes(t, client, table)
		rebuild(t, client, table)
		checkItemSizes(t, client, table)
		checkCounted(t, client, table, []string{"babel", "globe"}, storedModel(t, client, table))
		verify(t, client, table)
		stats, _, err := dynamo.NewStore(client, table, dynamo.Options{}).StatsOf(t.Context(), []string{"babel"})
		if last := comment.Language(fmt.Sprintf("x-%04d", languages-1)); err != nil || stats["babel"].Languages(comment.Filter{})[0].Language != last {
			t.Errorf("%v; the language of most comments is not the first", err)
		}
	})
}

// checkItemSizes fails if an item of the statistics is larger than 12 KB.
func checkItemSizes(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	output := must.Get(client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}))(t)
	for _, it := range output.Items {
		if size := len(fmt.Sprint(it["g"])) + len(fmt.Sprint(it["c"])); size > 12<<10 {
			t.Errorf("item %v/%v has some %d bytes", it["PK"], it["SK"], size)
		}
	}
}

// Comments of many languages are added, changed and deleted, while readers of the stream come and
// go. The counts are exact, and a rebuild finds nothing wrong.
func TestCountsOfManyLanguagesAreExact(t *testing.T) {
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	r := commenttest.Rand(t)
	h := newHistory(r, 120)
	for i, c := range babel(t, "globe", comment.MaxLanguageRows+20) {
		h.model.Insert(c)
		h.add(1000+i, nil, &c)
	}
	for i, c := range h.model.All() {
		switch after := c; r.IntN(4) {
		case 0:
			h.model.Delete(c.ID)
			h.add(2000+i, &c, nil)
		case 1:
			after.Language, after.Rating = comment.Language(fmt.Sprintf("x-%04d", r.IntN(130))), 1+r.IntN(5)
			h.model.Replace(after)
			h.add(2000+i, &c, &after)
		}
	}
	replay(t, r, counts.NewCounter(client, table, counts.CounterOptions{}), h)
	checkCounted(t, client, table, historicProducts, h.model)
}

// Damaged items of one product do not affect other products, and the handler's error names the
// records concerned.
func TestCountingBesideDamage(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, row := range []struct {
		why string
		do  edit
	}{
		{"the counts are other words", setGrid("private words")},
		{"a row is too short", setGrid("en=1,2")},
		{"the number of changes is gone", set("P#p", "S", "REMOVE n")},
		{"the counts of the marker's language, which shares a row, cannot be read", func(v vandal, c []comment.Comment) {
			v.grid("*=0,0,0,0,1 de=0,0,0,0,1 en=0,0,0,1,1")
			v.update("P#p", "S#fr", "SET c = :a", text("private words"))
			v.update("P#p", markerOf(c[0].ID), "SET s = :a", text("fr/5"))
		}},
		{"the marker's cell cannot be read", setMarker(0, "SET s = :a", text("private words"))},
	} {
		t.Run(row.why, func(t *testing.T) {
			v, comments := damaged(t, client)
			row.do(v, comments)
			h := &history{}
			h.add(1, &comments[0], nil)
			fresh := commenttest.Many(commenttest.Rand(t), "other", 1)[0]
			load(t, client, v.table, []comment.Comment{fresh})
			h.add(2, nil, &fresh)
			records := append(h.shards[0], h.shards[1]...)
			var named stream.RecordErrors
			if err := counts.NewCounter(client, v.table, counts.CounterOptions{}).Handle(t.Context(), records); !errors.As(err, &named) || len(named) != 1 {
				t.Fatalf("%v", err)
			}
			for i := range named {
				if records[i].Old == nil {
					t.Errorf("the wrong record is named: %v", named)
				}
			}
			checkCounted(t, client, v.table, []string{"other"}, storedModel(t, client, v.table))
		})
	}
}
