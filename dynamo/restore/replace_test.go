package restore

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// table is a table that another client changes.
type table struct {
	*dynamodb.Client
	t      *testing.T
	name   string
	before func(layout.Item) // changes an item once, just before it is updated, or in place of a put that fails
	left   int               // number of reads that leave all but one key unprocessed
}

func newTable(t *testing.T, items ...layout.Item) *table {
	t.Helper()
	client, name := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	dynamotest.CreateTable(t, client, layout.Definition(name))
	x := &table{Client: client, t: t, name: name}
	for _, it := range items {
		x.put(it)
	}
	return x
}

func (x *table) put(it layout.Item) {
	must.Get(x.Client.PutItem(x.t.Context(), &dynamodb.PutItemInput{TableName: &x.name, Item: it}))(x.t)
}

func (x *table) get(key layout.Item) layout.Item {
	return must.Get(x.GetItem(x.t.Context(), &dynamodb.GetItemInput{TableName: &x.name, Key: layout.KeyOf(key)}))(x.t).Item
}

// items returns all items by their keys.
func (x *table) items() map[string]layout.Item {
	all := map[string]layout.Item{}
	for _, it := range dynamotest.Scan(x.t, x.Client, x.name) {
		all[nameOf(it)] = it
	}
	return all
}

func nameOf(it layout.Item) string {
	r := layout.NewReader(it)
	return r.Text(layout.AttrPK) + "/" + r.Text(layout.AttrSK)
}

func (x *table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	want := in.RequestItems[x.name]
	if x.left == 0 || len(want.Keys) == 1 {
		return x.Client.BatchGetItem(ctx, in, options...)
	}
	x.left--
	left := want
	left.Keys, want.Keys = want.Keys[1:], want.Keys[:1]
	out, err := x.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{x.name: want}}, options...)
	if err == nil {
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{x.name: left}
	}
	return out, err
}

func (x *table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if x.before == nil {
		return x.Client.PutItem(ctx, in, options...)
	}
	it := layout.KeyOf(in.Item)
	x.before(it)
	x.put(it)
	x.before = nil
	return nil, &smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer}
}

func (x *table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if x.before != nil {
		it := x.get(in.Key)
		if x.before(it); len(it) > 0 {
			x.put(it)
		} else {
			must.Get(x.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &x.name, Key: in.Key}))(x.t)
		}
		x.before = nil
	}
	return x.Client.UpdateItem(ctx, in, options...)
}

// with returns a copy of an item with an attribute set, or without it if the value is nil.
func with(it layout.Item, attr string, value types.AttributeValue) layout.Item {
	it = maps.Clone(it)
	if it[attr] = value; value == nil {
		delete(it, attr)
	}
	return it
}

