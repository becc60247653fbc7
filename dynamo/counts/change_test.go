package counts

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// changed returns one comment in a version and with a rating.
func changed(version, rating int) comment.Comment {
	return comment.Comment{ID: comment.IDOf(comment.Position{1}), ProductID: "42", Language: "en", Rating: rating, Version: version}
}

func TestRecordsAreDecodedToChanges(t *testing.T) {
	first, second := changed(1, 1), changed(2, 5)
	at := time.Unix(1_700_000_000, 0)
	tombstone := layout.Tombstone(first.ID, "", at)
	for _, row := range []struct {
		why    string
		record stream.Record
		want   []Change
	}{
		{"a new comment", stream.Record{New: layout.Encode(first)}, []Change{{After: &comment.Cell{Language: "en", Rating: 1}, Version: 1}}},
		{"an edit", stream.Record{Old: layout.Encode(first), New: layout.Encode(second)},
			[]Change{{Before: &comment.Cell{Language: "en", Rating: 1}, After: &comment.Cell{Language: "en", Rating: 5}, Version: 2}}},
		{"a deleted comment", stream.Record{Old: layout.Encode(second)}, []Change{{Before: &comment.Cell{Language: "en", Rating: 5}}}},
		{"a tombstone in place of a comment", stream.Record{Old: layout.Encode(second), New: tombstone}, []Change{{Before: &comment.Cell{Language: "en", Rating: 5}}}},
		{"a comment in place of its tombstone", stream.Record{Old: tombstone, New: layout.Encode(first)}, []Change{{After: &comment.Cell{Language: "en", Rating: 1}, Version: 1}}},
		{"a tombstone that expired", stream.Record{Old: tombstone}, nil},
		{"a tombstone changed by hand", stream.Record{Old: tombstone, New: tombstone}, nil},
		{"statistics", stream.Record{New: layout.ProductKey("42", layout.StatisticsSK)}, nil},
	} {
		row.record.Position, row.record.Created = "p", at
		for i := range row.want {
			row.want[i].Product, row.want[i].ID, row.want[i].Position, row.want[i].Created = "42", first.ID, "p", at
		}
		got, failed := decodeChanges([]stream.Record{row.record})
		if diff := cmp.Diff(row.want, got, cmpopts.IgnoreUnexported(Change{}), cmpopts.EquateEmpty()); diff != "" || len(failed) > 0 {
			t.Errorf("%s: %v %s", row.why, failed, diff)
		}
	}
}

// refusing is a table that answers each call with an error.
type refusing struct {
	countClient
	err   error
	calls func()
}

func (r refusing) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	r.calls()
	return nil, r.err
}

// follower records what it is notified of.
type follower struct{ heard *[]string }

func (f follower) Changing(c Change) { *f.heard = append(*f.heard, "before "+string(c.Position)) }
func (f follower) Changed(c Change)  { *f.heard = append(*f.heard, "after "+string(c.Position)) }

// Followers get changes in the order of their records: before they are counted, and after it, even
// if counting failed.
func TestFollowersHearOfChangesInOrder(t *testing.T) {
	var heard []string
	broken := errors.New("broken")
	counter := NewCounter(refusing{err: broken, calls: func() { heard = append(heard, "count") }}, "comments", CounterOptions{
		Follower: follower{&heard},
	})
	err := counter.Handle(t.Context(), []stream.Record{
		{Position: "1", New: layout.Encode(changed(1, 1))},
		{Position: "2", New: layout.ProductKey("42", layout.StatisticsSK)},
		{Position: "3", Old: layout.Encode(changed(1, 1)), New: layout.Encode(changed(2, 5))},
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if want := []string{"before 1", "before 3", "count", "after 1", "after 3"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
