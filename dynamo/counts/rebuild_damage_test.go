package counts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// vandal changes items of a table by hand.
type vandal struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	suffix string // of the products that it names, such as p
}

// own returns a key, or a part of one, of the vandal's own products.
func (v vandal) own(key string) string {
	if strings.HasSuffix(key, "#p") || strings.HasSuffix(key, "#q") || strings.HasSuffix(key, "#nothing") {
		return key + v.suffix
	}
	return key
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// newVandal returns a vandal of a new table.
func newVandal(t *testing.T, client *dynamodb.Client) vandal {
	return vandal{t: t, client: client, table: newTable(t, client)}
}

func (v vandal) get(partition, sort string) layout.Item {
	v.t.Helper()
	return must.Get(v.client.GetItem(v.t.Context(), &dynamodb.GetItemInput{TableName: &v.table, Key: layout.Key(v.own(partition), sort), ConsistentRead: aws.Bool(true)}))(v.t).Item
}

func (v vandal) delete(partition, sort string) {
	v.t.Helper()
	must.Get(v.client.DeleteItem(v.t.Context(), &dynamodb.DeleteItemInput{TableName: &v.table, Key: layout.Key(v.own(partition), sort)}))(v.t)
}

// values are the values of an expression.
type values []types.AttributeValue

// update changes an item by an expression whose values are :a, :b and so on.
func (v vandal) update(partition, sort, expression string, values ...types.AttributeValue) {
	v.t.Helper()
	must.Do(v.t, v.updateIf("", partition, sort, expression, values...))
}

// updateIf does the same on a condition, and returns an error.
func (v vandal) updateIf(condition, partition, sort, expression string, values ...types.AttributeValue) error {
	input := &dynamodb.UpdateItemInput{TableName: &v.table, Key: layout.Key(v.own(partition), sort), UpdateExpression: aws.String(expression)}
	for i, value := range values {
		if input.ExpressionAttributeValues == nil {
			input.ExpressionAttributeValues = layout.Item{}
		}
		if of, is := value.(*types.AttributeValueMemberS); is {
			value = text(v.own(of.Value))
		}
		input.ExpressionAttributeValues[":"+string(rune('a'+i))] = value
	}
	if condition != "" {
		input.ConditionExpression = &condition
	}
	_, err := v.client.UpdateItem(v.t.Context(), input)
	return err
}

// grid writes counts into the statistics of product p.
func (v vandal) grid(counts string) { setGrid(counts)(v, nil) }

func markerOf(id comment.ID) string { return "M#" + id.Position().String() }

// damage is an edit by hand of the stored items of product p, and the drift that it causes.
type damage struct {
	why   string
	do    edit
	finds drifts
}

// drifts are what verify finds.
type drifts []counts.DriftKind

// edit is an edit by hand of a table whose product p has comments.
type edit func(v vandal, comments []comment.Comment)

// set changes an item by an expression, as vandal.update does.
func set(partition, sort, expression string, values ...types.AttributeValue) edit {
	return func(v vandal, _ []comment.Comment) { v.update(partition, sort, expression, values...) }
}

// setGrid writes counts into the statistics of product p.
func setGrid(counts string) edit { return set("P#p", "S", "SET g = :a", text(counts)) }

// setMarker changes the marker of a comment of product p.
func setMarker(number int, expression string, values ...types.AttributeValue) edit {
	return func(v vandal, c []comment.Comment) { v.update("P#p", markerOf(c[number].ID), expression, values...) }
}

// setComment changes the first comment of product p.
func setComment(expression string, values ...types.AttributeValue) edit {
	return func(v vandal, c []comment.Comment) {
		v.update("C#"+c[0].ID.Position().String(), "C", expression, values...)
	}
}

// remove deletes an item.
func remove(partition, sort string) edit {
	return func(v vandal, _ []comment.Comment) { v.delete(partition, sort) }
}

// damages are edits of the statistics. The product has a comment of 4 stars and two of 5 in
// English, and one of 5 in German.
var damages = []damage{
	{"a count is changed", setGrid("de=0,0,0,0,1 en=0,0,0,7,2"), drifts{counts.WrongCount, counts.WrongSum}},
	{"a language is lost from the counts", setGrid("en=0,0,0,1,2"), drifts{counts.WrongCount, counts.WrongSum}},
	{"counts are below zero", setGrid("de=0,0,0,0,1 en=0,0,0,1,2 fr=0,-1,0,0,0"), drifts{counts.WrongCount, counts.WrongSum}},
	{"the statistics are gone, and with them the place on the leaderboard", remove("P#p", "S"),
		drifts{counts.MissingLeader,
			counts.WrongCount, counts.WrongCount, counts.WrongCount, counts.WrongSum, counts.WrongSum, counts.WrongSum}},
	{"when the newest comments were written is gone", set("P#p", "S", "REMOVE w"), drifts{counts.WrongNewest}},
	{"when the newest comments were written cannot be read", set("P#p", "S", "SET w = :a", text("private words")), drifts{counts.WrongNewest}},
	// All comments of 4 and of 5 stars are said to be from 1970.
	{"the newest comments are called older than they are", set("P#p", "S", "SET w = :a", layout.Binary(append([]byte{1, 0}, make([]byte, 32)...))),
		drifts{counts.WrongNewest}},
	{"a marker is gone",
		func(v vandal, c []comment.Comment) { v.delete("P#p", markerOf(c[0].ID)) },
		drifts{counts.MissingMarker, counts.WrongSum}},
	{"a marker counts in another cell", setMarker(0, "SET s = :a", text("en/1")), drifts{counts.WrongMarker, counts.WrongSum, counts.WrongSum}},
	{"a marker is of a comment that never existed", set("P#p", markerOf(comment.IDOf(comment.MaxPosition)), "SET s = :a", text("en/1")), drifts{counts.StrayMarker, counts.WrongSum}},
	{"a comment was deleted without a record",
		func(v vandal, c []comment.Comment) { v.delete("C#"+c[0].ID.Position().String(), "C") },
		drifts{counts.StrayMarker, counts.WrongCount, counts.WrongLeader, counts.WrongLeader}},
	{"a comment changed without a record", setComment("SET r = :a", layout.Number(1)),
		drifts{counts.WrongCount, counts.WrongCount, counts.WrongLeader, counts.WrongLeader, counts.WrongLists, counts.WrongMarker}},
	{"a comment moved to another product", setComment("SET A = :a", text("P#q")),
		drifts{counts.StrayMarker, counts.WrongCount, counts.WrongLeader, counts.WrongLeader,
			counts.MissingLeader, counts.MissingLeader, counts.MissingMarker, counts.WrongCount, counts.WrongLists}},
	{"the place on the leaderboard is gone", set("P#p", "S", "REMOVE board, place"), drifts{counts.MissingLeader}},
	{"a place on the leaderboard of a language is gone", remove("P#p", "S#de"), drifts{counts.MissingLeader}},
	{"a place on the leaderboard of a language has no keys", set("P#p", "S#de", "REMOVE board, place"), drifts{counts.WrongLeader}},
	{"the leaderboard has a wrong count", set("P#p", "S", "SET place = :a", text("9999999989#p")), drifts{counts.WrongLeader}},
	{"a shard that no reader reads", set("P#p", "S", "SET board = :a", text("LEADERS#77")), drifts{counts.WrongShard}},
	{"the leaderboard of another language", set("P#p", "S#de", "SET board = :a", text("LEADERS#en#0")), drifts{counts.WrongShard}},
	{"a place on the leaderboard of a language without comments", set("P#p", "S#fr", "SET board = :a, place = :b", text("LEADERS#fr#0"), text("9999999989#p")), drifts{counts.StrayLeader}},
	{"a product on the leaderboard that has no comments at all", set("P#nothing", "S#fr", "SET board = :a, place = :b", text("LEADERS#fr#0"), text("9999999989#nothing")),
		drifts{counts.StrayLeader}},
	{"the counts are other words", setGrid("private words"), drifts{counts.UnreadableStatistics}},
	{"the counts are other words, and a marker is gone",
		func(v vandal, c []comment.Comment) { v.grid("private words"); v.delete("P#p", markerOf(c[0].ID)) },
		drifts{counts.UnreadableStatistics}},
	{"the counts are of another type", set("P#p", "S", "SET g = :a", &types.AttributeValueMemberBOOL{Value: true}), drifts{counts.UnreadableStatistics}},
	{"the counts are gone", set("P#p", "S", "REMOVE g"), drifts{counts.UnreadableStatistics}},
	{"a language without comments is left", setGrid("de=0,0,0,0,1 en=0,0,0,1,2 fr=0,0,0,0,0"), drifts{counts.UnreadableStatistics}},
	{"the number of changes of the statistics is gone", set("P#p", "S", "REMOVE n"), drifts{counts.UnreadableStatistics}},
	{"a hold cannot be read", set("P#p", "S", "SET h = :a", text("private words")), drifts{counts.UnreadableStatistics}},
	{"a marker that counts in another cell calls its source other words", setMarker(0, "SET s = :a, o = :b", text("en/1"), text("private words")),
		drifts{counts.WrongMarker, counts.WrongSum, counts.WrongSum}},
	{"a marker's cell cannot be read", setMarker(0, "SET s = :a", text("private words")), drifts{counts.UnreadableMarker, counts.WrongSum}},
	{"a marker's rating is out of range", setMarker(0, "SET s = :a", text("en/9")), drifts{counts.UnreadableMarker, counts.WrongSum}},
	{"a marker's position is a number, and its comment is gone",
		func(v vandal, c []comment.Comment) {
			v.update("P#p", markerOf(c[0].ID), "SET p = :a", layout.Number(1))
			v.delete("C#"+c[0].ID.Position().String(), "C")
		},
		drifts{counts.UnreadableMarker, counts.WrongCount, counts.WrongLeader, counts.WrongLeader, counts.WrongSum}},
	{"a language without a shared row has counts of its own", set("P#p", "S#de", "SET c = :a", text("0,0,0,0,1")), drifts{counts.WrongCount, counts.WrongRow, counts.WrongSum}},
	{"there is a shared row that no language has", setGrid("*=0,0,0,0,1 de=0,0,0,0,1 en=0,0,0,1,2"), drifts{counts.WrongRow}},
	{"the place of a language cannot be read", set("P#p", "S#de", "SET place = :a", text("private words")), drifts{counts.WrongLeader}},
	{"everything that was counted is gone",
		func(v vandal, c []comment.Comment) {
			v.delete("P#p", "S")
			v.delete("P#p", "S#de")
			v.delete("P#p", "S#en")
			for _, gone := range c {
				v.delete("P#p", markerOf(gone.ID))
			}
		},
		drifts{counts.MissingLeader, counts.MissingLeader, counts.MissingLeader,
			counts.MissingMarker, counts.MissingMarker, counts.MissingMarker, counts.MissingMarker,
			counts.WrongCount, counts.WrongCount, counts.WrongCount}},
}

// traitDamages are edits of counts by traits. The first comment of 5 stars in English is verified.
var traitDamages = []damage{
	{"the counts by traits are gone", set("P#p", "S", "REMOVE k"), drifts{counts.WrongCount, counts.WrongCount, counts.WrongSum, counts.WrongSum}},
	{"the counts by traits are other bytes", set("P#p", "S", "SET k = :a", layout.Binary([]byte{255, 255, 255})), drifts{counts.UnreadableStatistics}},
	{"the counts by traits are of another type", set("P#p", "S", "SET k = :a", text("private words")), drifts{counts.UnreadableStatistics}},
	{"a marker counts without the trait", setMarker(0, "SET s = :a", text("en/5")), drifts{counts.WrongMarker, counts.WrongSum, counts.WrongSum}},
	{"a marker counts with a trait that the comment has not", setMarker(1, "SET s = :a", text("en/5/mv")), drifts{counts.WrongMarker, counts.WrongSum, counts.WrongSum}},
	{"a comment lost its trait without a record", setComment("REMOVE k"), drifts{counts.WrongCount, counts.WrongCount, counts.WrongMarker}},
}

// impropers are edits by hand that make a comment of product p improper, and the reason that is
// reported.
var impropers = []struct {
	why, expression string
	values          values
	reason          string
}{
	{"the rating is gone", "REMOVE r", nil, `attribute "r" is missing or of another type`},
	{"the rating is a text", "SET r = :a", values{text("private words")}, `attribute "r" is missing or of another type`},
	{"the rating is out of range", "SET r = :a", values{layout.Number(7)}, `attribute "r" is not a rating of 1 to 5`},
	{"the language is gone", "REMOVE l", nil, `attribute "l" is missing or of another type`},
	{"the language has the separator of a cell", "SET l = :a", values{text("en/5")}, `attribute "l" is no language`},
	{"the language cannot be one", "SET l = :a", values{text("e\x01n")}, `attribute "l" is no language`},
	{"the language is longer than a sort key", "SET l = :a", values{text(strings.Repeat("x", 2_000))}, `attribute "l" is no language`},
	{"the product is longer than a sort key", "SET A = :a", values{text("P#" + strings.Repeat("p", 1_500))}, `has no product in A`},
	{"the product is gone", "REMOVE A", nil, `has no product in A`},
}

// Verify and rebuild report an improper comment and do not count it, even if it was counted before.
// All other comments, of its product and of others, are counted as before.
func TestImproperComments(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	vandals, comments := damagedProducts(t, client, len(impropers), 0)
	table := vandals[0].table
	before := storedModel(t, client, table)
	reasons, products := map[string]string{}, []string{"bystander"}
	for i, row := range impropers {
		v, product := vandals[i], "p"+vandals[i].suffix
		late := commenttest.Many(commenttest.Rand(t), product, 1)[0]
		load(t, client, table, []comment.Comment{late})
		for _, c := range []comment.Comment{comments[i][0], late} {
			pk := "C#" + c.ID.Position().String()
			v.update(pk, "C", row.expression, row.values...)
			reasons[pk+"/C"] = row.reason
		}
		before.Delete(comments[i][0].ID)
		products = append(products, product)
	}
	result := rebuild(t, client, table)
	found := verify(t, client, table)
	if diff := cmp.Diff(result.Improper, found.Improper); diff != "" || len(found.Improper) != len(reasons) || !result.Complete {
		t.Errorf("rebuild %+v, verify %+v", result, found)
	}
	for _, item := range found.Improper {
		if reason, text := reasons[item.Key], item.String(); reason == "" || !strings.Contains(text, "C#") || !strings.Contains(text, reason) || strings.Contains(text, "private") {
			t.Errorf("%s, want that %s", text, reason)
		}
	}
	checkCounted(t, client, table, products, before)
	for _, product := range products {
		checkList(t, client, table, product, before.List(product, comment.Filter{}, comment.NewestFirst))
	}
	scanner := dynamo.NewScanner(client, table, 1)
	left := 0
	scanner.OnImproper = func(layout.Improper) { left++ }
	scanned := 0
	for _, err := range scanner.All(t.Context()) {
		must.Do(t, err)
		scanned++
	}
	if scanned != len(before.All()) || left != len(reasons) {
		t.Errorf("a scan finds %d comments and reports %d others", scanned, left)
	}
}

// Items in the list of a product whose keys no comment can have are reported too. They stop neither
// verify nor rebuild, which count all other items, and they are on no page.
func TestStrangeKeys(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, comments := damaged(t, client)
	want := storedModel(t, client, v.table)
	known := "C#" + comments[0].ID.Position().String()
	strange := []string{"C#nothing/C", "C#01kdvdna000000000000000005/C", known + "/D", "private/C"}
	for _, one := range strange {
		partition, sort, _ := strings.Cut(one, "/")
		v.update(partition, sort, "SET A = :a, l = :b, r = :c", text("P#p"), text("en"), layout.Number(5))
	}
	copied := layout.Encode(comments[0])
	copied["SK"] = text("E")
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &v.table, Item: copied}))(t)
	strange = append(strange, known+"/E")
	result, found := rebuild(t, client, v.table), verify(t, client, v.table)
	if diff := cmp.Diff(result.Improper, found.Improper); diff != "" || !result.Complete {
		t.Errorf("rebuild %+v, verify %+v", result, found)
	}
	var keys []string
	for _, item := range found.Improper {
		keys = append(keys, item.Key)
	}
	slices.Sort(strange)
	if slices.Sort(keys); !slices.Equal(keys, strange) {
		t.Errorf("reported are %v, want %v", found.Improper, strange)
	}
	checkCounted(t, client, v.table, []string{"p", "bystander"}, want)
	page, err := dynamo.NewStore(client, v.table, dynamo.Options{}).Comments(t.Context(), comment.Query{Product: "p", Order: comment.NewestFirst, Slice: comment.Slice{Size: 10}})
	if err != nil || len(page.Comments) != len(comments) {
		t.Errorf("a page of %d comments, %v; want the %d", len(page.Comments), err, len(comments))
	}
}

