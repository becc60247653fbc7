package call

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// DefaultScanCalls is how many calls a Scanner has under way at once unless told otherwise.
const DefaultScanCalls = 4

// SegmentsPerCall is how many segments of the table a call works off one after the other. Segments are of different
// sizes: with more of them than calls, none is left over at the end that everyone waits for.
const SegmentsPerCall = 4

// ScanClient is the part of the SDK's client that a Scanner works with.
type ScanClient interface {
	Querier
	dynamodb.ScanAPIClient
	dynamodb.DescribeTableAPIClient
}
