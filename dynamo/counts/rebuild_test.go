package counts_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

func newRebuilder(client *dynamodb.Client, table string) *counts.Rebuilder {
	return counts.Hasten(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 2}))
}

func rebuild(t *testing.T, client *dynamodb.Client, table string) counts.RebuildResult {
	t.Helper()
	return must.Get(newRebuilder(client, table).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
}

// verify fails the test unless a verification finds exactly these kinds of drift, one drift for
// each element.
func verify(t *testing.T, client *dynamodb.Client, table string, want ...counts.DriftKind) counts.Verified {
	t.Helper()
	found := must.Get(counts.HastenVerifier(counts.NewVerifier(client, table, counts.VerifyOptions{Calls: 2})).Run(t.Context(), func(int) {}))(t)
	var kinds []counts.DriftKind
	for _, drift := range found.Drifts {
		kinds = append(kinds, drift.Kind)
	}
	if diff := cmp.Diff(want, kinds); diff != "" || len(found.Restless) > 0 {
		t.Errorf("drifts %v, restless %v: %s", found.Drifts, found.Restless, diff)
	}
	return found
}

func load(t *testing.T, client *dynamodb.Client, table string, comments []comment.Comment) {
	t.Helper()
	must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), comments))(t)
}

// A rebuild counts a table that was never counted; another one finds nothing to do.
func TestRebuildOfATableNeverCounted(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		client := call.NewLocalClient(endpoint)
		table := newTable(t, client)
		model := commenttest.NewModel()
		for i, product := range historicProducts {
			comments := commenttest.Many(r, product, 40>>i)
			load(t, client, table, comments)
			for _, c := range comments {
				model.Insert(c)
			}
		}
		comments := len(model.All())
		want := counts.RebuildResult{Products: len(historicProducts), Comments: comments, Complete: true}
		if got := rebuild(t, client, table); !cmp.Equal(got, want) {
			t.Errorf("the first rebuild did %+v, want %+v", got, want)
		}
		checkCounted(t, client, table, historicProducts, model)
		found := verify(t, client, table)
		if found.Products != len(historicProducts) || found.Comments != comments {
			t.Errorf("%d comments of %d products were verified", found.Comments, found.Products)
		}
		want.Comments = 0
		if got := rebuild(t, client, table); !cmp.Equal(got, want) {
			t.Errorf("the second rebuild did %+v, want %+v", got, want)
		}
	})
}