// checkList checks that the list of a product returns these comments, and reports the other items.
func checkList(t *testing.T, client *dynamodb.Client, table, product string, want []comment.Comment) {
	t.Helper()
	var told []layout.Improper
	store := dynamo.NewStore(client, table, dynamo.Options{Improper: func(item layout.Improper) { told = append(told, item) }})
	for range 2 {
		page, err := store.Comments(t.Context(), comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: len(want)}})
		if err != nil || page.HasNext || len(page.Comments) != len(want) {
			t.Fatalf("a page of %d, more %v, %v; want %d", len(page.Comments), page.HasNext, err, len(want))
		}
	}
	if len(told) > 2 {
		t.Errorf("lists tell of %v", told)
	}
}

// A comment whose compressed text is damaged is left out of its page. The rest of the page is
// returned. A scan without texts yields it: page numbers count it.
func TestDamagedText(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, comments := damaged(t, client)
	v.update("C#"+comments[0].ID.Position().String(), "C", "SET t = :a", layout.Binary([]byte("private words")))
	var told []layout.Improper
	store := dynamo.NewStore(client, v.table, dynamo.Options{Improper: func(item layout.Improper) { told = append(told, item) }})
	page, err := store.Comments(t.Context(), comment.Query{Product: "p", Order: comment.NewestFirst, Slice: comment.Slice{Size: 10}})
	if err != nil || len(page.Comments) != 3 || len(told) != 1 || strings.Contains(told[0].String(), "private") {
		t.Errorf("%d comments, %v; reported %v", len(page.Comments), err, told)
	}
	scanner := dynamo.NewScanner(client, v.table, 1)
	scanner.Bare = true
	for of, all := range map[string]iter.Seq2[comment.Comment, error]{"all": scanner.All(t.Context()), "p": scanner.OfProduct(t.Context(), "p")} {
		found := 0
		for c, err := range all {
			must.Do(t, err)
			if c.ProductID == "p" {
				found++
			}
		}
		if found != 4 {
			t.Errorf("of %s: %d comments", of, found)
		}
	}
}

