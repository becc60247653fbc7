package counts_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// busy is a client of a table. Whenever a product's markers are read, other processes count the
// product, unless it is held.
type busy struct {
	*dynamodb.Client
	table       string
	went, stood atomic.Int64 // how often others counted, and how often a hold stopped them
}

func (b *busy) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if in.IndexName == nil {
		if err := b.count(ctx, in.ExpressionAttributeValues[":key"]); err != nil {
			return nil, err
		}
	}
	return b.Client.Query(ctx, in, o...)
}

// count makes the change by which a look recognizes that others counted.
func (b *busy) count(ctx context.Context, product types.AttributeValue) error {
	_, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &b.table,
		Key:                       map[string]types.AttributeValue{"PK": product, "SK": text("S")},
		UpdateExpression:          aws.String("SET n = n + :one"),
		ConditionExpression:       aws.String("attribute_exists(PK) AND attribute_not_exists(h)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	var held *types.ConditionalCheckFailedException
	if errors.As(err, &held) {
		b.stood.Add(1)
		return nil
	}
	b.went.Add(1)
	return err
}

// A product that is counted during every look is held for a moment, and is right after it.
func TestRebuildHoldsWhatIsNeverCalm(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		v := vandal{t: t, client: client, table: newTable(t, client)}
		damaged(t, client, v.table)
		v.grid("de=0,0,0,0,1 en=0,0,0,7,2")
		b := &busy{Client: client, table: v.table}
		result, err := counts.Hasten(counts.NewRebuilder(b, v.table, counts.RebuildOptions{Calls: 2})).Run(t.Context(), func(counts.RebuildProgress) {})
		if err != nil || result.Repaired != 1 || b.went.Load() < 2 || b.stood.Load() < 3 {
			t.Errorf("%+v, %v; others counted %d times and waited %d times", result, err, b.went.Load(), b.stood.Load())
		}
		verify(t, client, v.table)
		checkCounted(t, client, v.table, []string{"p", "bystander"}, storedModel(t, client, v.table))
		for _, product := range []string{"p", "bystander"} {
			if _, held := v.get("P#"+product, "S")["h"]; held {
				t.Errorf("%s is still held", product)
			}
		}
		found, err := counts.HastenVerifier(counts.NewVerifier(b, v.table, counts.VerifyOptions{Calls: 2})).Run(t.Context(), func(int) {})
		if err != nil || len(found.Restless) != 2 || len(found.Drifts) > 0 {
			t.Errorf("verifying, which holds nothing: %+v, %v", found, err)
		}
	})
}

// shifting is a client of a table. Until product p is held, each look finds it wrong in another
// way. During a look nothing changes.
type shifting struct {
	*dynamodb.Client
	table string
	looks int
	held  bool
}

func (s *shifting) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if s.looks++; !s.held {
		_, err := s.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: key("P#p", "S"), UpdateExpression: aws.String("SET n = n + :one, g = :wrong"), ConditionExpression: aws.String("attribute_not_exists(h)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":one": &types.AttributeValueMemberN{Value: "1"}, ":wrong": text(fmt.Sprintf("de=0,0,0,0,%d", s.looks)),
			},
		})
		var held *types.ConditionalCheckFailedException
		if s.held = errors.As(err, &held); err != nil && !s.held {
			return nil, err
		}
	}
	return s.Client.BatchGetItem(ctx, in, o...)
}

// A product is held too if nothing changes during any look, and yet no two looks find the same.
func TestRebuildHoldsWhatIsAnotherEachTime(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: newTable(t, client)}
	damaged(t, client, v.table)
	others := &shifting{Client: client, table: v.table}
	if result, err := counts.Hasten(counts.NewRebuilder(others, v.table, counts.RebuildOptions{Calls: 1})).Run(t.Context(), func(counts.RebuildProgress) {}); err != nil || result.Repaired != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	verify(t, client, v.table)
}

func (v vandal) get(partition, sort string) map[string]types.AttributeValue {
	v.t.Helper()
	output, err := v.client.GetItem(v.t.Context(), &dynamodb.GetItemInput{TableName: &v.table, Key: key(partition, sort), ConsistentRead: aws.Bool(true)})
	if err != nil {
		v.t.Fatal(err)
	}
	return output.Item
}

// The hold of a killed rebuild never blocks the next rebuild, and blocks counters only until it
// expires.
func TestHoldLeftBehind(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, row := range []struct {
		why   string
		until time.Time
		heal  func(v vandal, added comment.Comment)
	}{
		{"a rebuild while it lasts", time.Now().Add(time.Hour), func(v vandal, _ comment.Comment) { rebuild(t, client, v.table) }},
		{"counting after it", time.Now().Add(-time.Second), func(v vandal, added comment.Comment) {
			if err := counts.NewCounter(client, v.table, counts.CounterOptions{}).Handle(t.Context(), []stream.Record{{Position: "1", New: image(added)}}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		v := vandal{t: t, client: client, table: newTable(t, client)}
		damaged(t, client, v.table)
		v.update("P#p", "S", "SET h = :a", text(fmt.Sprintf("%d/someone", row.until.UnixMilli())))
		added := commenttest.Random(commenttest.Rand(t), "p")
		load(t, client, v.table, []comment.Comment{added})
		row.heal(v, added)
		verify(t, client, v.table)
		if _, held := v.get("P#p", "S")["h"]; held {
			t.Errorf("%s: it is still held", row.why)
		}
	}
}

// A record from before a look is ignored, even if no record was applied since.
func TestOldRecordsAfterALook(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: newTable(t, client)}
	c := commenttest.Random(commenttest.Rand(t), "p")
	load(t, client, v.table, []comment.Comment{c})
	counter := counts.NewCounter(client, v.table, counts.CounterOptions{})
	handle := func(record stream.Record) {
		t.Helper()
		if err := counter.Handle(t.Context(), []stream.Record{record}); err != nil {
			t.Fatal(err)
		}
	}
	added, deleted := stream.Record{Position: "1", New: image(c)}, stream.Record{Position: "2", Old: image(c)}
	rebuild(t, client, v.table)
	handle(added)
	v.delete("C#"+c.ID.Position().String(), "C")
	rebuild(t, client, v.table)
	handle(deleted)
	handle(added) // by a reader that fell behind
	verify(t, client, v.table)
}
