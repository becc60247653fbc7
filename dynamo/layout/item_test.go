package layout

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// An encoded comment decodes to the same comment, both from the table and from an index, which
// holds only the projected attributes.
func TestItemsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := commenttest.Random(r, rapid.SampledFrom([]string{"42", "a/en/5", "c", "コーヒー"}).Draw(t, "product"))
		whole := Encode(want)
		product, err := ProductOf(whole)
		if err != nil || product != want.ProductID {
			t.Fatalf("product %q, %v", product, err)
		}
		if IDOfKey(whole) != want.ID {
			t.Fatalf("id %s, want %s", IDOfKey(whole), want.ID)
		}
		listed := Item{}
		for _, name := range strings.Split(ListProjection(true), ",") {
			if value, ok := whole[name]; ok {
				listed[name] = value
			}
		}
		for _, in := range []Item{whole, listed} {
			compressed := must.Get(DecodeCompressed(in, product, true))(t)
			got, err := compressed.Decompress()
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
		}
	})
}

// Different partitions have different keys, even for product IDs with slashes that look like other
// keys.
func TestPartitionKeysAreOneToOne(t *testing.T) {
	products := []string{"a", "a/en", "a/en/5", "a/5", "b"}
	for _, index := range ListIndexes() {
		owner := map[string]string{}
		for _, product := range products {
			for _, language := range []comment.Language{"en", "de"} {
				for rating := 1; rating <= comment.MaxRating; rating++ {
					p := PartitionOf(index, comment.Comment{Language: language, Rating: rating})
					key, means := p.Key(product), product+"|"+string(p.Language)+"|"+string(rune('0'+p.Rating))
					if other, taken := owner[key]; taken && other != means {
						t.Errorf("in %s the key %s stands for %s and for %s", index, key, other, means)
					}
					owner[key] = means
				}
			}
		}
	}
}

func TestDamagedItems(t *testing.T) {
	c := commenttest.Random(rand.New(rand.NewPCG(1, 1)), "42")
	c.Author.Imported = false
	good := Encode(c)
	for _, attr := range []string{AttrPK, AttrLanguage, AttrRating, AttrText, AttrWriter, attrAuthorName} {
		missing, mistyped := maps.Clone(good), maps.Clone(good)
		delete(missing, attr)
		mistyped[attr] = &types.AttributeValueMemberBOOL{Value: true}
		for _, bad := range []Item{missing, mistyped} {
			if c, err := Decode(bad); err == nil || !strings.Contains(err.Error(), attr) {
				t.Errorf("without a good %s it reads as %v, %v; want an error that names it", attr, c, err)
			}
		}
	}
	odd := Item{AttrPK: good[AttrPK], AttrRating: &types.AttributeValueMemberN{Value: "five"}}
	if _, err := Decode(odd); err == nil {
		t.Error("a rating that is no number goes unnoticed")
	}
}

