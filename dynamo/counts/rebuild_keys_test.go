package counts_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// misfilings are edits by hand of a comment's keys, with the drifts that verify finds. The comments are
// an approved one, a pending one, a rejected one, one with a held edit and one that was reported.
var misfilings = []struct {
	why   string
	do    func(v vandal, pks []string)
	finds []counts.DriftKind
}{
	{"a pending comment is put into a list",
		func(v vandal, pks []string) { v.update(pks[1], "C", "SET A = :a", text("P#p")) },
		[]counts.DriftKind{counts.HiddenInLists}},
	{"a rejected comment is put into a list by rating alone",
		func(v vandal, pks []string) { v.update(pks[2], "C", "SET R = :a", text("P#p/5")) },
		[]counts.DriftKind{counts.HiddenInLists}},
	{"an approved comment is missing in a list",
		func(v vandal, pks []string) { v.update(pks[0], "C", "REMOVE L") },
		[]counts.DriftKind{counts.WrongLists}},
	{"a pending comment is not in the queue",
		func(v vandal, pks []string) { v.update(pks[1], "C", "REMOVE board, place") },
		[]counts.DriftKind{counts.MissingInQueue}},
	{"a held edit is not in the queue",
		func(v vandal, pks []string) { v.update(pks[3], "C", "REMOVE board, place") },
		[]counts.DriftKind{counts.MissingInQueue}},
	{"a place in the queue cannot be read",
		func(v vandal, pks []string) { v.update(pks[1], "C", "SET place = :a", text("private words")) },
		[]counts.DriftKind{counts.WrongPlace}},
	{"a part of the queue that no moderator reads",
		func(v vandal, pks []string) { v.update(pks[1], "C", "SET board = :a", text("QUEUE#77")) },
		[]counts.DriftKind{counts.WrongPlace}},
	{"a rejected comment is in the queue",
		func(v vandal, pks []string) {
			v.update(pks[2], "C", "SET board = :a, place = :b", text("QUEUE#0"), text("1"))
		},
		[]counts.DriftKind{counts.StrayInQueue}},
	{"a comment that nobody reported is in the queue for that",
		func(v vandal, pks []string) { v.update(pks[4], "C", "REMOVE f") },
		[]counts.DriftKind{counts.StrayInQueue}},
}

// filed are comments in all states.
func filed(t *testing.T) []comment.Comment {
	all := commenttest.Many(commenttest.Rand(t), "p", 5)
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

// Keys that contradict the state of their comment are found, and a rebuild makes them what they were.
// Reasons to wait that are lost become the policy or the edit. Other comments stay as they are.
func TestMisfiledComments(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		for _, row := range misfilings {
			t.Run(row.why, func(t *testing.T) {
				t.Parallel()
				v := vandal{t: t, client: client, table: newTable(t, client)}
				comments := filed(t)
				load(t, client, v.table, comments)
				rebuild(t, client, v.table)
				verify(t, client, v.table)
				pks := make([]string, len(comments))
				for i, c := range comments {
					pks[i] = "C#" + c.ID.Position().String()
				}
				row.do(v, pks)
				found, err := counts.HastenVerifier(counts.NewVerifier(client, v.table, counts.VerifyOptions{})).Run(t.Context(), func(int) {})
				if err != nil {
					t.Fatal(err)
				}
				for _, kind := range row.finds {
					if !hasDrift(found.Drifts, kind) {
						t.Errorf("verify finds %v, want %s", found.Drifts, kind)
					}
				}
				if got := rebuild(t, client, v.table); got.Refiled != 1 {
					t.Errorf("a rebuild refiled %d comments", got.Refiled)
				}
				rebuild(t, client, v.table) // counts what changed: no stream is read here
				verify(t, client, v.table)
				scanner := dynamo.NewScanner(client, v.table, 1)
				scanner.Everything = true
				for c, err := range scanner.All(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if err := c.Check(); err != nil {
						t.Errorf("%s: %v", c, err)
					}
					for _, was := range comments {
						if was.ID == c.ID && was.Status != c.Status {
							t.Errorf("%s is %s, and was %s", c, c.Status, was.Status)
						}
					}
				}
			})
		}
	})
}

func hasDrift(drifts []counts.Drift, kind counts.DriftKind) bool {
	for _, d := range drifts {
		if d.Kind == kind {
			return true
		}
	}
	return false
}

// A comment that lost its state is reported, and not published: perhaps it never was approved.
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
