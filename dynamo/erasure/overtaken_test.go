package erasure_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
)

// overtaken is the client of an erasure. Just before a write of one kind, another process writes.
type overtaken struct {
	*dynamodb.Client
	beforeTombstone func()
	beforeKey       func(key layout.Item) // before the deletion of an idempotency key
}

func (o *overtaken) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if in.Item[layout.AttrDeleted] != nil && o.beforeTombstone != nil {
		o.beforeTombstone()
	}
	return o.Client.PutItem(ctx, in, options...)
}

func (o *overtaken) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if layout.NewReader(in.Key).Text(layout.AttrSK) == "K" && o.beforeKey != nil {
		o.beforeKey(in.Key)
	}
	return o.Client.DeleteItem(ctx, in, options...)
}

// erase erases ada while another process writes.
func (o *overtaken) erase(x *table) comment.Erasure {
	x.t.Helper()
	return must.Get(erasure.Hasten(erasure.New(o, x.name, "a test", "a run")).Run(x.t.Context(), ada, none))(x.t)
}

func (x *table) put(it layout.Item) {
	x.t.Helper()
	must.Get(x.client.PutItem(x.t.Context(), &dynamodb.PutItemInput{TableName: &x.name, Item: it}))(x.t)
}

// A restore replaces a comment with one of another author after the erasure has read it. That
// comment stays, and so does the report of it.
func TestCommentOfAnotherAuthorByNow(t *testing.T) {
	x := newTable(t)
	c := x.add(ada, "")
	x.report(c, "bo", "A report")
	replaced := 0
	(&overtaken{Client: x.client, beforeTombstone: func() {
		c.Author = comment.Author{ID: "cy", Name: "Cy"}
		x.put(layout.Encode(c))
		replaced++
	}}).erase(x)
	if diff := cmp.Diff(map[string]int{"C/C": 1, "C/F": 1, "ERASED/": 1}, x.kinds()); replaced != 1 || diff != "" {
		t.Errorf("after %d replacements: %s", replaced, diff)
	}
}

// The idempotency key of an erased comment is used for another comment after the erasure has read
// it. It stays, and the report does not count it.
func TestKeyOfAnotherCommentByNow(t *testing.T) {
	x := newTable(t)
	x.add(ada, "a key")
	replaced := 0
	done := (&overtaken{Client: x.client, beforeKey: func(key layout.Item) {
		key = maps.Clone(key)
		key[layout.AttrFirst] = layout.Text(string(x.comment(ada).ID))
		x.put(key)
		replaced++
	}}).erase(x)
	want := map[string]int{"C/tombstone": 1, "KEY/K": 1, "ERASED/": 1}
	if diff := cmp.Diff(want, x.kinds()); replaced != 1 || done.Keys != 0 || done.Comments != 1 || diff != "" {
		t.Errorf("after %d replacements, %+v: %s", replaced, done, diff)
	}
}

// Just before an erasure says that it has ended, its mark is another one: of an earlier erasure, by
// a process that puts marks whatever is there, or none. The end is put in its place. If another
// process has ended this erasure by then, that end stays.
func TestMarkIsAnotherByNow(t *testing.T) {
	long := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	for why, becomes := range map[string]func(mark layout.Item) layout.Item{
		"of an earlier one":            func(it layout.Item) layout.Item { it["rq"] = layout.Time(long); return it },
		"of the end of an earlier one": func(it layout.Item) layout.Item { it["rq"], it["un"] = layout.Time(long), layout.Time(long); return it },
		"of one that nobody asked for": func(it layout.Item) layout.Item { delete(it, "rq"); return it },
		"gone":                         func(layout.Item) layout.Item { return nil },
		"of the end of this one":       func(it layout.Item) layout.Item { it["un"] = layout.Time(long); return it },
	} {
		x, began := newTable(t), time.Now().Truncate(time.Millisecond)
		x.add(ada, "")
		done := must.Get(x.eraser(x.client).Run(t.Context(), ada, func(comment.Erasure) {
			for _, it := range x.items() {
				if key := layout.KeyOf(it); layout.NewReader(it).Text(layout.AttrPK) != "ERASED" {
					continue
				} else if it = becomes(it); it != nil {
					x.put(it)
				} else {
					must.Get(x.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &x.name, Key: key}))(t)
				}
			}
		}))(t)
		now, found, err := x.eraser(x.client).Status(t.Context(), ada)
		if other := done.FinishedAt.Equal(long); err != nil || !found || other != (why == "of the end of this one") || !other && done.FinishedAt.Before(began) {
			t.Errorf("%s: %+v, %v", why, done, err)
		}
		check.Equal(t, done, now, why)
		if kinds := x.kinds(); kinds["C/tombstone"] != 1 || kinds["ERASING/"] != 0 {
			t.Errorf("%s: %v", why, kinds)
		}
	}
}

// A process saved that the erasure has ended, and was killed before the mark said so. The next one
// goes on, and imports leave out what the author writes until its end.
func TestEndWithoutItsMark(t *testing.T) {
	x, long := newTable(t), time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	x.add(ada, "")
	must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
	for _, it := range x.items() {
		if layout.NewReader(it).Text(layout.AttrPK) == "ERASING" {
			it["un"] = layout.Time(long)
			x.put(it)
		}
	}
	done := must.Get(x.eraser(x.client).Run(t.Context(), ada, func(comment.Erasure) {
		for _, it := range x.items() {
			if layout.NewReader(it).Text(layout.AttrPK) == "ERASED" && it["un"] != nil {
				t.Errorf("the mark says that it has ended: %v", it)
			}
		}
	}))(t)
	if done.Comments != 1 || done.FinishedAt.Equal(long) {
		t.Errorf("%+v", done)
	}
}