// An item is improper if no answer, or no key of another item, could hold its comment. The error
// names the attribute at fault. Odd but valid values are read.
func TestUnanswerableItems(t *testing.T) {
	number := func(n int64) types.AttributeValue { return Number(n) }
	inMap := func(it Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: it} }
	never := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	held := func(edit comment.HeldEdit) types.AttributeValue {
		return Encode(comment.Comment{Moderation: &comment.Moderation{HeldEdit: &edit}})[attrHeldEdit]
	}
	for _, row := range []struct {
		attr  string
		value types.AttributeValue
		good  bool
	}{
		{AttrAuthorID, Binary([]byte("ann\xff")), false},
		{AttrAuthorID, Binary([]byte("änn")), true},
		{attrUpdated, number(math.MaxInt64), false},
		{attrUpdated, number(math.MinInt64), false},
		{attrUpdated, number(253_402_300_800_000), false}, // 10000-01-01
		{attrUpdated, number(253_402_300_799_999), true},
		{AttrPK, Text("C#7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), false}, // the year 10889
		{AttrPK, Text("C#76EZ91ZPZZZZZZZZZZZZZZZZZZ"), true},  // the last ID of 9999
		{AttrPK, Text("01KDVDNA0000000000000000Z8"), false},
		{AttrVersion, number(math.MaxInt32 + 1), false},
		{AttrVersion, number(0), false},
		{AttrVersion, number(math.MaxInt32), true},
		{AttrLanguage, Text("e\x01n"), false},
		{AttrLanguage, Text(strings.Repeat("x", 65)), false},
		{AttrLanguage, Text("tlh-x-whatever"), true},
		{AttrAll, Text("P#" + strings.Repeat("p", comment.MaxIDBytes+1)), false},
		{AttrAll, Text("P#"), false},
		{AttrAll, Text("P#a\x00b"), true},
		{attrVotes, Text("2147483648,0"), false},
		{attrVotes, Text("2147483647,0"), true},
		{attrReply, inMap(encodeReply(&comment.Reply{CreatedAt: never, Version: 1}, 0)), false},
		{attrReply, inMap(encodeReply(&comment.Reply{UpdatedAt: &never, Version: 1}, 0)), false},
		{attrReply, inMap(encodeReply(&comment.Reply{Version: math.MaxInt32 + 1}, 0)), false},
		{attrReply, inMap(encodeReply(&comment.Reply{Version: math.MaxInt32}, 0)), true},
		{attrHeldEdit, held(comment.HeldEdit{Rating: 1, Language: "en", At: never, Version: 2}), false},
		{attrHeldEdit, held(comment.HeldEdit{Rating: 1, Language: "en", Version: math.MaxInt32 + 1}), false},
		{attrHeldEdit, held(comment.HeldEdit{Rating: 1, Language: "en", Version: 2}), true},
		{AttrReports, number(math.MaxInt32 + 1), false},
		{AttrReports, number(-1), false},
		{AttrState, Text("R/WHATEVER"), false},
		{AttrState, Text("R/SPAM"), true},
		{AttrPlace, Text("1700000000000#c_01KDVDNA0000000000000000Z8#LINK#en#42"), true},
		{AttrPlace, Text("1700000000000#c_01KDVDNA0000000000000000Z8#WHATEVER#en#42"), false},
		{AttrPlace, Text("253402300800000#c_01KDVDNA0000000000000000Z8#LINK#en#42"), false},
		{AttrPlace, Text("17#c_01KDVDNA0000000000000000Z8#LINK#en#42"), false}, // sorts after later places
	} {
		c := commenttest.Random(commenttest.Rand(t), "42")
		c.Author.Imported = true
		c.Moderation = &comment.Moderation{Held: []comment.HoldReason{comment.HeldReported}}
		it := Encode(c)
		it[row.attr] = row.value
		if _, err := Decode(it); (err == nil) != row.good || err != nil && !strings.Contains(err.Error(), row.attr) {
			t.Errorf("with the %s %v it reads as %v", row.attr, row.value, err)
		}
	}
}

// An approved comment is in every list index, and no other comment is in any. A customer's comment
// is in the index of authors, and a waiting one is on a board. The reserved attributes are not set.
func TestWhichIndexesACommentIsIn(t *testing.T) {
	lists := []string{AttrAll, attrByRating, attrByLangAndRating, attrByLang}
	waits := &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}}
	for _, row := range []struct {
		reason   string
		status   comment.Status
		imported bool
		held     *comment.Moderation
		want     []string
	}{
		{"a customer's", comment.Approved, false, nil, append(slices.Clone(lists), AttrWriter)},
		{"one with a picture", comment.Approved, true, nil, append(slices.Clone(lists), attrMedia)},
		{"one with a picture that waits", comment.Pending, false, waits, []string{AttrWriter, AttrBoard, AttrPlace}},
		{"an imported one: a million may have the same author", comment.Approved, true, nil, lists},
		{"one that waits", comment.Pending, false, waits, []string{AttrWriter, AttrBoard, AttrPlace}},
		{"one that is shown and waits for another look", comment.Approved, true, waits, append(slices.Clone(lists), AttrBoard, AttrPlace)},
		{"one that was rejected", comment.Rejected, false, nil, []string{AttrWriter}},
		{"one that was taken back", comment.Withdrawn, false, nil, []string{AttrWriter}},
	} {
		c := commenttest.Random(commenttest.Rand(t), "42")
		c.Author.Imported, c.Status, c.Moderation, c.Media = row.imported, row.status, row.held, nil
		if strings.Contains(row.reason, "picture") {
			c.Media = []comment.Media{{Path: "a.jpg"}}
		}
		slices.Sort(row.want)
		if got := dynamotest.IndexAttributes(Definition("t"), Encode(c)); !slices.Equal(got, row.want) {
			t.Errorf("%s has %v, want %v", row.reason, got, row.want)
		}
	}
}

