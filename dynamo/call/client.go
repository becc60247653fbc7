package call

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
)

// Retries, connections and timeouts. The SDK's defaults wait up to two seconds before the first
// retry, keep 10 idle connections and have no timeout for answers. That suits batch work, and not a
// page that a user waits for.
const (
	maxAttempts     = 3
	firstBackoff    = 25 * time.Millisecond
	maxBackoff      = 250 * time.Millisecond
	idleConnections = 256
	headerTimeout   = 5 * time.Second
	dialTimeout     = time.Second
	findCredentials = 5 * time.Second
	// readBuffer is the buffer of a connection, in bytes. An answer of 20 comments fits, so that it
	// is read in one call of the system. All idle connections together have 4 MB.
	readBuffer = 16 << 10
)

// localRegion is the region of clients of a local engine: the SDK requires one.
const localRegion = "us-east-1"

// NewLocalClient returns a client of an engine at an address, such as DynamoDB Local. Such engines
// accept any credentials: those of the environment if it has some.
func NewLocalClient(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       firstOf(os.Getenv("AWS_REGION"), localRegion),
		Credentials: credentials.NewStaticCredentialsProvider(
			firstOf(os.Getenv("AWS_ACCESS_KEY_ID"), "local"),
			firstOf(os.Getenv("AWS_SECRET_ACCESS_KEY"), "local"),
			os.Getenv("AWS_SESSION_TOKEN")),
		HTTPClient: newBounded(directly(httpClient())),
		Retryer:    retryer(),
	}, checked)
}

// NewAWSClient returns a client of AWS with the region and the credentials of the SDK's default
// chain. An error says what is missing and how to set it.
func NewAWSClient(ctx context.Context) (*dynamodb.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient()), config.WithRetryer(retryer))
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration cannot be used: %w", err)
	}
	if cfg.Region == "" {
		return nil, fmt.Errorf("no AWS region is set: set AWS_REGION, or a region in the profile that AWS_PROFILE names")
	}
	ctx, cancel := context.WithTimeout(ctx, findCredentials)
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role")
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = newBounded(directly(o.HTTPClient)) // not before: LoadDefaultConfig changes the transport
	}, checked), nil
}

// checked makes a client verify checksums and decode usual answers by itself.
func checked(o *dynamodb.Options) {
	o.Protocol = &protocol{o.Protocol}
	o.DisableValidateResponseChecksum = true // the SDK's own only logs a wrong one
}

// Over returns a client like another one, over another HTTP client. A copy that is made of
// [dynamodb.Client.Options] alone has the SDK's protocol instead of the client's.
func Over(client *dynamodb.Client, http dynamodb.HTTPClient) *dynamodb.Client {
	options := client.Options()
	return dynamodb.New(options, func(o *dynamodb.Options) {
		o.HTTPClient, o.Protocol = http, options.Protocol
	})
}

// InTurns returns a client like another one, whose calls wait until pass returns once the headers of
// their answers have arrived: before an answer takes room and is read. Only clients of this package
// do so.
func InTurns(client *dynamodb.Client, pass func()) *dynamodb.Client {
	b, ok := client.Options().HTTPClient.(*bounded)
	if !ok {
		return client
	}
	return Over(client, &bounded{b.under, b.small, b.large, pass})
}

func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns = idleConnections
			t.MaxIdleConnsPerHost = idleConnections
			t.ResponseHeaderTimeout = headerTimeout
			t.ReadBufferSize = readBuffer
		})
}

// retryer keeps the SDK's token bucket, which limits retries while the table is in trouble. Only
// reads have it, so it can also retry when an answer was damaged on its way. Writes must know what
// they repeat and turn it off by NoRetries.
func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
		o.Backoff = retry.BackoffDelayerFunc(backoff)
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(retryMore)}, o.Retryables...)
	})
}

// retryMore retries two kinds of errors that the SDK gives up on: answers that were cut or damaged
// on their way, and conflicts with another write.
func retryMore(err error) aws.Ternary {
	var api smithy.APIError
	if unreadable(err) || errors.As(err, &api) && meanings[api.ErrorCode()] == inTheWay {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// backoff returns a random wait below a limit that doubles with each attempt.
func backoff(attempt int, _ error) (time.Duration, error) {
	return rand.N(min(firstBackoff<<min(attempt, maxAttempts), maxBackoff)), nil
}

// onLambda reports whether this process is a function of AWS Lambda. The SDK then sends a header
// that differs with each invocation.
func onLambda() bool {
	_, is := os.LookupEnv("AWS_LAMBDA_FUNCTION_NAME")
	return is
}

func firstOf(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// NoRetries turns the SDK's own retries off.
func NoRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