// Without Replace, existing items stay. With it, an item ends up as it is in the copy, whatever the
// table holds, even if another client changes it meanwhile. Votes that were counted here stay. With
// Lines, so does everything that lines do not contain.
func TestReplace(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "cup")
	copied := with(layout.Encode(c), "x", layout.Text("copied"))
	other := with(with(copied, "x", layout.Text("another")), "y", layout.Text("new here"))
	marked := with(with(copied, layout.AttrImport, layout.Text("7:1:0:")), layout.AttrMark, layout.Text(layout.SameVersionMark))
	tombstone := layout.Tombstone(c.ID, "a mark", c.CreatedAt())
	c.Votes.Helpful += 2
	voted := with(layout.Encode(c), "x", layout.Text("copied"))
	key := layout.Key("KEY#1", "K")
	for name, row := range map[string]struct {
		there, copied, want layout.Item
		lines               bool
		before              func(layout.Item)
		counts              Counts
		keeps               bool // without Replace
	}{
		"nothing was there":           {nil, copied, copied, false, nil, Counts{Written: 1}, false},
		"one that somebody puts":      {nil, copied, copied, false, func(it layout.Item) { it["x"] = layout.Text("another") }, Counts{Replaced: 1}, false},
		"one that is put unanswered":  {nil, copied, copied, false, func(it layout.Item) { maps.Copy(it, copied) }, Counts{Written: 1}, false},
		"the same":                    {copied, copied, copied, false, nil, Counts{Existing: 1}, false},
		"another comment":             {other, copied, copied, false, nil, Counts{Replaced: 1}, false},
		"only a key":                  {key, with(key, "z", layout.Text("copied")), with(key, "z", layout.Text("copied")), false, nil, Counts{Replaced: 1}, false},
		"another item beside":         {with(key, "x", layout.Text("another")), with(key, "z", layout.Text("copied")), with(key, "z", layout.Text("copied")), false, nil, Counts{Replaced: 1}, false},
		"one that somebody edits":     {other, copied, copied, false, func(it layout.Item) { it["x"] = layout.Text("edited") }, Counts{Replaced: 1}, false},
		"one that somebody adds to":   {other, copied, with(copied, "z", layout.Text("added")), false, func(it layout.Item) { it["z"] = layout.Text("added") }, Counts{Replaced: 1}, false},
		"one that somebody deletes":   {other, copied, copied, false, func(it layout.Item) { clear(it) }, Counts{Replaced: 1}, false},
		"a part that goes meanwhile":  {with(copied, "x", nil), copied, copied, false, func(it layout.Item) { clear(it) }, Counts{Replaced: 1}, false},
		"a part that is deleted":      {with(copied, "x", nil), copied, copied, false, func(it layout.Item) { clear(it); maps.Copy(it, tombstone) }, Counts{Replaced: 1}, false},
		"one that somebody restores":  {other, copied, copied, false, func(it layout.Item) { clear(it); maps.Copy(it, copied) }, Counts{Existing: 1}, false},
		"a tombstone":                 {tombstone, copied, copied, false, nil, Counts{Replaced: 1}, false},
		"one that the copy deleted":   {copied, tombstone, tombstone, false, nil, Counts{Replaced: 1}, false},
		"one with votes":              {voted, copied, voted, false, nil, Counts{Existing: 1}, false},
		"one of an import":            {marked, copied, copied, false, nil, Counts{Replaced: 1}, false},
		"one of an import, by a line": {marked, copied, marked, true, nil, Counts{Existing: 1}, false},
		"another that is kept":        {other, copied, other, false, nil, Counts{Existing: 1}, true},
	} {
		x := newTable(t)
		if row.there != nil {
			x.put(row.there)
		}
		x.before = row.before
		loader := NewLoader(x, x.name, 1)
		loader.Replace, loader.Lines = !row.keeps, row.lines
		counts, err := loader.Load(t.Context(), []layout.Item{maps.Clone(row.copied)})
		if err != nil || counts != row.counts {
			t.Errorf("%s: %+v, %v; want %+v", name, counts, err, row.counts)
		}
		if got := x.get(row.copied); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: it is %v, want %v", name, got, row.want)
		}
	}
}

// An item that is replaced is counted as that, also if the answer is lost.
func TestReplaceWithoutAnAnswer(t *testing.T) {
	copied := layout.Encode(commenttest.Random(commenttest.Rand(t), "cup"))
	x := newTable(t, with(copied, "x", layout.Text("another")))
	client, _ := faulttest.Under(x.Client, faulttest.Nth(2, faulttest.AnswerLost)) // after the read
	loader := NewLoader(client, x.name, 1)
	loader.Replace = true
	if counts, err := loader.Load(t.Context(), []layout.Item{copied}); err != nil || counts != (Counts{Replaced: 1}) || !reflect.DeepEqual(x.get(copied), copied) {
		t.Errorf("%+v, %v; it is %v", counts, err, x.get(copied))
	}
}

// Keys that a read leaves unprocessed are read before anything is written.
func TestLookReadsWhatIsLeft(t *testing.T) {
	var items []layout.Item
	for _, c := range commenttest.Many(commenttest.Rand(t), "cup", 12) {
		items = append(items, layout.Encode(c))
	}
	x := newTable(t, items...)
	x.left = len(items) - 1
	if there, err := NewLoader(x, x.name, 1).look(t.Context(), items); err != nil || len(there) != len(items) || x.left > 0 {
		t.Errorf("%d of %d items are there, %v", len(there), len(items), err)
	}
}

