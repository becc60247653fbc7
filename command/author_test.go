package command_test

import (
	"encoding/hex"
	"encoding/json"
	"path/filepath"
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
	"github.com/talkback/talkback/internal/reviewfile"
)

// authored is a table in which customer 42 has comments of several kinds. An imported author has
// the same id, and others wrote too.
type authored struct {
	*exporter
	store                            *dynamo.Store
	held, rejected, imported, others comment.Comment
}

func newAuthored(t *testing.T) *authored {
	t.Helper()
	endpoint := dynamotest.Dynoxide(t)
	a := &authored{exporter: newExporter(t, endpoint)}
	client := call.NewLocalClient(endpoint)
	a.store = dynamo.NewStore(client, a.table, dynamo.Options{KeepAudit: time.Hour})
	r := commenttest.Rand(t)
	written := func(author comment.Author, key string) comment.Comment {
		c := commenttest.Random(r, "p")
		c.Author, c.Version, c.UpdatedAt, c.Status, c.Moderation = author, 1, nil, comment.Approved, nil
		must.Get(a.store.Add(t.Context(), c, key))(t)
		return c
	}
	ada, bo := comment.Author{ID: "42", Name: "Ada"}, comment.Author{ID: "7", Name: "Bo"}
	a.held, a.rejected, a.others = written(ada, "a key"), written(ada, ""), written(bo, "")
	a.imported = written(comment.Author{ID: "42", Name: "Ida", Imported: true}, "")

	at := time.Now().UTC().Truncate(time.Millisecond)
	edited := a.held
	edited.Moderation = &comment.Moderation{
		HeldEdit: &comment.HeldEdit{Rating: 1, Language: "en", Text: "The edit that waits.", At: at, Version: 2},
		Held:     []comment.HoldReason{comment.HeldAlways, comment.HeldEdited}, Since: at,
	}
	must.Do(t, a.store.Replace(t.Context(), a.held, edited))
	spam, moderator := comment.Spam, "the moderator"
	refused := a.rejected
	refused.Status, refused.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
	err := a.store.Decide(t.Context(), a.rejected, refused, comment.Decision{
		CommentID: a.rejected.ID, Position: comment.FirstAt(at), By: &moderator, From: comment.Approved, To: comment.Rejected, Version: 1, Reason: &spam, Note: "a note about Ada",
	})
	must.Do(t, err)
	a.held, a.rejected = edited, refused
	reported := a.others
	reported.Moderation = &comment.Moderation{Reports: 1}
	must.Do(t, a.store.Report(t.Context(), a.others, reported, comment.Report{By: "42", At: at, Reason: "SPAM", Note: "a note by Ada"}))
	a.others = reported
	vote := comment.CastVote{By: "42", Vote: comment.NotHelpful, At: at}
	must.Do(t, a.store.SetVote(t.Context(), a.others.ID, comment.CastVote{}, vote))
	return a
}

// author runs talkback author and returns what it prints.
func (a *authored) author(status int, words ...string) (out, said string) {
	a.t.Helper()
	got, out, said := talkback(a.t.Context(), append(a.arguments("author"), words...)...)
	if got != status {
		a.t.Fatalf("talkback author %v: status %d\n%s", words, got, said)
	}
	return out, said
}