// The item of a comment without traits, votes and pictures equals the item from before these
// existed. Lists index this item.
func TestItemWithoutTraits(t *testing.T) {
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), [10]byte{9})),
		ProductID: "espresso", Status: comment.Approved, Language: "de", Rating: 5, Title: new("Good"), Text: "It is good.", Version: 1,
		Author: comment.Author{ID: "42", Name: "Ada"},
	}
	got := must.Get(json.Marshal(Encode(c)))(t)
	want := `{"A":{"Value":"P#espresso"},"B":{"Value":"P#espresso/de/5"},"L":{"Value":"P#espresso/de"},` +
		`"PK":{"Value":"C#01KDYAK3481400000000000000"},"R":{"Value":"P#espresso/5"},"SK":{"Value":"C"},"U":{"Value":"c42"},` +
		`"h":{"Value":"Good"},"l":{"Value":"de"},"n":{"Value":"Ada"},"r":{"Value":"5"},"t":{"Value":"It is good."}}`
	if string(got) != want {
		t.Errorf("the item is\n%s\nwant\n%s", got, want)
	}
}

// A comment in any state decodes to the same comment. An update from one comment to another, as
// UpdateItem applies it, results in the item of the other, and leaves equal attributes alone.
func TestStatesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		anyState := func() comment.Comment {
			return commenttest.Moderated(r, commenttest.Nasty(r, rapid.SampledFrom([]string{"42", "a#b#c", "コーヒー"}).Draw(t, "product")))
		}
		before, after := anyState(), anyState()
		after.ID, after.Votes, after.ImportedVotes = before.ID, before.Votes, before.ImportedVotes
		got, err := Decode(Encode(before))
		if diff := cmp.Diff(before, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
		stored := Encode(before)
		stored[attrVotes] = Text("12,3") // changed meanwhile
		update, values := Update(Encode(before), Encode(after))
		set, remove, _ := strings.Cut(update, "REMOVE ")
		for _, part := range strings.Split(strings.TrimPrefix(strings.TrimSpace(set), "SET "), ", ") {
			if attr, value, found := strings.Cut(part, " = "); found {
				stored[attr] = values[value]
			}
		}
		for _, attr := range strings.Split(remove, ", ") {
			delete(stored, attr)
		}
		want := maps.Clone(Encode(after))
		want[attrVotes] = Text("12,3")
		if !reflect.DeepEqual(want, stored) {
			t.Fatalf("after %q: %v, want %v", update, stored, want)
		}
	})
}

// A comment without a state and without keys of lists may never have been approved. It is improper,
// however it is read.
func TestACommentWithoutAState(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	c.Status = comment.Withdrawn
	it := Encode(c)
	delete(it, AttrState)
	if got, err := Decode(it); err == nil || !strings.Contains(err.Error(), `set its attribute "z" to "P", and rebuild`) {
		t.Errorf("it reads as %s, %v", got.Status, err)
	}
}