// An erasure is asked for when another one has ended, and its process was killed before it deleted
// the item: what the author wrote since is erased. While the other one is under way, it is the
// same.
func TestStartBesideAnother(t *testing.T) {
	for _, hasEnded := range []bool{true, false} {
		x := newTable(t)
		must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
		job := slices.DeleteFunc(x.items(), func(it layout.Item) bool { return it["rq"] == nil })
		earlier := must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t)
		if !hasEnded {
			job[0]["rq"] = layout.Time(time.Now().Add(time.Minute))
		}
		x.put(job[0])
		x.add(ada, "")
		asked := must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
		if under := asked.RequestedAt.After(time.Now()); asked.FinishedAt != nil || asked.RequestedAt.Equal(earlier.RequestedAt) || under == hasEnded {
			t.Errorf("ended is %v: %+v after %+v", hasEnded, asked, earlier)
		}
		if done := must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t); done.Comments != 1 || !done.RequestedAt.Equal(asked.RequestedAt) {
			t.Errorf("ended is %v: %+v", hasEnded, done)
		}
	}
}

// The last erasure was requested and ended by a server whose clock is ahead. The next ones are not
// taken for it, nor for earlier ones, which have ended with it: neither a request nor a command,
// also beside the item that the last one left.
func TestErasureAfterAClockThatIsAhead(t *testing.T) {
	x, ahead := newTable(t), time.Now().Add(time.Hour)
	must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
	job := x.items()[0]
	must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t)
	mark := x.items()[0]
	mark["rq"], mark["un"] = layout.Time(ahead), layout.Time(ahead)
	for why, before := range map[string]func(){
		"a command": func() {},
		"a request": func() { must.Get(x.eraser(x.client).Start(t.Context(), ada))(t) },
		"a command beside what the last one left": func() { x.put(job) },
	} {
		x.put(mark)
		x.add(ada, "")
		before()
		if done := must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t); done.Comments != 1 || !done.RequestedAt.After(ahead) {
			t.Errorf("%s: %+v", why, done)
		}
	}
}

// A restore of a copy that was made during an erasure brings back what was beside a comment, and
// the item that names the comment. That is deleted, though the erasure has ended since.
func TestRestoredErasureThatHasEnded(t *testing.T) {
	x := newTable(t)
	c := x.add(ada, "")
	must.Get(x.eraser(x.client).Start(t.Context(), ada))(t)
	job := slices.DeleteFunc(x.items(), func(it layout.Item) bool { return it["rq"] == nil })[0]
	must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(t)
	job["ids"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{layout.Text(string(c.ID))}}
	x.put(job)
	x.put(layout.ReportItem(c.ID, "0f", comment.Report{By: "bo", Reason: "SPAM", At: time.Now()}))
	x.add(ada, "") // which stays
	x.serve(x.eraser(x.client), ada, func(comment.ErasureState, string) bool { return x.kinds()["ERASING/"] == 0 })
	if diff := cmp.Diff(map[string]int{"C/C": 1, "C/tombstone": 1, "ERASED/": 1}, x.kinds()); diff != "" {
		t.Error(diff)
	}
}

// Passes go on until one finds nothing, but an author who keeps voting does not keep an erasure
// from ending.
func TestPasses(t *testing.T) {
	for votes, want := range map[int]int{0: 2, 3: 4, 100: 5} {
		x, queries := newTable(t), 0
		client := faulttest.Before(x.client, "Query", func() {
			if queries++; queries%2 == 1 && queries <= 2*votes { // a pass asks for comments, then for the rest
				x.put(layout.VoteItem(x.comment(ada).ID, "0f", comment.CastVote{By: ada.ID, Vote: comment.Helpful, At: time.Now().UTC()}))
			}
		})
		done := must.Get(x.eraser(client).Run(t.Context(), ada, none))(x.t)
		if queries != 2*want || done.Votes != min(votes, want) {
			t.Errorf("of %d votes, %d are erased by %d queries, want two in each of %d passes", votes, done.Votes, queries, want)
		}
	}
}

// A copy of the table replaces a mark unless the erasure ended later than that in the copy, or is
// under way. It replaces no job, and no end of the same erasure.
func TestWhatOutlastsACopy(t *testing.T) {
	mark := func(ended int64) layout.Item {
		it := layout.Item{"PK": layout.Text("ERASED"), "SK": layout.Text("digest"), "rq": layout.Number(2)}
		if ended > 0 {
			it["un"] = layout.Number(ended)
		}
		return it
	}
	earlier, later := mark(0), mark(0)
	earlier["rq"], later["rq"] = layout.Number(1), layout.Number(6)
	keys := layout.Item{"PK": layout.Text("ERASED"), "SK": layout.Text("digest")}
	job, other := layout.Key("ERASING", "digest"), layout.Key("P#p", "S")
	for _, row := range []struct {
		why           string
		there, copied layout.Item
		want          bool
	}{
		{"not in the copy", mark(5), nil, true},
		{"an earlier end in the copy", mark(5), mark(4), true},
		{"the same end", mark(5), mark(5), false},
		{"a later end in the copy", mark(5), mark(6), false},
		{"a later one is under way in the copy, which has its job too", mark(5), later, false},
		{"the same one is under way in the copy", mark(5), mark(0), true},
		{"an earlier one is under way in the copy", mark(5), earlier, true},
		{"under way again", mark(0), mark(4), true},
		{"only the key is known", keys, mark(4), false},
		{"a job that is not in the copy", job, nil, true},
		{"a job that is", job, job, true},
		{"an item of a product", other, nil, false},
	} {
		if got := erasure.Outlasts(row.there, row.copied); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}