// A leaderboard leaves out an item with an invalid place, set by hand, or with a place that belongs
// to another item. The other places are returned.
func TestImproperPlace(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, _ := damaged(t, client)
	v.update("P#hand", "S", "SET board = :a, place = :b", text("LEADERS#0"), text("private words"))
	real := v.get("P#p", "S")
	v.update("P#p", "copy", "SET board = :a, place = :b", real["board"], real["place"])
	v.update("P#copy", "S", "SET board = :a, place = :b", real["board"], real["place"])
	var told []layout.Improper
	store := dynamo.NewStore(client, v.table, dynamo.Options{Improper: func(item layout.Improper) { told = append(told, item) }})
	leaders, err := store.Leaders(t.Context(), "", 10)
	of := func(l comment.Leader) bool { return l.Product == "p" && l.Count == 3 }
	var keys []string
	for _, item := range told {
		keys = append(keys, item.Key)
	}
	slices.Sort(keys)
	if err != nil || !slices.ContainsFunc(leaders, of) || !slices.Equal(keys, []string{"P#copy/S", "P#hand/S", "P#p/copy"}) {
		t.Errorf("%v, %v; reported %v", leaders, err, told)
	}
}

// Verify finds exactly the damage, and nothing after a rebuild. One engine suffices, since damaged
// items are the same in all. Other tests rebuild in both.
func TestDamage(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	rows := slices.Concat(damages, traitDamages)
	vandals, comments := damagedProducts(t, client, len(damages), len(traitDamages))
	table := vandals[0].table
	for i, row := range rows {
		row.do(vandals[i], comments[i])
	}
	found := must.Get(counts.HastenVerifier(counts.NewVerifier(client, table, counts.VerifyOptions{Calls: 2})).Run(t.Context(), func(int) {}))(t)
	if len(found.Restless) > 0 {
		t.Errorf("restless %v", found.Restless)
	}
	of, products := map[string]drifts{}, []string{"bystander"}
	for _, drift := range found.Drifts {
		_, suffix, _ := strings.Cut(drift.Product, "-")
		of[suffix] = append(of[suffix], drift.Kind)
	}
	for i, row := range rows {
		suffix := vandals[i].suffix
		check.Equal(t, row.finds, of[suffix[1:]], row.why)
		delete(of, suffix[1:])
		products = append(products, "p"+suffix, "q"+suffix, "nothing"+suffix)
	}
	if len(of) > 0 {
		t.Errorf("others have drifts, too: %v", of)
	}
	if rebuild(t, client, table).Refiled > 0 { // counted by its record of the stream, or by another rebuild
		rebuild(t, client, table)
	}
	verify(t, client, table)
	model := storedModel(t, client, table)
	for part := range slices.Chunk(products, call.MaxKeysPerGet) {
		checkCounted(t, client, table, part, model)
	}
}

