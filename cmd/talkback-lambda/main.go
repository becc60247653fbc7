// Command talkback-lambda counts comments as a function of AWS Lambda, by the events that Lambda makes of the table's
// stream. The environment variable TALKBACK_TABLE names the table; region and credentials are those of the function.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/stream/function"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	client, err := dynamo.NewAWSClient(context.Background())
	if err != nil {
		logger.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	table := os.Getenv("TALKBACK_TABLE")
	if table == "" {
		table = dynamo.DefaultTable
	}
	lambda.Start(function.New(dynamo.NewCounter(client, table), dynamo.NewLeases(client, table), logger).Invoke)
}