// The export of a customer has all that the table holds about the customer and nothing about
// others. It names neither moderators nor the imported author with the same id. Its comments can be
// imported.
func TestAuthorExport(t *testing.T) {
	t.Parallel()
	a := newAuthored(t)
	out, said := a.author(0, "export", "42")
	for _, foreign := range []string{"the moderator", a.imported.Author.Name, string(a.imported.ID), `"author":"7"`} {
		if strings.Contains(out, foreign) {
			t.Errorf("the export has %q", foreign)
		}
	}
	if want := "2 comments, 1 decision about them, 1 key, and 1 report of other comments and 1 vote about them written"; !strings.Contains(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	lines := map[string][]string{}
	for line := range strings.Lines(out) {
		var kind struct{ About, ID string }
		must.Do(t, json.Unmarshal([]byte(line), &kind))
		lines[kind.About] = append(lines[kind.About], line)
	}
	for _, row := range []struct{ kind, has, id string }{
		{"report", "a note by Ada", string(a.others.ID)},
		{"decision", `"reason":"SPAM","note":"a note about Ada"`, string(a.rejected.ID)},
		{"key", "", string(a.held.ID)},
		{"vote", `"vote":"NOT_HELPFUL"`, string(a.others.ID)},
	} {
		if got := lines[row.kind]; len(got) != 1 || !strings.Contains(got[0], row.has) || !strings.Contains(got[0], row.id) {
			t.Errorf("%s: %v", row.kind, got)
		}
	}
	want := []string{lineOf(t, a.held, reviewfile.AppendPartial), lineOf(t, a.rejected, reviewfile.AppendPartial)}
	slices.Sort(want)
	check.Equal(t, want, slices.Sorted(slices.Values(lines[""])))
}

// No index lists imported authors: their export reads the whole table, and only if a flag asks for
// it.
func TestAuthorExportOfImported(t *testing.T) {
	t.Parallel()
	a := newAuthored(t)
	if _, said := a.author(2, "export", "42", "--imported"); !strings.Contains(said, "run it again with --scan") {
		t.Errorf("without --scan it says %q", said)
	}
	out, _ := a.author(0, "export", "42", "--imported", "--scan")
	if want := lineOf(t, a.imported, reviewfile.AppendPartial); out != want {
		t.Errorf("got %s want %s", out, want)
	}
	if out, _ := a.author(0, "export", "nobody"); out != "" {
		t.Errorf("the export of nobody has %s", out)
	}
}

// An erased customer is gone from the table. The imported author with the same id stays until
// --imported erases it, and no file exported earlier brings either back.
func TestAuthorErase(t *testing.T) {
	t.Parallel()
	a := newAuthored(t)
	file := filepath.Join(t.TempDir(), "all.jsonl")
	a.must("export", file, "--all")
	digest := hex.EncodeToString(layout.HashOf("erased", false, "42"))
	for _, left := range []layout.Item{layout.Key("ERASED", digest), layout.Key("ERASING", digest)} { // by an earlier one, killed at its last call
		left["rq"], left["un"] = layout.Number(1), layout.Number(2)
		must.Get(call.NewLocalClient(a.endpoint).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &a.table, Item: left}))(t)
	}
	scanned := make(chan string, 1)
	go func() { // each erasure waits for half a minute before it looks for what is left, this one before its scan
		_, out, said := talkback(t.Context(), a.arguments("author", "erase", "42", "--imported", "--scan")...)
		scanned <- out + said
	}()
	want := "2 comments erased, with 1 held edit, 0 replies, 1 decision about them, 0 reports of them and 1 key; and 1 report of other comments and 1 vote about them"
	out, notes := a.author(0, "erase", "42")
	if !strings.Contains(strings.ReplaceAll(out, "\n", " "), want) {
		t.Errorf("it says %q, want %q", out, want)
	}
	if !strings.HasPrefix(notes, "An erasure takes half a minute or more") {
		t.Errorf("before it waits, it says %q", notes)
	}
	if out, _ := a.author(0, "export", "42"); out != "" {
		t.Errorf("left: %s", out)
	}
	if said := <-scanned; !strings.Contains(said, "1 comment erased") {
		t.Errorf("of the imported author it says %q", said)
	}
	if said := a.says("import", file, "--restore", "--revive", "--no-count"); !strings.Contains(said, "3 of erased authors") || !strings.Contains(said, "status 0") {
		t.Errorf("the import says %q", said)
	}
	for _, kind := range []string{"", "--imported --scan"} {
		if out, _ := a.author(0, append([]string{"export", "42"}, strings.Fields(kind)...)...); out != "" {
			t.Errorf("back: %s", out)
		}
	}
}