// damaged makes a counted table for a vandal, and returns the comments of its product p.
func damaged(t *testing.T, client *dynamodb.Client) (vandal, []comment.Comment) {
	t.Helper()
	vandals, comments := damagedProducts(t, client, 1, 0)
	return vandals[0], comments[0]
}

// damagedProducts makes a counted table for vandals, each with products of its own. It returns the
// comments of each product p. One of them is a verified purchase, for vandals beyond the plain
// ones.
func damagedProducts(t *testing.T, client *dynamodb.Client, plain, verified int) (vandals []vandal, comments [][]comment.Comment) {
	t.Helper()
	r, table := commenttest.Rand(t), newTable(t, client)
	load(t, client, table, commenttest.Many(r, "bystander", 3))
	for n := range plain + verified {
		v := vandal{t: t, client: client, table: table}
		if plain > 1 {
			v.suffix = fmt.Sprint("-", n)
		}
		of := commenttest.Many(r, "p"+v.suffix, 4)
		for i, cell := range []comment.Cell{{Language: "en", Rating: 5}, {Language: "en", Rating: 5}, {Language: "de", Rating: 5}, {Language: "en", Rating: 4}} {
			of[i].Language, of[i].Rating = cell.Language, cell.Rating
			of[i].Verified, of[i].Media, of[i].ImportedVotes = false, nil, comment.VoteCounts{} // each trait would be a count of its own
		}
		of[0].Verified = n >= plain
		load(t, client, table, of)
		vandals, comments = append(vandals, v), append(comments, of)
	}
	rebuild(t, client, table)
	verify(t, client, table)
	return vandals, comments
}

