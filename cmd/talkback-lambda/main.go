// Command talkback-lambda is a function of AWS Lambda that counts comments, from the events that
// Lambda makes of the table's stream. The environment variable TALKBACK_TABLE names the table; the
// default is comments. Region and credentials are those of the function.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/stream/function"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	client, err := call.NewAWSClient(context.Background())
	if err != nil {
		logger.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	table, err := tableName(os.LookupEnv("TALKBACK_TABLE"))
	if err != nil {
		logger.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start(function.New(counts.NewCounter(client, table), leases.NewLeases(client, table), logger).Invoke)
}

// tableName returns the table that the variable names, or the default one if it is not set.
func tableName(value string, set bool) (string, error) {
	switch {
	case !set:
		return layout.DefaultTable, nil
	case strings.TrimSpace(value) == "":
		return "", errors.New("TALKBACK_TABLE is set but empty: give it the table's name, or unset it for " + layout.DefaultTable)
	}
	return value, nil
}
