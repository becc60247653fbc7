package keeper

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Keys and attributes of the registry. It is one item, so that one call reads all of it, and a
// write can be conditional on nothing else having changed.
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
	attrMoments   = "m"
	attrOwner     = "o" // this and the following describe the build under way
	attrWho       = "w"
	attrEngine    = "d"
	attrHeartbeat = "h"
	attrEntries   = "e"
)

// Client is the part of the SDK's client that a TableRegistry calls.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	call.ItemGetter
}

// TableRegistry keeps the registry in a table: which outside stores are fed, and what they missed.
// It is safe for concurrent use.
type TableRegistry struct {
	client Client
	table  string
}

var _ Table = (*TableRegistry)(nil)

// NewTableRegistry makes the registry of a table.
func NewTableRegistry(client Client, table string) *TableRegistry {
	return &TableRegistry{client: client, table: table}
}

// Registry implements Table. It leaves out a store whose registration cannot be read, so that the
// store is built anew.
func (r *TableRegistry) Registry(ctx context.Context) (Registry, error) {
	it, err := call.Item(ctx, r.client, r.table, layout.Key(registryPK, registrySK), "stores of page numbers")
	if err != nil {
		return Registry{}, err
	}
	return decodeRegistry(it), nil
}

// SwapRegistry implements Table. If the stored registry already equals next, an earlier attempt
// wrote it and its answer was lost.
func (r *TableRegistry) SwapRegistry(ctx context.Context, old, next Registry) error {
	next.Version = old.Version + 1
	written := encodeRegistry(next)
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
	found, refused := call.FoundInstead(err)
	if !refused {
		return call.Wrap(err, "stores of page numbers")
	}
	if there := decodeRegistry(found); there.Version == next.Version && maps.Equal(there.Stores, decodeRegistry(written).Stores) {
		return nil
	}
	return &comment.Error{Kind: comment.Conflict, Message: "another process wrote this meanwhile", Cause: err}
}

func encodeRegistry(registry Registry) layout.Item {
	stores := layout.Item{}
	for name, s := range registry.Stores {
		store := layout.Item{
			attrIdentity:  layout.Text(s.Identity),
			attrGaps:      layout.Number(s.Gaps),
			attrBegun:     layout.Number(s.Begun),
			attrReason:    layout.Text(s.Reason),
			attrBuilt:     layout.Text(s.Built),
			attrMoments:   layout.Text(s.Moments),
			attrOwner:     layout.Text(s.Work.Owner),
			attrWho:       layout.Text(s.Work.Who),
			attrEngine:    layout.Text(s.Work.Engine),
			attrHeartbeat: layout.Number(s.Work.Heartbeat),
			attrEntries:   layout.Number(s.Work.Entries),
		}
		layout.SetOptionalTime(store, attrSince, s.Since)
		stores[name] = &types.AttributeValueMemberM{Value: store}
	}
	out := layout.Key(registryPK, registrySK)
	out[attrVersion] = layout.Number(registry.Version)
	out[attrStores] = &types.AttributeValueMemberM{Value: stores}
	return out
}

func decodeRegistry(it layout.Item) Registry {
	version, _ := layout.ParseNumber(it[attrVersion]) // 0 if it cannot be read
	out := Registry{Version: version, Stores: map[string]Registration{}}
	stores, _ := it[attrStores].(*types.AttributeValueMemberM)
	if stores == nil {
		return out
	}
	for name, value := range stores.Value {
		store, ok := value.(*types.AttributeValueMemberM)
		if !ok {
			continue
		}
		r := layout.NewReader(store.Value)
		s := Registration{
			Identity: r.Text(attrIdentity),
			Gaps:     r.Number(attrGaps),
			Begun:    r.Number(attrBegun),
			Since:    r.OptionalTime(attrSince),
			Reason:   r.Text(attrReason),
			Built:    r.Text(attrBuilt),
			Moments:  r.OptionalText(attrMoments),
			Work: Work{
				Owner:     r.Text(attrOwner),
				Who:       r.Text(attrWho),
				Engine:    r.Text(attrEngine),
				Heartbeat: r.Number(attrHeartbeat),
				Entries:   r.Number(attrEntries),
			},
		}
		if r.Err() == nil {
			out.Stores[name] = s
		}
	}
	return out
}
