// Package pagestores keeps in the table which stores outside it the comments are fed to, and what
// these missed. It implements keeper.Table.
package pagestores

import (
	"context"
	"errors"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/keeper"
)

// Keys and attributes of the registry: one item, so that everything is read with one call, and
// changed on condition that nothing else has.
const (
	registryPK = "PAGES"
	registrySK = "STORES"

	attrVersion = "n" // N, rises with each write
	attrStores  = "s" // M, by name, of maps with the following attributes

	attrIdentity  = "i"
	attrGaps      = "g"
	attrBegun     = "b"
	attrSince     = "t" // absent for none
	attrReason    = "r"
	attrBuilt     = "c"
	attrOwner     = "o" // this and the following are of the build under way
	attrWho       = "w"
	attrEngine    = "d"
	attrHeartbeat = "h"
	attrEntries   = "e"
)

// Client is the part of the SDK's client that a Registry works with.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Registry keeps the registry of a table. It is safe for concurrent use.
type Registry struct {
	client Client
	table  string
}

var _ keeper.Table = (*Registry)(nil)

// New makes the registry of a table.
func New(client Client, table string) *Registry { return &Registry{client: client, table: table} }

// Registry implements keeper.Table. A store whose registration cannot be read is left out, so that
// it is built anew.
func (r *Registry) Registry(ctx context.Context) (keeper.Registry, error) {
	output, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(r.table), Key: layout.StreamKey(registryPK, registrySK), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return keeper.Registry{}, call.Wrap(err, "stores of page numbers")
	}
	return decode(output.Item), nil
}

// SwapRegistry implements keeper.Table. If the stored registry already equals the next one, an
// earlier try wrote it and its answer was lost.
func (r *Registry) SwapRegistry(ctx context.Context, old, next keeper.Registry) error {
	next.Version = old.Version + 1
	written := encode(next)
	// A version that cannot be read counts as 0.
	condition, values := "attribute_not_exists(#n) OR NOT attribute_type(#n, :type)", layout.Item{":type": layout.Text("N")}
	if old.Version > 0 {
		condition, values = "#n = :n", layout.Item{":n": layout.Number(old.Version)}
	}
	_, err := r.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           aws.String(r.table),
		Item:                                written,
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeNames:            map[string]string{"#n": attrVersion},
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return call.Wrap(err, "stores of page numbers")
	}
	if there := decode(refused.Item); there.Version == next.Version && maps.Equal(there.Stores, decode(written).Stores) {
		return nil
	}
	return &comment.Error{Kind: comment.Conflict, Message: "someone else wrote this meanwhile", Cause: err}
}

func encode(registry keeper.Registry) layout.Item {
	stores := layout.Item{}
	for name, s := range registry.Stores {
		stores[name] = &types.AttributeValueMemberM{Value: encodeStore(s)}
	}
	out := layout.StreamKey(registryPK, registrySK)
	out[attrVersion] = layout.Number(registry.Version)
	out[attrStores] = &types.AttributeValueMemberM{Value: stores}
	return out
}

func encodeStore(s keeper.Registration) layout.Item {
	out := layout.Item{
		attrIdentity:  layout.Text(s.Identity),
		attrGaps:      layout.Number(s.Gaps),
		attrBegun:     layout.Number(s.Begun),
		attrReason:    layout.Text(s.Reason),
		attrBuilt:     layout.Text(s.Built),
		attrOwner:     layout.Text(s.Work.Owner),
		attrWho:       layout.Text(s.Work.Who),
		attrEngine:    layout.Text(s.Work.Engine),
		attrHeartbeat: layout.Number(s.Work.Heartbeat),
		attrEntries:   layout.Number(s.Work.Entries),
	}
	layout.SetOptionalTime(out, attrSince, s.Since)
	return out
}

func decode(it layout.Item) keeper.Registry {
	version, _ := layout.ParseNumber(it[attrVersion]) // else 0
	out := keeper.Registry{Version: version, Stores: map[string]keeper.Registration{}}
	stores, _ := it[attrStores].(*types.AttributeValueMemberM)
	if stores == nil {
		return out
	}
	for name, value := range stores.Value {
		if store, ok := value.(*types.AttributeValueMemberM); ok {
			if s, err := decodeStore(store.Value); err == nil {
				out.Stores[name] = s
			}
		}
	}
	return out
}

func decodeStore(it layout.Item) (keeper.Registration, error) {
	r := layout.NewReader(it)
	s := keeper.Registration{
		Identity: r.Text(attrIdentity),
		Gaps:     r.Number(attrGaps),
		Begun:    r.Number(attrBegun),
		Since:    r.OptionalTime(attrSince),
		Reason:   r.Text(attrReason),
		Built:    r.Text(attrBuilt),
		Work: keeper.Work{
			Owner:     r.Text(attrOwner),
			Who:       r.Text(attrWho),
			Engine:    r.Text(attrEngine),
			Heartbeat: r.Number(attrHeartbeat),
			Entries:   r.Number(attrEntries),
		},
	}
	return s, r.Err()
}
