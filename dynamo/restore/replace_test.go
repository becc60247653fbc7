package restore

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// memory is a table in memory, in which an empty item does not exist. It supports the updates of a
// Loader, and only their conditions.
type memory struct {
	mu     sync.Mutex
	items  map[string]layout.Item
	before func(layout.Item) // changes an item once, just before it is updated
	left   int               // number of reads that leave all but one key unprocessed
}

func newMemory(items ...layout.Item) *memory {
	m := &memory{items: map[string]layout.Item{}}
	for _, it := range items {
		m.items[nameOf(it)] = it
	}
	return m
}

func nameOf(it layout.Item) string {
	r := layout.NewReader(it)
	return r.Text(layout.AttrPK) + "/" + r.Text(layout.AttrSK)
}

func (m *memory) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}, UnprocessedKeys: map[string]types.KeysAndAttributes{}}
	for table, want := range in.RequestItems {
		if m.left > 0 && len(want.Keys) > 1 {
			m.left--
			out.UnprocessedKeys[table] = types.KeysAndAttributes{Keys: want.Keys[1:]}
			want.Keys = want.Keys[:1]
		}
		for _, key := range want.Keys {
			if it := m.items[nameOf(key)]; len(it) > 0 {
				out.Responses[table] = append(out.Responses[table], maps.Clone(it))
			}
		}
	}
	return out, nil
}

func (m *memory) Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out := &dynamodb.ScanOutput{}
	for _, name := range slices.Sorted(maps.Keys(m.items)) {
		out.Items = append(out.Items, m.items[name])
	}
	return out, nil
}

func (m *memory) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.items[nameOf(in.Item)] != nil && in.ConditionExpression != nil {
		return nil, &types.ConditionalCheckFailedException{}
	}
	m.items[nameOf(in.Item)] = in.Item
	return &dynamodb.PutItemOutput{}, nil
}

func (m *memory) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before(m.items[nameOf(in.Key)])
		m.before = nil
	}
	it := maps.Clone(m.items[nameOf(in.Key)])
	if len(it) == 0 {
		it = maps.Clone(in.Key)
	}
	for _, condition := range strings.Split(*in.ConditionExpression, " AND ") {
		name, absent := strings.CutPrefix(condition, "attribute_not_exists(")
		if absent {
			name = strings.TrimSuffix(name, ")")
		}
		name, value, _ := strings.Cut(name, " = ")
		if now := it[in.ExpressionAttributeNames[name]]; absent && now != nil || !absent && !reflect.DeepEqual(now, in.ExpressionAttributeValues[value]) {
			return nil, &types.ConditionalCheckFailedException{}
		}
	}
	set, remove, _ := strings.Cut(strings.TrimPrefix(*in.UpdateExpression, "SET "), "REMOVE ")
	for _, part := range strings.Split(strings.TrimSpace(set), ", ") {
		if name, value, found := strings.Cut(part, " = "); found {
			it[in.ExpressionAttributeNames[name]] = in.ExpressionAttributeValues[value]
		}
	}
	for _, name := range strings.Split(remove, ", ") {
		delete(it, in.ExpressionAttributeNames[name])
	}
	m.items[nameOf(it)] = it
	return &dynamodb.UpdateItemOutput{}, nil
}

func (m *memory) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.items, nameOf(in.Key))
	return &dynamodb.DeleteItemOutput{}, nil
}

// with returns a copy of an item with an attribute set, or without it if the value is nil.
func with(it layout.Item, attr string, value types.AttributeValue) layout.Item {
	it = maps.Clone(it)
	if it[attr] = value; value == nil {
		delete(it, attr)
	}
	return it
}

