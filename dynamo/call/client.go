// Package call makes calls to DynamoDB by the AWS SDK. It has the settings of the SDK's client,
// verified answers, hedged reads, parallel calls and retries. It gives errors of the SDK a kind,
// and reports calls to metrics and traces.
package call

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Retries, connections and timeouts. The SDK's defaults wait up to two seconds before the first
// retry, keep 10 idle connections and have no timeout for answers. That suits batch work, but not a
// page for which a user waits.
const (
	maxAttempts     = 3
	firstBackoff    = 25 * time.Millisecond
	maxBackoff      = 250 * time.Millisecond
	idleConnections = 256
	headerTimeout   = 5 * time.Second
	dialTimeout     = time.Second
	findCredentials = 5 * time.Second
)

// localRegion is the region of clients of a local engine: the SDK requires one.
const localRegion = "us-east-1"

// NewLocalClient returns a client of an engine at an address, such as DynamoDB Local. Such engines
// accept any credentials: those of the environment if it has some.
func NewLocalClient(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       cmp.Or(os.Getenv("AWS_REGION"), localRegion),
		Credentials: credentials.NewStaticCredentialsProvider(
			cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), "local"),
			cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), "local"),
			os.Getenv("AWS_SESSION_TOKEN")),
		HTTPClient: directly(httpClient()),
		Retryer:    retryer(),
	}, newAnswers().of)
}

// NewAWSClient returns a client of AWS with the region and the credentials of the SDK's default
// chain. An error says what is missing and how to set it.
func NewAWSClient(ctx context.Context) (*dynamodb.Client, error) {
	// The SDK would write to standard error, between the lines of the log. Its errors say the same.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient()), config.WithRetryer(retryer), config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration cannot be used (%w): see AWS_PROFILE and AWS_REGION", err)
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
		o.HTTPClient = directly(o.HTTPClient) // not before: LoadDefaultConfig changes the transport
	}, newAnswers().of), nil
}

// CheckSettings returns an error if a client's region or credentials are damaged, such as by quotes
// or line breaks in variables, so that no call could be made.
func CheckSettings(ctx context.Context, client *dynamodb.Client) error {
	region := client.Options().Region
	for label := range strings.SplitSeq(region, ".") { // as the SDK does: engines have regions such as LOCAL
		if region != "" && (!smithyhttp.ValidHostLabel(label) || strings.Trim(label, "-") != label) {
			return fmt.Errorf("%q is not an AWS region: set AWS_REGION to one such as eu-central-1, without quotes or spaces", region)
		}
	}
	found, err := client.Options().Credentials.Retrieve(ctx)
	if err == nil && strings.ContainsFunc(found.AccessKeyID+found.SessionToken, unicode.IsControl) {
		return errors.New("the AWS credentials have a line break or another control character: set AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN without it")
	}
	return nil // whether there are credentials is for others to say
}

// Over returns a copy of a client that uses another HTTP client.
func Over(client *dynamodb.Client, http dynamodb.HTTPClient) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) { o.HTTPClient = http })
}

func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns = idleConnections
			t.MaxIdleConnsPerHost = idleConnections
			t.ResponseHeaderTimeout = headerTimeout
		})
}

// retryer keeps the SDK's token bucket, which limits retries while the table is in trouble. It also
// retries after conflicts with another write, and after an answer that was cut or damaged on its
// way, because only reads use it. Writes must know what they repeat, and turn it off by NoRetries.
// It waits for a random time below a limit that doubles with each attempt.
func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return rand.N(min(firstBackoff<<min(attempt, maxAttempts), maxBackoff)), nil
		})
		more := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if unreadable(err) || meanings[CodeOf(err)] == inTheWay {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		})
		o.Retryables = append([]retry.IsErrorRetryable{more}, o.Retryables...)
	})
}

// NoRetries turns the SDK's own retries off.
func NoRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// direct is an HTTP client that only calls its transport. It follows no redirect, so a signature
// stays with the host for which it was made. It sends the head and the body of a request in one
// write.
type direct struct{ transport http.RoundTripper }

// directly turns an HTTP client of the SDK into a direct one. It returns any other client as it is.
func directly(client dynamodb.HTTPClient) dynamodb.HTTPClient {
	buildable, ok := client.(*awshttp.BuildableClient)
	if !ok {
		return client
	}
	return direct{buildable.Freeze().(*http.Client).Transport}
}

// Do implements [dynamodb.HTTPClient].
func (d direct) Do(request *http.Request) (*http.Response, error) {
	// net/http sends head and body together if it knows the type of the body to be in memory. The
	// SDK's type takes a second write, and an engine may answer the first. With GetBody, net/http
	// resends a request if an idle connection turns out to be closed.
	if request.Body != nil && request.ContentLength > 0 && request.GetBody == nil {
		body := make([]byte, request.ContentLength)
		_, err := io.ReadFull(request.Body, body)
		if err := errors.Join(err, request.Body.Close()); err != nil {
			return nil, err
		}
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		request.Body, _ = request.GetBody() // never fails
	}
	response, err := d.transport.RoundTrip(request)
	if err != nil {
		return nil, &url.Error{Op: "Post", URL: request.URL.Redacted(), Err: err}
	}
	return response, nil
}