// storedModel returns a model of the comments in a table.
func storedModel(t *testing.T, client *dynamodb.Client, table string) *commenttest.Model {
	t.Helper()
	model := commenttest.NewModel()
	for c, err := range dynamo.NewScanner(client, table, 1).All(t.Context()) {
		must.Do(t, err)
		model.Insert(c)
	}
	return model
}

// A verification writes nothing, and what it reads is up to date.
func TestVerifyOnlyReads(t *testing.T) {
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	load(t, client, table, commenttest.Many(commenttest.Rand(t), "p", 300))
	// Consistent reads are passed on, and reads of indexes, which cannot be. Other calls are reported.
	reads := faulttest.With(client, func(under faulttest.HTTPClient, operation string, request *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(body))
		of := slices.Contains([]string{"Query", "Scan", "BatchGetItem"}, operation) && bytes.Contains(body, []byte(`"ConsistentRead":true`))
		if !of && !bytes.Contains(body, []byte(`"IndexName"`)) && operation != "DescribeTable" {
			t.Errorf("%s %s", operation, body)
		}
		response, failed := under.Do(request)
		return response, errors.Join(err, failed)
	})
	found := must.Get(counts.HastenVerifier(counts.NewVerifier(reads, table, counts.VerifyOptions{Calls: 2})).Run(t.Context(), func(int) {}))(t)
	kinds := map[counts.DriftKind]int{}
	for _, drift := range found.Drifts {
		kinds[drift.Kind]++
	}
	if kinds[counts.MissingMarker] < 100 || kinds[counts.FurtherMarkers] != 1 {
		t.Errorf("of 300 comments that were never counted, %v is found", kinds)
	}
}

