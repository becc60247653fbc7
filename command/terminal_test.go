package command

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// A call to S3 is not told as one to an engine.
func TestCallsToS3(t *testing.T) {
	for want, err := range map[string]error{
		"the server there is not an S3-compatible store, HTTP status 403": &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusForbidden}}},
		"S3 refused ListObjectsV2: NoSuchBucket":                          &smithy.GenericAPIError{Code: "NoSuchBucket"},
	} {
		err = &smithy.OperationError{ServiceID: "S3", OperationName: "ListObjectsV2", Err: err}
		if said := plainly(err, slog.New(slog.DiscardHandler)); said != want {
			t.Errorf("the error is %q, want %q", said, want)
		}
	}
}

// Once an engine has been away for some calls, the SDK no longer tries again, and says so beside the failure of the call.
// People get the failure alone.
func TestCallsThatAreNotTriedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	client := dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String("http://" + listener.Addr().String()), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = ratelimit.NewTokenRateLimit(0) }),
	})
	_, err = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err == nil || !strings.Contains(err.Error(), "rate limit") {
		t.Fatalf("the SDK tries again: %v", err)
	}
	if said := plainly(err, slog.New(slog.DiscardHandler)); said != "connection refused" {
		t.Errorf("the error is %q", said)
	}
}
