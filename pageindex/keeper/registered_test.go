package keeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// some returns a registry with every field set.
func some() map[string]Registration {
	return map[string]Registration{
		"redis://cache:6379/0": {
			Identity: "ABC", Gaps: 3, Begun: 2, Since: time.Now().UTC().Truncate(time.Millisecond), Reason: "it was away", Built: "ABC/2/7",
			Work: Work{Owner: "me", Who: "talkback serve", Engine: "http://127.0.0.1:1", Heartbeat: 4, Entries: 5},
		},
		"sqlite:/a b/#.db": {Gaps: 1, Begun: 1},
	}
}

// The registry is written on condition that it still is as it was read. A lost answer is no
// conflict.
func TestRegistry(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		r := NewTableRegistry(client, newTable(t, client))
		before, err := r.Registry(t.Context())
		if err != nil || before.Version != 0 || len(before.Stores) > 0 {
			t.Fatal(before, err)
		}
		stores := some()
		next := Registry{Stores: stores}
		for range 2 { // the second time as after a lost answer
			must.Do(t, r.SwapRegistry(t.Context(), before, next))
		}
		now, err := r.Registry(t.Context())
		if diff := cmp.Diff(Registry{Version: 1, Stores: stores}, now, cmp.Comparer(time.Time.Equal)); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if err := r.SwapRegistry(t.Context(), before, Registry{}); comment.KindOf(err) != comment.Conflict {
			t.Error(err)
		}
		old := Registration{Gaps: 1, Since: time.Now().Add(-2 * forgetAfter)}
		must.Do(t, r.SwapRegistry(t.Context(), now, now.with("redis:left", old)))
		now, err = r.Registry(t.Context())
		if diff := cmp.Diff(Registry{Version: 2, Stores: stores}, now, cmp.Comparer(time.Time.Equal)); diff != "" || err != nil {
			t.Error("a store that nobody built for long is not forgotten", err, diff)
		}
		must.Do(t, r.SwapRegistry(t.Context(), now, Registry{}))
	})
}

// A registration that lacks its moments, as an early version wrote it, is not built anew.
func TestRegistrationWithoutMoments(t *testing.T) {
	stores := map[string]Registration{"a": {Identity: "ABC", Gaps: 1, Begun: 1}}
	it := encodeRegistry(Registry{Stores: stores})
	delete(storeIn(it), attrMoments)
	if diff := cmp.Diff(stores, decodeRegistry(it).Stores); diff != "" {
		t.Error(diff)
	}
}

// A registry that was damaged by hand stops nothing: unreadable parts count as missing, and are
// replaced.
func TestDamagedRegistry(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	r := NewTableRegistry(client, newTable(t, client))
	for why, damage := range map[string]func(layout.Item){
		"the version is a text":     func(it layout.Item) { it[attrVersion] = layout.Text("x") },
		"the version is missing":    func(it layout.Item) { delete(it, attrVersion) },
		"the stores are a text":     func(it layout.Item) { it[attrStores] = layout.Text("x") },
		"a store lacks its gaps":    func(it layout.Item) { delete(storeIn(it), attrGaps) },
		"an identity is a number":   func(it layout.Item) { storeIn(it)[attrIdentity] = layout.Number(1) },
		"there is nothing but keys": func(it layout.Item) { delete(it, attrVersion); delete(it, attrStores) },
	} {
		it := encodeRegistry(Registry{Version: 7, Stores: map[string]Registration{"a": {Gaps: 1}}})
		damage(it)
		must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &r.table, Item: it}))(t)
		now, err := r.Registry(t.Context())
		if err != nil || len(now.Stores) > 0 && why != "the version is a text" && why != "the version is missing" {
			t.Error(why, now, err)
		}
		if err := r.SwapRegistry(t.Context(), now, Registry{Stores: some()}); err != nil {
			t.Error(why, err)
		}
	}
}

func newTable(t *testing.T, client *dynamodb.Client) string {
	t.Helper()
	table := dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	return table
}

func storeIn(it layout.Item) layout.Item {
	return it[attrStores].(*types.AttributeValueMemberM).Value["a"].(*types.AttributeValueMemberM).Value
}

// The registry is in no index of comments.
func TestNothingIsInAnIndex(t *testing.T) {
	if got := dynamotest.IndexAttributes(layout.Definition("t"), encodeRegistry(Registry{Stores: some()})); len(got) > 0 {
		t.Error(got)
	}
}

// away is a table that does not answer.
type away struct{ Client }

func (away) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, context.DeadlineExceeded
}

func (away) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return nil, context.DeadlineExceeded
}

// If the table does not answer, no record is blamed.
func TestAway(t *testing.T) {
	r := NewTableRegistry(away{}, "t")
	_, err := r.Registry(t.Context())
	if err := errors.Join(err, r.SwapRegistry(t.Context(), Registry{}, Registry{})); comment.KindOf(err) != comment.Timeout {
		t.Error(err)
	}
}