// If the settings item is missing, no new product is counted, since the guards show that there was
// one. A rebuild restores it.
func TestDeletedSettings(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, _ := damaged(t, client)
	rebuilder := newRebuilder(client, v.table)
	rebuilder.LeaderShards = 7
	must.Get(rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}))(t)
	v.delete("STATISTICS", "LEADERS")
	load(t, client, v.table, commenttest.Many(commenttest.Rand(t), "later", 2))
	rebuild(t, client, v.table)
	verify(t, client, v.table)
	checkCounted(t, client, v.table, []string{"p", "bystander", "later"}, storedModel(t, client, v.table))
}

// refusing is a table that refuses each transaction about a product as invalid, as it does if an
// item would become too large.
type refusing struct {
	*dynamodb.Client
	product string
}

func (r refusing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, write := range in.TransactItems {
		if write.Put != nil && layout.ProductOfKey(write.Put.Item) == r.product {
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "Item size has exceeded the maximum allowed size"}
		}
	}
	return r.Client.TransactWriteItems(ctx, in, o...)
}

// A rebuild names the product whose statistics the table refuses, and counts the others. So does
// one that resumes it. Nobody trusts the counts until another rebuild succeeds.
func TestRebuildNamesWhatIsRefused(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table, r, model := newTable(t, client), commenttest.Rand(t), commenttest.NewModel()
	for _, product := range []string{"cup", "cursed", "pan"} {
		for _, c := range commenttest.Many(r, product, 5) {
			model.Insert(c)
		}
	}
	load(t, client, table, model.All())
	run := func(rebuilder *counts.Rebuilder) (counts.RebuildResult, stream.State) {
		result := must.Get(counts.Hasten(rebuilder).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
		state := must.Get(leases.NewLeases(client, table).State(t.Context()))(t)
		return result, state
	}
	result, state := run(counts.NewRebuilder(refusing{client, "cursed"}, table, counts.RebuildOptions{}))
	if !slices.Equal(result.Failed, []string{"cursed"}) || result.Complete || state.Complete {
		t.Errorf("failed %q, complete %t; the state says %t", result.Failed, result.Complete, state.Complete)
	}
	found, _, err := dynamo.NewStore(client, table, dynamo.Options{}).StatsOf(t.Context(), []string{"cup", "pan"})
	for _, product := range []string{"cup", "pan"} {
		if diff := cmp.Diff(model.Stats(product), found[product].Clone()); diff != "" {
			t.Errorf("statistics of %q: %v: %s", product, err, diff)
		}
	}
	pages := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := counts.Hasten(counts.NewRebuilder(refusing{client, "cursed"}, table, counts.RebuildOptions{Calls: 1}))
	if _, err := stopped.Run(ctx, func(counts.RebuildProgress) {
		if pages++; pages == call.SegmentsPerCall { // the last
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	result, state = run(counts.NewRebuilder(refusing{client, "cursed"}, table, counts.RebuildOptions{Calls: 1}))
	if !result.Resumed || !slices.Equal(result.Failed, []string{"cursed"}) || result.Complete || state.Complete {
		t.Errorf("resumed %t: failed %q, complete %t; the state says %t", result.Resumed, result.Failed, result.Complete, state.Complete)
	}
	result, state = run(counts.NewRebuilder(client, table, counts.RebuildOptions{}))
	if len(result.Failed) > 0 || !result.Complete || !state.Complete {
		t.Errorf("the table takes it again: failed %q, complete %t; the state says %t", result.Failed, result.Complete, state.Complete)
	}
	checkCounted(t, client, table, []string{"cup", "cursed", "pan"}, model)
}