// With Replace, an item ends up as it is in the copy, whatever the table holds, even if another
// client changes it meanwhile. Votes that were counted here stay. With Lines, so does everything
// that lines do not contain.
func TestReplace(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "cup")
	copied := with(layout.Encode(c), "x", layout.Text("copied"))
	other := with(with(copied, "x", layout.Text("another")), "y", layout.Text("new here"))
	marked := with(copied, layout.AttrImport, layout.Text("7:1:0:"))
	tombstone := layout.Tombstone(c.ID, "a mark", c.CreatedAt())
	c.Votes.Helpful += 2
	voted := with(layout.Encode(c), "x", layout.Text("copied"))
	key := layout.Key("KEY#1", "K")
	for name, row := range map[string]struct {
		there, copied, want layout.Item
		lines               bool
		before              func(layout.Item)
		counts              Counts
	}{
		"nothing was there":           {nil, copied, copied, false, nil, Counts{Written: 1}},
		"the same":                    {copied, copied, copied, false, nil, Counts{Existing: 1}},
		"another comment":             {other, copied, copied, false, nil, Counts{Replaced: 1}},
		"another item beside":         {with(key, "x", layout.Text("another")), with(key, "z", layout.Text("copied")), with(key, "z", layout.Text("copied")), false, nil, Counts{Replaced: 1}},
		"one that somebody edits":     {other, copied, copied, false, func(it layout.Item) { it["x"] = layout.Text("edited") }, Counts{Replaced: 1}},
		"one that somebody adds to":   {other, copied, with(copied, "z", layout.Text("added")), false, func(it layout.Item) { it["z"] = layout.Text("added") }, Counts{Replaced: 1}},
		"one that somebody deletes":   {other, copied, copied, false, func(it layout.Item) { clear(it) }, Counts{Replaced: 1}},
		"one that somebody restores":  {other, copied, copied, false, func(it layout.Item) { clear(it); maps.Copy(it, copied) }, Counts{Existing: 1}},
		"a tombstone":                 {tombstone, copied, copied, false, nil, Counts{Replaced: 1}},
		"one that the copy deleted":   {copied, tombstone, tombstone, false, nil, Counts{Replaced: 1}},
		"one with votes":              {voted, copied, voted, false, nil, Counts{Existing: 1}},
		"one of an import":            {marked, copied, copied, false, nil, Counts{Replaced: 1}},
		"one of an import, by a line": {marked, copied, marked, true, nil, Counts{Existing: 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			table := newMemory()
			if row.there != nil {
				table = newMemory(maps.Clone(row.there))
			}
			table.before = row.before
			loader := NewLoader(table, "t", 1)
			loader.Replace, loader.Lines = true, row.lines
			counts, err := loader.Load(t.Context(), []layout.Item{maps.Clone(row.copied)})
			if err != nil || counts != row.counts {
				t.Errorf("%s: %+v, %v; want %+v", name, counts, err, row.counts)
			}
			if got := table.items[nameOf(row.copied)]; !reflect.DeepEqual(got, row.want) {
				t.Errorf("%s: it is %v, want %v", name, got, row.want)
			}
		})
	}
}

// Without Replace, existing items stay.
func TestLoadKeepsWhatIsThere(t *testing.T) {
	copied := layout.Encode(commenttest.Random(commenttest.Rand(t), "cup"))
	table := newMemory(with(copied, "x", layout.Text("another")))
	counts, err := NewLoader(table, "t", 1).Load(t.Context(), []layout.Item{copied})
	if err != nil || counts != (Counts{Existing: 1}) || table.items[nameOf(copied)]["x"] == nil {
		t.Errorf("%+v, %v; the table has %v", counts, err, table.items)
	}
}

// Keys that a read leaves unprocessed are read before anything is written.
func TestLookReadsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var items []layout.Item
		for _, c := range commenttest.Many(commenttest.Rand(t), "cup", 12) {
			items = append(items, layout.Encode(c))
		}
		table := newMemory(items...)
		table.left = len(items) - 1
		if there, err := NewLoader(table, "t", 1).look(t.Context(), items); err != nil || len(there) != len(items) {
			t.Errorf("%d of %d items are there, %v", len(there), len(items), err)
		}
	})
}

// Items that the copy lacks are removed, except derived items, marks of erasures and tombstones.
// With Lines, only comments are removed.
func TestRemoveOthers(t *testing.T) {
	all := commenttest.Many(commenttest.Rand(t), "cup", 3)
	kept, gone, deleted := layout.Encode(all[0]), layout.Encode(all[1]), layout.Tombstone(all[2].ID, "a mark", all[2].CreatedAt())
	vote := layout.VoteItem(all[0].ID, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: all[0].CreatedAt()})
	for _, lines := range []bool{false, true} {
		table := newMemory(kept, gone, deleted, vote, layout.Key("STREAM", "x"), layout.Key("ERASED", "digest"), layout.Key("Z", "x"))
		loader := NewLoader(table, "t", 1)
		loader.Replace, loader.Lines = true, lines
		if removed, err := loader.RemoveOthers(t.Context()); err != ErrNoComments || removed != 0 {
			t.Errorf("of an empty copy, it removes %d, %v", removed, err)
		}
		if _, err := loader.Load(t.Context(), []layout.Item{kept}); err != nil {
			t.Fatal(err)
		}
		want, before := maps.Clone(table.items), len(table.items)
		if !lines {
			delete(want, nameOf(vote))
		}
		removed, err := loader.RemoveOthers(t.Context())
		if most := 1 + before - len(want); err != nil || removed != most {
			t.Errorf("with Lines %v, it removes %d, %v; want %d", lines, removed, err, most)
		}
		if !layout.NoComment(table.items[nameOf(gone)]) || table.items[nameOf(gone)] == nil {
			t.Errorf("with Lines %v, no tombstone is left of a comment that the copy lacks", lines)
		}
		want[nameOf(gone)] = table.items[nameOf(gone)]
		if !reflect.DeepEqual(table.items, want) {
			t.Errorf("with Lines %v, %v are left, want %v", lines, table.items, want)
		}
	}
}

// A copy of a table without comments can be restored, and its imports are found.
func TestCheck(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "cup")
	imported := layout.Key("IMPORTS", "N#a")
	got := Check{}
	for _, it := range []layout.Item{layout.Tombstone(c.ID, "a mark", c.CreatedAt()), imported, layout.Key("KEY#1", "K"), layout.Key("STREAM", "x")} {
		got.Add(it)
	}
	if err := got.Err("t", 2); err != nil {
		t.Error(err)
	}
	if want := (Check{Deleted: 1, Beside: 2, Derived: 1, Imports: []layout.Item{imported}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