// Items that the copy lacks are removed, except derived items, marks of erasures and tombstones.
// With Lines, only comments are removed.
func TestRemoveOthers(t *testing.T) {
	all := commenttest.Many(commenttest.Rand(t), "cup", 3)
	kept, gone, deleted := layout.Encode(all[0]), layout.Encode(all[1]), layout.Tombstone(all[2].ID, "a mark", all[2].CreatedAt())
	vote := layout.VoteItem(all[0].ID, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: all[0].CreatedAt()})
	for _, lines := range []bool{false, true} {
		x := newTable(t, kept, gone, deleted, vote, layout.Key("STREAM", "x"), layout.Key("ERASED", "digest"), layout.Key("Z", "x"))
		loader := NewLoader(x, x.name, 1)
		loader.Replace, loader.Lines = true, lines
		if removed, err := loader.RemoveOthers(t.Context()); err != ErrNoComments || removed != 0 {
			t.Errorf("of an empty copy, it removes %d, %v", removed, err)
		}
		must.Get(loader.Load(t.Context(), []layout.Item{kept}))(t)
		want := x.items()
		before := len(want)
		if !lines {
			delete(want, nameOf(vote))
		}
		removed, err := loader.RemoveOthers(t.Context())
		if most := 1 + before - len(want); err != nil || removed != most {
			t.Errorf("with Lines %v, it removes %d, %v; want %d", lines, removed, err, most)
		}
		now := x.items()
		if !layout.NoComment(now[nameOf(gone)]) || now[nameOf(gone)] == nil {
			t.Errorf("with Lines %v, no tombstone is left of a comment that the copy lacks", lines)
		}
		want[nameOf(gone)] = now[nameOf(gone)]
		if !reflect.DeepEqual(now, want) {
			t.Errorf("with Lines %v, %v are left, want %v", lines, now, want)
		}
	}
}

// A removal that takes effect late, after its caller had given up and repeated it, removes nothing
// that was written since. It is repeated on what another client made of the item meanwhile.
func TestLateRemoval(t *testing.T) {
	all := commenttest.Many(commenttest.Rand(t), "cup", 2)
	kept, gone := layout.Encode(all[0]), layout.Encode(all[1])
	cast := comment.CastVote{By: "u1", Vote: comment.Helpful, At: all[0].CreatedAt()}
	vote := layout.VoteItem(all[0].ID, "0f", cast)
	x := newTable(t, kept, gone, vote)
	late := &lateTable{table: x}
	loader := NewLoader(late, x.name, 1)
	loader.Replace = true
	must.Get(loader.Load(t.Context(), []layout.Item{kept}))(t)
	if removed, err := loader.RemoveOthers(t.Context()); err != nil || removed != 2 || len(late.held) != 2 || x.get(vote) != nil || !layout.NoComment(x.get(gone)) {
		t.Fatalf("it removes %d, %v, and the table has %v", removed, err, x.items())
	}
	all[1].Text, all[1].Version, cast.Vote = "written since", all[1].Version+1, comment.NotHelpful
	for _, since := range []layout.Item{layout.Encode(all[1]), layout.VoteItem(all[0].ID, "0f", cast)} {
		x.put(since)
		late.held[nameOf(since)]()
		if got := x.get(since); !reflect.DeepEqual(got, since) {
			t.Errorf("%s is %v", nameOf(since), got)
		}
	}
}

// lateTable delays the first write of each item that the loader removes, like a network that loses
// the connection. Another client then changes the item.
type lateTable struct {
	*table
	held map[string]func()
}

func (l *lateTable) late(key layout.Item, write func() error) error {
	if l.held[nameOf(key)] != nil {
		return write()
	}
	if l.held == nil {
		l.held = map[string]func(){}
	}
	l.held[nameOf(key)] = func() { _ = write() }
	l.put(with(l.get(key), layout.AttrWriter, nil))
	return &smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer}
}

func (l *lateTable) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (out *dynamodb.PutItemOutput, err error) {
	err = l.late(in.Item, func() error { out, err = l.Client.PutItem(ctx, in); return err })
	return out, err
}

func (l *lateTable) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (out *dynamodb.UpdateItemOutput, err error) {
	err = l.late(in.Key, func() error { out, err = l.Client.UpdateItem(ctx, in); return err })
	return out, err
}

func (l *lateTable) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (out *dynamodb.DeleteItemOutput, err error) {
	err = l.late(in.Key, func() error { out, err = l.Client.DeleteItem(ctx, in); return err })
	return out, err
}

// A copy of a table without comments can be restored, and its imports are found.
func TestCheck(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "cup")
	imported := layout.Key("IMPORTS", "N#a")
	got := Check{}
	for _, it := range []layout.Item{layout.Tombstone(c.ID, "a mark", c.CreatedAt()), imported, layout.Key("KEY#1", "K"), layout.Key("STREAM", "x")} {
		got.Add(it)
	}
	must.Do(t, got.Err("t", 2))
	if want := (Check{Deleted: 1, Beside: 2, Derived: 1, Imports: []layout.Item{imported}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
