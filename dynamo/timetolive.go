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

// DynamoDB deletes expired items if the table's time to live is on: idempotency keys, leases, dedup
// markers of deleted comments and dead letters. CreateTable cannot carry that setting. A process
// that ends between the two calls leaves a table that keeps every item, so each start checks the
// setting.

// timeTeller is the part of the SDK's client that reads the setting.
type timeTeller interface {
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// timeKeeper is the part of the SDK's client that reads and changes the setting.
type timeKeeper interface {
	timeTeller
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// DropsExpired reports whether the table deletes expired items, or is about to.
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

// KeepTimeToLive has the table delete expired items, unless it already does. An error says that the
// setting is unknown or could not be changed. The table can still be used, but expired items stay
// in it.
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
