package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// pending returns a new comment of a customer that waits for moderation.
func pending(t *testing.T, product string) comment.Comment {
	c := commenttest.Random(commenttest.Rand(t), product)
	c.Version, c.UpdatedAt, c.Author.Imported = 1, nil, false
	c.Status, c.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}, Since: c.CreatedAt()}
	return c
}

// A decision does not overlook reports that arrived after its moderator read the comment. After a
// decision that saw them, the comment has no reports left and no longer waits.
func TestDecisionThatMeetsAReport(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		store, before := decidable(t, endpoint)
		reported := before
		reported.Moderation = &comment.Moderation{Reports: 1, Held: []comment.HoldReason{comment.HeldReported}, Since: before.CreatedAt()}
		must.Do(t, store.Report(t.Context(), before, reported, comment.Report{By: "bo", At: before.CreatedAt(), Reason: "SPAM"}))
		spam, after := comment.Spam, before
		after.Status, after.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
		decision := comment.Decision{CommentID: before.ID, Position: before.ID.Position(), To: after.Status, Version: 1, Reason: &spam}
		if err := store.Decide(t.Context(), before, after, decision); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a decision from before the report: %v", err)
		}
		must.Do(t, store.Decide(t.Context(), reported, after, decision))
		now, err := store.Comment(t.Context(), before.ID)
		if diff := cmp.Diff(after, now); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// A decision that is sent again after later decisions is not applied twice.
func TestDecisionIsMadeOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		store, approved := decidable(t, endpoint)
		spam, rejected := comment.Spam, approved
		rejected.Status, rejected.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
		first := comment.Decision{CommentID: approved.ID, Position: approved.ID.Position(), To: comment.Rejected, Version: 1, Reason: &spam}
		second := comment.Decision{CommentID: approved.ID, Position: comment.FirstAt(approved.CreatedAt()), From: comment.Rejected, Version: 1}
		for _, err := range []error{
			store.Decide(t.Context(), approved, rejected, first), store.Decide(t.Context(), rejected, approved, second),
			store.Decide(t.Context(), approved, rejected, first),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		now, err := store.Comment(t.Context(), approved.ID)
		audit, unread := store.Audit(t.Context(), approved.ID)
		if err != nil || unread != nil || now.Status != comment.Approved || len(audit) != 2 {
			t.Errorf("%v, %v: it is %s after %+v", err, unread, now.Status, audit)
		}
	})
}

// decidable returns a store with an approved comment.
func decidable(t *testing.T, endpoint string) (*Store, comment.Comment) {
	t.Helper()
	client, table := NewTable(t, endpoint)
	store := NewStore(client, table, Options{})
	return store, added(t, store, commenttest.Rand(t))
}

// Pages of the queue equal those of a list in memory, for any filter and size, while states change.
// The comment that waits longest comes first.
func TestQueue(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		r, store := commenttest.Rand(t), NewStore(client, table, Options{})
		var waiting []comment.Comment
		for i := range 40 {
			c := pending(t, []string{"p", "q#r"}[r.IntN(2)])
			c.Moderation.Since = time.UnixMilli(1_700_000_000_000 + int64(r.IntN(20))).UTC()
			c.Moderation.Held = [][]comment.HoldReason{{comment.HeldLink}, {comment.HeldAlways, comment.HeldWord}}[i%2]
			must.Get(store.Add(t.Context(), c, ""))(t)
			if i%6 == 0 { // decided in the meantime
				after := c
				after.Status, after.Moderation = comment.Approved, nil
				must.Do(t, store.Decide(t.Context(), c, after, comment.Decision{CommentID: c.ID, Position: c.ID.Position(), From: c.Status, Version: 1}))
				continue
			}
			waiting = append(waiting, c)
		}
		slices.SortFunc(waiting, func(a, b comment.Comment) int {
			if at := a.Moderation.Since.Compare(b.Moderation.Since); at != 0 {
				return at
			}
			return strings.Compare(string(a.ID), string(b.ID))
		})
		if n, err := store.Pending(t.Context()); n != len(waiting) || err != nil {
			t.Errorf("%d wait, %v; want %d", n, err, len(waiting))
		}
		copied := layout.Encode(waiting[0]) // by hand, under another sort key
		copied["SK"] = layout.Text("E")
		unknown := pending(t, "p") // held for an unknown reason
		unknown.Moderation.Held = []comment.HoldReason{"WHATEVER"}
		for _, it := range []layout.Item{copied, layout.Encode(unknown)} {
			must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
		}
		for i, filter := range []comment.QueueFilter{
			{}, {Reasons: []comment.HoldReason{comment.HeldWord, comment.HeldFirst}}, {ProductID: new("q#r")}, {Languages: []comment.Language{"de", "en"}}, {ProductID: new("none")},
		} {
			var want []comment.ID
			for _, c := range waiting {
				w := comment.Waiting{ID: c.ID, ProductID: c.ProductID, Language: c.Language, Reasons: c.Moderation.Held}
				if allows(filter, w) {
					want = append(want, c.ID)
				}
			}
			for _, first := range []int{[]int{1, 7, 3, 2, 1}[i], []int{len(waiting), 50}[i%2]} {
				var got []comment.ID
				q := comment.QueueQuery{Filter: filter, First: first}
				for more := true; more; {
					page, err := store.Queue(t.Context(), q)
					if err != nil || len(page.Queued) > first {
						t.Fatalf("%d comments, %v", len(page.Queued), err)
					}
					for _, queued := range page.Queued {
						got = append(got, queued.Comment.ID)
					}
					more, q.After = page.HasNext, page.Last
					if filter.IsEmpty() && more != (len(got) < len(want)) {
						t.Errorf("after %d of %d, more follow: %v", len(got), len(want), more)
					}
				}
				check.Equal(t, want, got, filter, first, "at a time")
			}
		}
	})
}

