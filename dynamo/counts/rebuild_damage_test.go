package counts_test

import (
	"bytes"
	"context"
	"errors"
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
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// newVandal returns a vandal of a new table.
func newVandal(t *testing.T, client *dynamodb.Client) vandal {
	return vandal{t: t, client: client, table: newTable(t, client)}
}

func (v vandal) get(partition, sort string) layout.Item {
	v.t.Helper()
	return must.Get(v.client.GetItem(v.t.Context(), &dynamodb.GetItemInput{TableName: &v.table, Key: layout.Key(partition, sort), ConsistentRead: aws.Bool(true)}))(v.t).Item
}

func (v vandal) delete(partition, sort string) {
	v.t.Helper()
	must.Get(v.client.DeleteItem(v.t.Context(), &dynamodb.DeleteItemInput{TableName: &v.table, Key: layout.Key(partition, sort)}))(v.t)
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
	input := &dynamodb.UpdateItemInput{TableName: &v.table, Key: layout.Key(partition, sort), UpdateExpression: aws.String(expression)}
	for i, value := range values {
		if input.ExpressionAttributeValues == nil {
			input.ExpressionAttributeValues = layout.Item{}
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
	for _, row := range impropers {
		t.Run(row.why, func(t *testing.T) {
			v, comments := damaged(t, client)
			before := storedModel(t, client, v.table)
			late := commenttest.Many(commenttest.Rand(t), "p", 1)[0]
			load(t, client, v.table, []comment.Comment{late})
			for _, c := range []comment.Comment{comments[0], late} {
				v.update("C#"+c.ID.Position().String(), "C", row.expression, row.values...)
			}
			before.Delete(comments[0].ID)
			result := rebuild(t, client, v.table)
			found := verify(t, client, v.table)
			if diff := cmp.Diff(result.Improper, found.Improper); diff != "" || len(found.Improper) != 2 || !result.Complete {
				t.Errorf("rebuild %+v, verify %+v", result, found)
			}
			if text := found.Improper[0].String(); !strings.Contains(text, "C#") || !strings.Contains(text, row.reason) || strings.Contains(text, "private") {
				t.Error(text)
			}
			checkCounted(t, client, v.table, []string{"p", "bystander"}, before)
			checkLists(t, client, v.table, before.List("p", comment.Filter{}, comment.NewestFirst))
		})
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

// checkLists checks that a list and a scan of product p return these comments, and report the other
// items.
func checkLists(t *testing.T, client *dynamodb.Client, table string, want []comment.Comment) {
	t.Helper()
	var told []layout.Improper
	store := dynamo.NewStore(client, table, dynamo.Options{Improper: func(item layout.Improper) { told = append(told, item) }})
	for range 2 {
		page, err := store.Comments(t.Context(), comment.Query{Product: "p", Order: comment.NewestFirst, Slice: comment.Slice{Size: len(want)}})
		if err != nil || page.HasNext || len(page.Comments) != len(want) {
			t.Fatalf("a page of %d, more %v, %v; want %d", len(page.Comments), page.HasNext, err, len(want))
		}
	}
	if len(told) > 2 {
		t.Errorf("lists tell of %v", told)
	}
	scanner := dynamo.NewScanner(client, table, 1)
	var left []layout.Improper
	scanner.OnImproper = func(item layout.Improper) { left = append(left, item) }
	found := 0
	for c, err := range scanner.All(t.Context()) {
		must.Do(t, err)
		if c.ProductID == "p" {
			found++
		}
	}
	if found != len(want) || len(left) != 2 {
		t.Errorf("a scan finds %d comments and reports %v", found, left)
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
	for i, row := range slices.Concat(damages, traitDamages) {
		t.Run(row.why, func(t *testing.T) {
			v, comments := damagedWith(t, client, i >= len(damages))
			row.do(v, comments)
			verify(t, client, v.table, row.finds...)
			if rebuild(t, client, v.table).Refiled > 0 { // counted by its record of the stream, or by another rebuild
				rebuild(t, client, v.table)
			}
			verify(t, client, v.table)
			checkCounted(t, client, v.table, []string{"p", "q", "bystander", "nothing"}, storedModel(t, client, v.table))
		})
	}
}

// damaged makes a counted table for a vandal, and returns the comments of its product p.
func damaged(t *testing.T, client *dynamodb.Client) (vandal, []comment.Comment) {
	t.Helper()
	return damagedWith(t, client, false)
}

// damagedWith does the same. If verified, one comment is a verified purchase.
func damagedWith(t *testing.T, client *dynamodb.Client, verified bool) (vandal, []comment.Comment) {
	t.Helper()
	r, table := commenttest.Rand(t), newTable(t, client)
	comments := commenttest.Many(r, "p", 4)
	for i, cell := range []comment.Cell{{Language: "en", Rating: 5}, {Language: "en", Rating: 5}, {Language: "de", Rating: 5}, {Language: "en", Rating: 4}} {
		comments[i].Language, comments[i].Rating = cell.Language, cell.Rating
		comments[i].Verified, comments[i].Media, comments[i].ImportedVotes = false, nil, comment.VoteCounts{} // each trait would be a count of its own
	}
	comments[0].Verified = verified
	load(t, client, table, comments)
	load(t, client, table, commenttest.Many(r, "bystander", 3))
	rebuild(t, client, table)
	verify(t, client, table)
	return vandal{t: t, client: client, table: table}, comments
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

// A rebuild names the product whose statistics the table refuses, and counts the others. So does one
// that resumes it. Nobody trusts the counts until another rebuild succeeds.
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
