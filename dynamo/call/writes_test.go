package call

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// putter keeps the last put.
type putter struct{ last *dynamodb.PutItemInput }

func (p *putter) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	p.last = in
	return nil, nil
}

// A put asks for the item there only if it has a condition: nothing is there instead of what was
// put.
func TestPutAsksForTheItemThere(t *testing.T) {
	for condition, want := range map[string]types.ReturnValuesOnConditionCheckFailure{"": "", layout.IfAbsent: types.ReturnValuesOnConditionCheckFailureAllOld} {
		var p putter
		must.Do(t, Put(t.Context(), &p, PutIf(testTable, layout.CommentKey(comment.IDOf(comment.Position{})), condition, nil)))
		if got := p.last.ReturnValuesOnConditionCheckFailure; got != want {
			t.Errorf("on condition %q it asks for %q, want %q", condition, got, want)
		}
	}
}
