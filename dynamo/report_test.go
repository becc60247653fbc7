package dynamo

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// customer is a caller with a signed token.
type customer string

func (c customer) Identify(context.Context) (comment.Viewer, error) {
	id := string(c)
	return comment.Viewer{CustomerID: &id}, nil
}

// Customers report one comment at once over a bad network, again until they are told that it is done.
// The comment counts each of them once, and has one place in the queue from the threshold on.
func TestReportsThroughFaults(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	if err := CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	r, healthy := commenttest.Rand(t), NewStore(client, table, Options{})
	for reporters := range 5 {
		c := commenttest.Random(r, "p")
		c.Version, c.UpdatedAt = 1, nil
		if _, err := healthy.Add(t.Context(), c, ""); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var networks []*faulttest.Network
		for i := range reporters {
			client, network := faulttest.Under(client, faulttest.OneIn(r, 4))
			networks = append(networks, network)
			store := NewStore(client, table, Options{})
			w := auth.Reporter{Store: store, Authorizer: customer(fmt.Sprint("customer ", i)), Threshold: 3}
			all.Go(func() {
				for done := 0; done < 2 && t.Context().Err() == nil; { // and once more, which changes nothing
					problems, err := w.Report(t.Context(), comment.ReportDraft{CommentID: string(c.ID), Reason: "SPAM", Note: "a note"})
					if len(problems) > 0 {
						t.Errorf("%v", problems)
						return
					}
					if err == nil {
						done++
					}
				}
			})
		}
		all.Wait()
		for _, network := range networks {
			if err := network.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		now, err := healthy.Comment(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		var reports int
		var held []comment.HoldReason
		if now.Moderation != nil {
			reports, held = now.Moderation.Reports, now.Moderation.Held
		}
		if waits := len(held) == 1 && held[0] == comment.HeldReported; reports != reporters || waits != (reporters >= 3) || now.Status != comment.Approved {
			t.Errorf("after %d reports: %d are counted, it is %s and waits for %v", reporters, reports, now.Status, held)
		}
		if got := queued(t, client, table, c.ID); (got == 1) != (reporters >= 3) {
			t.Errorf("after %d reports, it is in the queue %d times", reporters, got)
		}
	}
}

// queued returns how many places of a comment the queue has.
func queued(t *testing.T, client *dynamodb.Client, table string, id comment.ID) (places int) {
	output, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), IndexName: aws.String(string(layout.Boards))})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range output.Items {
		if waiting, err := layout.ParseWaiting(layout.NewReader(it).Text(layout.AttrPlace)); err == nil && waiting.ID == id {
			places++
		}
	}
	return places
}

// A report is of what was read: one of a comment that was edited, decided about or reported meanwhile
// is a conflict, and writes nothing.
func TestReportOfAChangedComment(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
		if err := CreateTable(t.Context(), client, table); err != nil {
			t.Fatal(err)
		}
		store, at := NewStore(client, table, Options{}), time.UnixMilli(1_700_000_000_000).UTC()
		before := commenttest.Random(commenttest.Rand(t), "p")
		before.Version, before.UpdatedAt = 1, nil
		if _, err := store.Add(t.Context(), before, ""); err != nil {
			t.Fatal(err)
		}
		waiting := before
		waiting.Moderation = &comment.Moderation{Reports: 1, Held: []comment.HoldReason{comment.HeldReported}, Since: at}
		if err := store.Report(t.Context(), before, waiting, comment.Report{By: "a", At: at, Reason: "SPAM"}); err != nil {
			t.Fatal(err)
		}
		again := before
		again.Moderation = &comment.Moderation{Reports: 1}
		if err := store.Report(t.Context(), before, again, comment.Report{By: "b", At: at, Reason: "SPAM"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a report that counts from another number: %v", err)
		}
		edited := waiting
		edited.Version, edited.UpdatedAt, edited.Text = 2, &at, "edited"
		if err := store.Replace(t.Context(), waiting, edited); err != nil {
			t.Fatal(err)
		}
		if err := store.Report(t.Context(), waiting, reportedTwice(waiting), comment.Report{By: "b", At: at, Reason: "SPAM"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("a report of an older version: %v", err)
		}
		if err := store.Delete(t.Context(), edited); err != nil {
			t.Fatal(err)
		}
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
