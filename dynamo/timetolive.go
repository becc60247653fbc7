package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Idempotency keys, leases, marks of deleted comments and dead letters go by themselves, if the table drops what has
// expired. CreateTable cannot carry that setting: a process that ends between the two calls leaves a
// table that keeps everything. So every start checks the setting.

// timeTeller is the part of the SDK's client that tells whether expired items are dropped.
type timeTeller interface {
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// timeKeeper is the part of the SDK's client that sees to it.
type timeKeeper interface {
	timeTeller
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// DropsExpired tells whether the table drops items that have expired, or is about to.
func DropsExpired(ctx context.Context, client timeTeller, table string) (bool, error) {
	output, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		return false, call.Wrap(err, "DescribeTimeToLive %s", table)
	}
	now := output.TimeToLiveDescription
	if now == nil || now.TimeToLiveStatus != types.TimeToLiveStatusEnabled && now.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return false, nil
	}
	if attr := aws.ToString(now.AttributeName); attr != layout.AttrTTL {
		return false, fmt.Errorf("table %q drops what has expired by the attribute %q and not by %q: switch that off with aws dynamodb update-time-to-live", table, attr, layout.AttrTTL)
	}
	return true, nil
}

// KeepTimeToLive has the table drop items that have expired, unless it does. An error says that this is not known, or could
// not be switched on; the table can be used all the same, and grows.
func KeepTimeToLive(ctx context.Context, client timeKeeper, table string) error {
	if on, err := DropsExpired(ctx, client, table); on || err != nil {
		return err
	}
	_, err := client.UpdateTimeToLive(ctx, layout.TimeToLive(table))
	if err == nil {
		return nil
	}
	if on, _ := DropsExpired(ctx, client, table); on { // another process was first
		return nil
	}
	return call.Wrap(err, "UpdateTimeToLive %s", table)
}