// The years after 2286 have more digits, so their places are at a wrong place in the index. The
// queue lists every comment nevertheless.
func TestQueueOfLateYears(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	store, waiting := NewStore(client, table, Options{}), map[comment.ID]bool{}
	for i := range 6 * layout.QueueShards {
		c := pending(t, "p")
		c.Moderation.Since = time.Date([]int{2024, 2285, 2300, 9999}[i%4], 5, 1, 0, 0, i, 0, time.UTC)
		must.Get(store.Add(t.Context(), c, ""))(t)
		waiting[c.ID] = true
	}
	for q := (comment.QueueQuery{First: 5}); len(waiting) > 0; {
		page, err := store.Queue(t.Context(), q)
		if err != nil || !page.HasNext && len(page.Queued) < len(waiting) {
			t.Fatalf("%d comments are missing, %v", len(waiting)-len(page.Queued), err)
		}
		for _, queued := range page.Queued {
			if !waiting[queued.Comment.ID] {
				t.Errorf("%s is listed twice", queued.Comment.ID)
			}
			delete(waiting, queued.Comment.ID)
		}
		q.After = page.Last
	}
}

// moving is a table whose index of the queue has each comment at its place and at one that it had,
// or will have.
type moving struct{ *dynamodb.Client }

// Query implements [call.Querier].
func (m moving) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := m.Client.Query(ctx, in, options...)
	if err == nil && aws.ToString(in.IndexName) == string(layout.Boards) {
		for i := len(out.Items); i > 0; i-- {
			other := maps.Clone(out.Items[i-1])
			other[layout.AttrPlace] = layout.Text(strings.Replace(layout.NewReader(other).Text(layout.AttrPlace), "#LINK#", "#LINK,REPORTED#", 1))
			out.Items = slices.Insert(out.Items, i, other)
		}
	}
	return out, err
}

// A comment that the index has at two places, since it is being moved, is listed once.
func TestQueueWhileCommentsMove(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	store := NewStore(moving{client}, table, Options{})
	for range 9 {
		c := pending(t, "p") // held for a link
		must.Get(store.Add(t.Context(), c, ""))(t)
	}
	page, err := store.Queue(t.Context(), comment.QueueQuery{First: 20})
	if err != nil || len(page.Queued) != 9 || page.HasNext {
		t.Errorf("%d comments, want 9; more follow: %v; %v", len(page.Queued), page.HasNext, err)
	}
}

