package counts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// misfilings are edits by hand of a comment's keys, with the drift that verify finds. The number is
// the comment's place in the result of filed.
var misfilings = []struct {
	why   string
	of    int
	do    func(v vandal, pk string)
	finds counts.DriftKind
}{
	{"a pending comment is put into a list", 1,
		func(v vandal, pk string) { v.update(pk, "C", "SET A = :a", text("P#p")) },
		counts.HiddenInLists},
	{"a rejected comment is put into a list by rating alone", 2,
		func(v vandal, pk string) { v.update(pk, "C", "SET R = :a", text("P#p/5")) },
		counts.HiddenInLists},
	{"an approved comment is missing in a list", 0,
		func(v vandal, pk string) { v.update(pk, "C", "REMOVE L") },
		counts.WrongLists},
	{"a pending comment is not in the queue", 1,
		func(v vandal, pk string) { v.update(pk, "C", "REMOVE board, place") },
		counts.MissingInQueue},
	{"a held edit is not in the queue", 3,
		func(v vandal, pk string) { v.update(pk, "C", "REMOVE board, place") },
		counts.MissingInQueue},
	{"a place in the queue cannot be read", 1,
		func(v vandal, pk string) { v.update(pk, "C", "SET place = :a", text("private words")) },
		counts.WrongPlace},
	{"a part of the queue that no moderator reads", 1,
		func(v vandal, pk string) { v.update(pk, "C", "SET board = :a", text("QUEUE#77")) },
		counts.WrongPlace},
	{"a rejected comment is in the queue", 2,
		func(v vandal, pk string) {
			v.update(pk, "C", "SET board = :a, place = :b", text("QUEUE#0"), text("1"))
		},
		counts.StrayInQueue},
	{"a comment that nobody reported is in the queue for that", 4,
		func(v vandal, pk string) { v.update(pk, "C", "REMOVE f") },
		counts.StrayInQueue},
}

// filedStates is how many comments filed returns.
const filedStates = 5

// filed returns a comment in each state: approved, pending, rejected, with a held edit, and
// reported.
func filed(t *testing.T) []comment.Comment {
	all := commenttest.Many(commenttest.Rand(t), "p", filedStates)
	for i := range all {
		all[i].Version = 1
		at := all[i].CreatedAt().Add(time.Minute)
		all[i].Moderation = &comment.Moderation{Since: at}
		reason, m := comment.Spam, all[i].Moderation
		switch i {
		case 0:
			all[i].Moderation = nil
		case 1:
			all[i].Status, m.Held = comment.Pending, []comment.HoldReason{comment.HeldLink}
		case 2:
			all[i].Status, all[i].Moderation = comment.Rejected, &comment.Moderation{Reason: &reason}
		case 3:
			m.Held = []comment.HoldReason{comment.HeldEdited}
			m.HeldEdit = &comment.HeldEdit{Rating: 1, Language: "de", Text: "anders", At: at, Version: 2}
		case 4:
			m.Held, m.Reports = []comment.HoldReason{comment.HeldReported}, 3
		}
	}
	return all
}

// Verify finds keys that contradict the state of their comment, and a rebuild restores them. A lost
// reason to wait becomes the policy or the edit. Other comments stay unchanged.
func TestMisfiledComments(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		v := vandal{t: t, client: client, table: newTable(t, client)}
		var comments []comment.Comment
		for range misfilings {
			comments = append(comments, filed(t)...)
		}
		load(t, client, v.table, comments)
		rebuild(t, client, v.table)
		verify(t, client, v.table)
		for i, row := range misfilings {
			row.do(v, "C#"+comments[i*filedStates+row.of].ID.Position().String())
		}
		found := must.Get(counts.HastenVerifier(counts.NewVerifier(client, v.table, counts.VerifyOptions{})).Run(t.Context(), func(int) {}))(t)
		for i, row := range misfilings {
			if !hasDrift(found.Drifts, row.finds, comments[i*filedStates+row.of]) {
				t.Errorf("%s: verify finds %v, want %s", row.why, found.Drifts, row.finds)
			}
		}
		if got := rebuild(t, client, v.table); got.Refiled != len(misfilings) {
			t.Errorf("a rebuild refiled %d comments, not %d", got.Refiled, len(misfilings))
		}
		rebuild(t, client, v.table) // counts the changes, since no stream is read here
		verify(t, client, v.table)
		scanner := dynamo.NewScanner(client, v.table, 1)
		scanner.Everything = true
		states := map[comment.ID]comment.Status{}
		for c, err := range scanner.All(t.Context()) {
			must.Do(t, err)
			if err := c.Check(); err != nil {
				t.Errorf("%s: %v", c, err)
			}
			states[c.ID] = c.Status
		}
		for i, c := range comments {
			if states[c.ID] != c.Status {
				t.Errorf("%s is %s, and was %s: %s", c, states[c.ID], c.Status, misfilings[i/filedStates].why)
			}
		}
	})
}

// hasDrift reports whether the drifts of a kind include a comment.
func hasDrift(drifts []counts.Drift, kind counts.DriftKind, of comment.Comment) bool {
	return slices.ContainsFunc(drifts, func(d counts.Drift) bool {
		return d.Kind == kind && strings.HasPrefix(d.Detail, "comment "+string(of.ID)+" ")
	})
}

// A comment that lost its state is reported and not published, since it may never have been
// approved.
func TestLostState(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: newTable(t, client)}
	comments := filed(t)
	load(t, client, v.table, comments)
	pk := "C#" + comments[2].ID.Position().String()
	v.update(pk, "C", "REMOVE z")
	v.update("C#"+comments[0].ID.Position().String(), "D#1", "SET note = :a", &types.AttributeValueMemberS{Value: "a decision"})
	result := rebuild(t, client, v.table)
	found := verify(t, client, v.table)
	if diff := cmp.Diff(result.Improper, found.Improper); diff != "" || len(found.Improper) != 1 || found.Improper[0].Key != pk+"/C" {
		t.Errorf("rebuild %v, verify %v", result.Improper, found.Improper)
	}
}
