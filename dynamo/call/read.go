package call

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Querier is the part of the SDK's client that queries the table and its indexes.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// ScanClient is the part of the SDK's client that reads whole tables and whole lists.
type ScanClient interface {
	Querier
	dynamodb.ScanAPIClient
	dynamodb.DescribeTableAPIClient
}

// DefaultScanCalls is how many calls a scan makes in parallel by default.
const DefaultScanCalls = 4

// SegmentsPerCall is how many segments of the table each parallel call of a scan gets. Segments
// differ in size: with several for each call, the scan does not end with one call reading the
// largest segment while the others are idle.
const SegmentsPerCall = 4

// UnitsOf returns the read units that a call consumed, 0 if its answer does not say.
func UnitsOf(consumed *types.ConsumedCapacity) float64 {
	if consumed == nil {
		return 0
	}
	return aws.ToFloat64(consumed.CapacityUnits)
}