// A report applies to the version that was read. If the comment was edited, decided about or
// reported meanwhile, the report is a conflict and writes nothing.
func TestReportOfAChangedComment(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		store, at := NewStore(client, table, Options{}), time.UnixMilli(1_700_000_000_000).UTC()
		before := added(t, store, commenttest.Rand(t))
		waiting := before
		waiting.Moderation = &comment.Moderation{Reports: 1, Held: []comment.HoldReason{comment.HeldReported}, Since: at}
		must.Do(t, store.Report(t.Context(), before, waiting, comment.Report{By: "a", At: at, Reason: "SPAM"}))
		again := before
		again.Moderation = &comment.Moderation{Reports: 1}
		if err := store.Report(t.Context(), before, again, comment.Report{By: "b", At: at, Reason: "SPAM"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a report that counts from another number: %v", err)
		}
		edited := waiting
		edited.Version, edited.UpdatedAt, edited.Text = 2, &at, "edited"
		must.Do(t, store.Replace(t.Context(), waiting, edited))
		if err := store.Report(t.Context(), waiting, reportedTwice(waiting), comment.Report{By: "b", At: at, Reason: "SPAM"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a report of an older version: %v", err)
		}
		must.Do(t, store.Delete(t.Context(), edited))
		if err := store.Report(t.Context(), edited, reportedTwice(edited), comment.Report{By: "b", At: at, Reason: "SPAM"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a report of a deleted comment: %v", err)
		}
		if now, err := store.Comment(t.Context(), before.ID); comment.KindOf(err) != comment.NotFound {
			t.Errorf("a report revives a deleted comment: %v, %v", now, err)
		}
	})
}

// reportedTwice returns a comment after its second report.
func reportedTwice(c comment.Comment) comment.Comment {
	now := *c.Moderation
	now.Reports = 2
	c.Moderation = &now
	return c
}

// Comments, decisions and reports that were damaged by hand, so that no answer can hold them, are
// reported and left out. Moderators see the others.
func TestDamagedRecords(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	damaged := 0
	store := NewStore(client, table, Options{Improper: func(layout.Improper) { damaged++ }})
	c, spam, never := pending(t, "p"), comment.Spam, comment.FirstAt(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
	d := comment.Decision{CommentID: c.ID, Position: c.ID.Position(), From: comment.Pending, To: comment.Rejected, Version: 1, Reason: &spam}
	r := comment.Report{By: "b", At: c.CreatedAt(), Reason: "SPAM"}
	items := []layout.Item{store.decisionItem(d), layout.ReportItem(c.ID, "0", r)}
	for i, spoil := range []func(*comment.Decision){
		func(d *comment.Decision) { d.Position = never }, func(d *comment.Decision) { d.Version = comment.MaxVersion + 1 },
		func(d *comment.Decision) { d.Reason = new(comment.RejectionReason("WHATEVER")) },
	} {
		bad := d
		bad.Position = comment.PositionAt(d.At(), [10]byte{byte(i)})
		spoil(&bad)
		items = append(items, store.decisionItem(bad))
	}
	for i, bad := range []comment.Report{{By: "b", At: never.Time(), Reason: "SPAM"}, {By: "b", At: r.At, Reason: "WHATEVER"}} {
		items = append(items, layout.ReportItem(c.ID, fmt.Sprint(i+1), bad))
	}
	for _, it := range items {
		must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
	}
	audit, err := store.Audit(t.Context(), c.ID)
	if err != nil || len(audit) != 1 {
		t.Errorf("%d decisions: %v", len(audit), err)
	}
	reports, err := store.Reports(t.Context(), c.ID)
	if err != nil || len(reports) != 1 {
		t.Errorf("%d reports: %v", len(reports), err)
	}
	broken := layout.Encode(c)
	broken[layout.AttrRating] = layout.Text("five")
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: broken}))(t)
	if _, err := store.stillWaiting(t.Context(), []queuePlace{{Waiting: comment.Waiting{ID: c.ID}}}); err != nil {
		t.Errorf("a queue with a damaged comment: %v", err)
	}
	if want := len(items) - 2 + 1; damaged != want {
		t.Errorf("%d items are named, want %d", damaged, want)
	}
}

// A comment is deleted as it was read: not if its state has changed since, or the edit that waits
// beside it.
func TestDeleteOfAChangedComment(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		store, before := decidable(t, endpoint)
		held := func(version int) comment.Comment {
			c := before
			edit := comment.HeldEdit{Rating: 1, Language: "en", Text: "edited", At: c.CreatedAt(), Version: version}
			c.Moderation = &comment.Moderation{Held: []comment.HoldReason{comment.HeldEdited}, Since: c.CreatedAt(), HeldEdit: &edit}
			return c
		}
		must.Do(t, store.Replace(t.Context(), before, held(2)))
		must.Do(t, store.Replace(t.Context(), held(2), held(3)))
		for _, read := range []comment.Comment{before, held(2)} {
			if err := store.Delete(t.Context(), read); comment.KindOf(err) != comment.Conflict {
				t.Errorf("%v, want a conflict: %+v", err, read.Moderation)
			}
		}
		must.Do(t, store.Delete(t.Context(), held(3)))
	})
}
