package command

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/dynamo/call"
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

// Credentials that expire while a command runs are not better in a moment, as those of a server's
// role are.
func TestExpiredCredentials(t *testing.T) {
	refused := &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "Scan", Err: &smithy.GenericAPIError{Code: "ExpiredTokenException"}}
	err := fmt.Errorf("the export stopped (%w); run it again", call.Wrap(refused, "Scan segment 2 of 16"))
	const want = "the export stopped (the table cannot be asked right now: Scan segment 2 of 16: the credentials have expired: log in again, or give others (ExpiredTokenException of Scan)); run it again"
	if said := plainly(err, slog.New(slog.DiscardHandler)); said != want {
		t.Errorf("the error is %q, want %q", said, want)
	}
}

// The cure of too few file descriptors stands in place of another one, and of nothing else.
func TestOutOfFiles(t *testing.T) {
	const cure = "; raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)"
	for text, want := range map[string]string{
		"the file cannot be opened: %w":                                          "the file cannot be opened: too many open files" + cure,
		"the file cannot be read (open f: %w): give one that you may read":       "the file cannot be read (open f: too many open files)" + cure,
		"the import stopped: %w: see the file\n3 rows = 3 written\nRun it again": "the import stopped: too many open files" + cure + "\n3 rows = 3 written\nRun it again",
	} {
		var said strings.Builder
		report(fmt.Errorf(text, syscall.EMFILE), Terminal{Err: &said, Logger: slog.New(slog.DiscardHandler)})
		if said.String() != "talkback: "+want+"\n" {
			t.Errorf("it says %q, want %q", &said, want)
		}
	}
}

// Once an engine has been away for some calls, the SDK no longer tries again, and says so beside
// the failure of the call. People get the failure alone.
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
