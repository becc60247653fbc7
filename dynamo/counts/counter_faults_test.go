package counts_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// Whichever call fails, and however, counts are exact after the first run.
func TestCountingOverABadNetwork(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	h := newHistory(rand.New(rand.NewPCG(3, 3)), 120)
	r := commenttest.Rand(t)
	for _, fault := range faulttest.Kinds {
		t.Run(string(fault), func(t *testing.T) {
			for n, more := commenttest.Stride(r, 8), true; more; n += commenttest.Stride(r, 8) {
				table := newTable(t, direct)
				client, network := faulttest.Under(direct, faulttest.Nth(n, fault))
				counter := counts.NewCounter(client, table, counts.CounterOptions{})
				for batch := range slices.Chunk(slices.Concat(h.shards[0], h.shards[1]), 40) {
					if err := counter.Handle(t.Context(), batch); err != nil {
						t.Fatalf("%s of call %d: %v", fault, n, err)
					}
				}
				checkCounted(t, direct, table, historicProducts, h.model)
				if t.Failed() {
					t.Fatalf("%s of call %d", fault, n)
				}
				more = network.Calls() >= n
			}
		})
	}
}

// Records that are not about comments are ignored. A record with invalid content fails alone. Its
// error names the record without a customer's words.
func TestWhatCountingReturns(t *testing.T) {
	direct, table := newTableAt(t, dynamotest.Dynoxide(t))
	good := layout.Encode(comment.Comment{ID: comment.IDOf(comment.Position{1}), ProductID: "p", Language: "en", Rating: 5})
	with := func(attr string, value types.AttributeValue) map[string]types.AttributeValue {
		changed := map[string]types.AttributeValue{"t": text("private words")}
		maps.Copy(changed, good)
		if changed[attr] = value; value == nil {
			delete(changed, attr)
		}
		return changed
	}
	text := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	for _, row := range []struct {
		why   string
		image map[string]types.AttributeValue
		want  string
	}{
		{"the statistics themselves", with("SK", text("S")), ""},
		{"an invalid id", with("PK", text("C#short")), `record 1: item "C#short" is no comment`},
		{"no product", with("A", nil), "record 1: item C#01000000000000000000000000 has no product in A"},
		{"a rating of another type", with("r", text("5")), "record 1: item of comment c_01000000000000000000000000: attribute \"r\" is missing or of another type"},
		{"a rating that does not exist", with("r", layout.Number(6)), "record 1: item of comment c_01000000000000000000000000: attribute \"r\" is not a rating of 1 to 5"},
		{"no language", with("l", nil), "record 1: item of comment c_01000000000000000000000000: attribute \"l\" is missing or of another type"},
		{"the name of the row that languages share", with("l", text("*")), "record 1: item of comment c_01000000000000000000000000: attribute \"l\" is no language"},
	} {
		got := ""
		if err := counts.NewCounter(direct, table, counts.CounterOptions{}).Handle(t.Context(), []stream.Record{{Position: "1", New: row.image}}); err != nil {
			var named stream.RecordErrors
			if !errors.As(err, &named) || len(named) != 1 {
				t.Fatalf("%s: the error does not name the record: %v", row.why, err)
			}
			got = named[0].Error()
			if comment.KindOf(err) != comment.Internal {
				t.Errorf("%s: kind %v", row.why, comment.KindOf(err))
			}
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.why, got, row.want)
		}
	}
}

// While the settings of leaderboards cannot be read, nothing is counted, and records wait.
func TestCountingBesideDamagedSettings(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := newVandal(t, client)
	v.update("STATISTICS", "LEADERS", "SET shards = :a", text("many"))
	c := comment.Comment{ID: comment.IDOf(comment.Position{1}), ProductID: "p", Language: "en", Rating: 5}
	var named stream.RecordErrors
	err := counts.NewCounter(client, v.table, counts.CounterOptions{Patience: time.Millisecond}).Handle(t.Context(), []stream.Record{{Position: "1", New: layout.Encode(c)}})
	if !errors.As(err, &named) || !stream.Passes(named[0]) {
		t.Errorf("%v", err)
	}
	if it := v.get("P#p", "S"); it != nil {
		t.Errorf("it is counted: %v", it)
	}
}
