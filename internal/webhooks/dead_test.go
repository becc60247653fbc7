package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/webhooks"
)

// A dead letter is kept for 30 days from when its event was given up, as the guide says, and then
// expires. So an operator who returns from a holiday can still redeliver it.
func TestDeadLettersAreKeptFor30Days(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	began := time.Now().Truncate(time.Second)
	want := slices.Concat(slices.Collect(maps.Values(tab.edit(1, 1, time.Now().Add(-2*time.Hour))))...) // the hook gives up after an hour
	stop := tab.deliver(tab.client, func(o *webhooks.Options) {
		o.Send = func(context.Context, webhooks.Hook, ...outbox.Event) error { return errors.New("refused") }
	})
	var dead []string
	tab.await(fmt.Sprint(want, " are given up"), func() bool {
		dead = nil
		for letter, err := range tab.store.DeadLetters(t.Context(), h.ID) {
			must.Do(t, err)
			dead = append(dead, letter.ID)
		}
		return len(dead) == len(want)
	})
	stop()
	output, err := tab.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(tab.name), Key: layout.DeadEventKey(h.ID, dead[0]), ConsistentRead: aws.Bool(true),
	})
	must.Do(t, err)
	number, ok := output.Item[layout.AttrTTL].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatal("it never expires")
	}
	seconds := must.Get(strconv.ParseInt(number.Value, 10, 64))(t)
	const kept = 30 * 24 * time.Hour
	if expires := time.Unix(seconds, 0); expires.Before(began.Add(kept)) || expires.After(time.Now().Add(kept)) {
		t.Errorf("it is kept until %v, for %v", expires, expires.Sub(began))
	}
}
