package importer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/importer"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// table is a table into which files were imported.
type table struct {
	*testing.T
	client *dynamodb.Client
	name   string
	store  *dynamo.Store
}

func newTable(t *testing.T) table {
	t.Helper()
	client, name := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	return table{t, client, name, dynamo.NewStore(client, name, dynamo.Options{})}
}

// load imports comments under a name.
func (x table) load(name string, comments []comment.Comment) dynamo.LoadCounts {
	x.Helper()
	registry := importer.NewRegistry(x.client, x.name)
	begun := must.Get(registry.Begin(x.Context(), name))(x)
	loader := dynamo.NewLoader(x.client, x.name, 0)
	loader.Import = begun.Number
	counts := must.Get(loader.Load(x.Context(), comments))(x)
	must.Do(x, registry.End(x.Context(), begun, counts.Written, counts.Updated))
	return counts
}

func (x table) ids() (ids []comment.ID) {
	x.Helper()
	scanner := dynamo.NewScanner(x.client, x.name, 1)
	scanner.Everything = true
	for c, err := range scanner.All(x.Context()) {
		must.Do(x, err)
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

func idsOf(comments ...[]comment.Comment) (ids []comment.ID) {
	for _, c := range slices.Concat(comments...) {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// changes are changes of a comment after its import. An undo leaves the comment alone if it stays.
var changes = []struct {
	why   string
	stays bool
	do    func(context.Context, *dynamo.Store, comment.Comment) error
}{
	{"an edit is not the import's", true, func(ctx context.Context, s *dynamo.Store, c comment.Comment) error {
		after := c
		after.Text, after.Version = "Better than I thought.", 2
		return s.Replace(ctx, c, after)
	}},
	{"nor is one that keeps the version", true, func(ctx context.Context, s *dynamo.Store, c comment.Comment) error {
		after := c
		after.Verified = !c.Verified
		return s.Replace(ctx, c, after)
	}},
	{"nor is a reply", true, func(ctx context.Context, s *dynamo.Store, c comment.Comment) error {
		return s.SetReply(ctx, c, &comment.Reply{Text: "Thank you.", Name: "Shop", CreatedAt: c.CreatedAt(), Version: 1})
	}},
	{"a vote is about the comment, and no part of it", false, func(ctx context.Context, s *dynamo.Store, c comment.Comment) error {
		return s.SetVote(ctx, c.ID, comment.CastVote{}, comment.CastVote{By: "ben", Vote: comment.Helpful, At: time.Now()})
	}},
}

// plain returns comments of a product as a file of reviews has them, newest first.
func plain(t *testing.T, product string, count int) []comment.Comment {
	comments := commenttest.Many(commenttest.Rand(t), product, count)
	for i := range comments {
		c := &comments[i]
		c.Author.Imported, c.Version, c.UpdatedAt, c.Reply, c.ReplyDeletion = true, 1, nil, nil, 0
	}
	return comments
}

func TestUndo(t *testing.T) {
	x := newTable(t)
	first, second := plain(t, "cup", 20), plain(t, "pot", 20)
	x.load("first.csv", first)
	x.load("second.csv", second)
	var changed []comment.Comment
	for i, change := range changes {
		must.Do(x, change.do(t.Context(), x.store, second[i]))
		if change.stays {
			changed = append(changed, second[i])
		}
	}
	must.Do(x, x.store.Delete(t.Context(), second[19]))

	registry := importer.NewRegistry(x.client, x.name)
	for range 2 { // the second finds nothing more to do, and reports the same
		done := must.Get(registry.Undo(t.Context(), "second.csv", func(importer.Undone) {}))(x)
		if want := (importer.Undone{Removed: 19 - len(changed), Changed: len(changed)}); done != want {
			t.Errorf("undone are %+v, want %+v", done, want)
		}
		check.Equal(t, idsOf(first, changed), x.ids(), "left are")
	}
	// Comments that were undone can be imported again. Comments that a customer deleted cannot.
	if counts, want := x.load("again.csv", second), (dynamo.LoadCounts{Written: 19 - len(changed), Existing: len(changed), Deleted: 1}); counts != want {
		t.Errorf("imported again are %+v, want %+v", counts, want)
	}
	// An import that was undone and runs again has written what it writes now.
	x.load("pots.csv", plain(t, "kettle", 3))
	must.Get(registry.Undo(t.Context(), "pots.csv", func(importer.Undone) {}))(x)
	x.load("pots.csv", plain(t, "kettle", 2))
	if again := must.Get(registry.Find(t.Context(), "pots.csv"))(x); again.Written != 2 {
		t.Errorf("the list has %d comments of an import of 2", again.Written)
	}
	if _, err := registry.Undo(t.Context(), "third.csv", nil); comment.KindOf(err) != comment.NotFound {
		t.Errorf("an import that never was: %v", err)
	}
	all, _, err := registry.List(t.Context())
	must.Do(x, err)
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
		if m.Ended.Before(m.Begun) || m.Undone.IsZero() != (m.Name != "second.csv") {
			t.Errorf("%+v", m)
		}
	}
	check.Equal(t, []string{"again.csv", "first.csv", "pots.csv", "second.csv"}, names)
}

// An undo that fails at any call continues where it stopped, and its counts end up exact. A call
// that arrives only when the import has run again removes nothing.
func TestUndoThroughFaults(t *testing.T) {
	for _, fault := range []faulttest.Fault{faulttest.Refused, faulttest.AnswerLost, faulttest.Late} {
		for n, ended := 3, false; !ended; n += 6 { // 3 is the first tombstone, 33 the end
			x := newTable(t)
			comments := plain(t, "cup", 30)
			x.load("cups.csv", comments)
			ctx, kill := context.WithCancel(t.Context())
			client, network := faulttest.Under(x.client, func(call int) faulttest.Fault {
				if call < n {
					return faulttest.None
				}
				kill()
				return fault
			})
			_, err := importer.NewRegistry(client, x.name).Undo(ctx, "cups.csv", func(importer.Undone) {})
			kill()
			ended = err == nil
			done := must.Get(importer.NewRegistry(x.client, x.name).Undo(t.Context(), "cups.csv", func(importer.Undone) {}))(x)
			if want := (importer.Undone{Removed: 30}); done != want || len(x.ids()) > 0 {
				t.Fatalf("killed at call %d (%s): undone are %+v of 30, %d are left", n, fault, done, len(x.ids()))
			}
			x.load("cups.csv", comments)
			must.Do(x, network.Flush())
			check.Equal(t, idsOf(comments), x.ids(), "imported again are")
			again := must.Get(importer.NewRegistry(x.client, x.name).Find(t.Context(), "cups.csv"))(x)
			if !again.Undone.IsZero() || again.Written != 30 {
				t.Errorf("killed at call %d (%s): imported again, it is listed as %+v", n, fault, again)
			}
		}
	}
}

// Two processes that begin imports of one name at the same time share a number, which no other
// import has.
func TestBegin(t *testing.T) {
	x := newTable(t)
	registry := importer.NewRegistry(x.client, x.name)
	numbers := make([]int64, 8)
	must.Do(x, call.Parallel(t.Context(), len(numbers), func(ctx context.Context, i int) error {
		m, err := registry.Begin(ctx, []string{"a.csv", "b.csv"}[i%2])
		numbers[i] = m.Number
		return err
	}))
	for i, number := range numbers {
		if number == 0 || number != numbers[i%2] || number == numbers[1-i%2] {
			t.Fatalf("the numbers of two imports are %v", numbers)
		}
	}
}

// updating keeps all updates that are made by it.
type updating struct {
	*dynamodb.Client
	again []func(context.Context)
}

func (u *updating) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	u.again = append(u.again, func(ctx context.Context) { _, _ = u.Client.UpdateItem(ctx, in, call.NoRetries) })
	return u.Client.UpdateItem(ctx, in, options...)
}

// What an import notes takes effect once more when it has ended, when it has begun again, and when
// that run was taken back. The list stays as it is.
func TestNotesThatArriveLate(t *testing.T) {
	x := newTable(t)
	client := &updating{Client: x.client}
	registry := importer.NewRegistry(client, x.name)
	same := func(when string) {
		want := must.Get(registry.Find(t.Context(), "cups.csv"))(t)
		for i, again := range client.again {
			again(t.Context())
			if now := must.Get(registry.Find(t.Context(), "cups.csv"))(t); now != want {
				t.Errorf("%s, note %d makes it %+v, want %+v", when, i+1, now, want)
			}
		}
	}
	for run := range 2 {
		begun := must.Get(registry.Begin(t.Context(), "cups.csv"))(t)
		if want := 7 * run; begun.Written != want || begun.Number == 0 {
			t.Errorf("run %d begins as %+v, want %d", run, begun, want)
		}
		same("begun")
		for written := range 3 {
			must.Do(t, registry.Note(t.Context(), begun, written, 0))
		}
		must.Do(t, registry.End(t.Context(), begun, 7, 0))
		same("ended")
	}
	must.Get(registry.Undo(t.Context(), "cups.csv", func(importer.Undone) {}))(t)
	begun := must.Get(registry.Begin(t.Context(), "cups.csv"))(t)
	must.Do(t, registry.End(t.Context(), begun, 1, 0))
	if same("taken back and run again"); begun.Written != 0 {
		t.Errorf("taken back, it begins as %+v", begun)
	}
	lossy, _ := faulttest.Under(x.client, faulttest.Nth(2, faulttest.AnswerLost)) // after the import was read
	if m := must.Get(importer.NewRegistry(lossy, x.name).Begin(t.Context(), "cups.csv"))(t); m.Number != begun.Number || !m.Ended.IsZero() {
		t.Errorf("if the answer is lost, it begins as %+v", m)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"reviews.csv": true, "Avis 2026 é": true, "": false, "a\nb": false, "\xff": false, "a\u202eb": false,
		string(make([]byte, importer.MaxName+1)): false,
	} {
		if err := importer.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Imports from a copy are never confused with others. A copy is refused if the table has another
// import with one of its numbers. Later imports get higher numbers, even before the restore has
// ended.
func TestImportsOfACopy(t *testing.T) {
	r := commenttest.Rand(t)
	from := newTable(t)
	from.load("first", commenttest.Many(r, "cup", 1))
	from.load("second", commenttest.Many(r, "cup", 1))
	var copied []layout.Item
	for _, it := range dynamotest.Scan(t, from.client, from.name) {
		if layout.NewReader(it).Text(layout.AttrPK) == "IMPORTS" {
			copied = append(copied, it)
		}
	}
	for _, row := range []struct {
		before []string
		fits   bool
	}{{nil, true}, {[]string{"first"}, true}, {[]string{"first", "second", "third"}, true}, {[]string{"other"}, false}, {[]string{"second"}, false}, {[]string{"first", "other"}, false}} {
		to := newTable(t)
		for _, name := range row.before {
			to.load(name, commenttest.Many(r, "cup", 1))
		}
		registry := importer.NewRegistry(to.client, to.name)
		for range 2 { // an interrupted restore runs again
			if err := registry.MakeRoom(t.Context(), copied); (err == nil) != row.fits || err != nil && !strings.Contains(err.Error(), "--replace") {
				t.Errorf("beside %v: %v", row.before, err)
			}
		}
		begun := must.Get(registry.Begin(t.Context(), "later"))(to)
		if want := int64(max(3, len(row.before)+1)); row.fits && begun.Number != want {
			t.Errorf("beside %v, the next import has the number %d, want %d", row.before, begun.Number, want)
		}
	}
}
