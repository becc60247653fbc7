package call

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Querier is the part of the SDK's client that reads lists.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}
