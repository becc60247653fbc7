package call

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/talkback/talkback/dynamo/layout"
)

// keeping keeps the requests that a client makes, with their bodies, and answers none.
type keeping struct {
	claiming
	requests []*http.Request
	bodies   []string
}

// Do implements [dynamodb.HTTPClient].
func (k *keeping) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	k.requests, k.bodies = append(k.requests, request), append(k.bodies, string(body))
	return k.claiming.Do(request)
}

// mustLean returns a lean client of a client.
func mustLean(tb testing.TB, client *dynamodb.Client) *LeanClient {
	tb.Helper()
	lean, ok := Lean(client, "t")
	if !ok {
		tb.Fatal("the client cannot be lean")
	}
	return lean
}

// smallQuery is an input that is written in one way only: maps are written in random order.
func smallQuery() *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String("t"), KeyConditionExpression: aws.String("A = :p"), ExpressionAttributeValues: layout.Item{":p": layout.Text("P#stand-mixer")},
	}
}

// A lean client sends what the SDK's client sends, wherever the settings and the account lead: the
// same address, headers and body, signed for the same service and region.
func TestLeanRequestIsTheSDKs(t *testing.T) {
	account := func(id string) aws.CredentialsProvider {
		return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "SECRET", SessionToken: "TOKEN", AccountID: id}, nil
		})
	}
	for name, options := range map[string]dynamodb.Options{
		"a local engine":   {Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:8000"), Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")},
		"a path":           {Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:8000/dynamo"), Credentials: account("")},
		"a region":         {Region: "eu-central-1", Credentials: account("")},
		"China":            {Region: "cn-north-1", Credentials: account("123456789012")},
		"an account":       {Region: "eu-central-1", Credentials: account("123456789012")},
		"no account's":     {Region: "eu-central-1", Credentials: account("123456789012"), AccountIDEndpointMode: aws.AccountIDEndpointModeDisabled},
		"FIPS":             {Region: "us-east-1", Credentials: account("123456789012"), EndpointOptions: dynamodb.EndpointResolverOptions{UseFIPSEndpoint: aws.FIPSEndpointStateEnabled}},
		"dual stack":       {Region: "us-east-1", Credentials: account(""), EndpointOptions: dynamodb.EndpointResolverOptions{UseDualStackEndpoint: aws.DualStackEndpointStateEnabled}},
		"the region local": {Region: "local", Credentials: account("")},
		"a name of an app": {Region: "us-east-1", Credentials: account(""), AppID: "talkback"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the same second for both
				table := &keeping{claiming: claiming{status: 200, body: "{}"}}
				options.HTTPClient = table
				options.Retryer = retryer()
				client := dynamodb.New(options)
				lean := mustLean(t, client)
				for range 2 { // the second call has the frame of the first
					for _, reader := range []Querier{client, lean} {
						if _, err := reader.Query(t.Context(), smallQuery()); err != nil {
							t.Fatal(err)
						}
					}
				}
				for i := 1; i < len(table.requests); i++ {
					sameRequest(t, table.requests[i], table.requests[0])
					if table.bodies[i] != table.bodies[0] || table.requests[i].ContentLength != int64(len(table.bodies[0])) {
						t.Errorf("the body is %q, not %q", table.bodies[i], table.bodies[0])
					}
				}
				verifySignature(t, options.Credentials, table.requests[3], table.bodies[3])
			})
		})
	}
}

// sameRequest compares a request with that of the SDK. Each call has an ID of its own.
func sameRequest(t *testing.T, got, want *http.Request) {
	t.Helper()
	comparable := func(r *http.Request) http.Header {
		header := r.Header.Clone()
		header.Del(invocationHeader)
		credential, signed, _, err := authorization(header.Get("Authorization"))
		if err != nil {
			t.Error(err)
		}
		header["Authorization"] = append(slices.DeleteFunc(signed, optional), credential)
		return header
	}
	if got.URL.String() != want.URL.String() || got.Method != want.Method || got.Host != want.Host {
		t.Errorf("%s %s %s, not %s %s %s", got.Method, got.URL, got.Host, want.Method, want.URL, want.Host)
	}
	if !reflect.DeepEqual(comparable(got), comparable(want)) {
		t.Errorf("the headers are\n%v\nnot\n%v", comparable(got), comparable(want))
	}
	if len(got.Header.Get(invocationHeader)) != len(want.Header.Get(invocationHeader)) {
		t.Errorf("the ID of the call is %q", got.Header.Get(invocationHeader))
	}
}

// verifySignature signs a request again, without what need not be signed.
func verifySignature(t *testing.T, provider aws.CredentialsProvider, request *http.Request, body string) {
	t.Helper()
	signed := request.Header.Get("Authorization")
	_, scope, _ := strings.Cut(signed, "Credential=")
	parts := strings.Split(scope, "/")
	credentials, err := provider.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	again := request.Clone(t.Context())
	again.ContentLength = 0
	again.Header.Del("Authorization")
	for name := range again.Header {
		if optional(strings.ToLower(name)) {
			again.Header.Del(name)
		}
	}
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials, again, hex.EncodeToString(sum[:]), parts[3], parts[2], time.Now()); err != nil {
		t.Fatal(err)
	}
	if again.Header.Get("Authorization") != signed {
		t.Errorf("the signature is %q, not %q", signed, again.Header.Get("Authorization"))
	}
}

// When credentials come to be of another account, the address follows.
func TestLeanFollowsTheAccount(t *testing.T) {
	account := "111111111111"
	table := &keeping{claiming: claiming{status: 200, body: "{}"}}
	lean := mustLean(t, dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", HTTPClient: table,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "SECRET", AccountID: account}, nil
		}),
	}))
	var hosts []string
	for _, account = range []string{"111111111111", "222222222222", "222222222222"} {
		if _, err := lean.Query(t.Context(), smallQuery()); err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, table.requests[len(table.requests)-1].URL.Host)
	}
	if want := []string{"111111111111.ddb.eu-central-1.amazonaws.com", "222222222222.ddb.eu-central-1.amazonaws.com", "222222222222.ddb.eu-central-1.amazonaws.com"}; !slices.Equal(hosts, want) {
		t.Errorf("%q", hosts)
	}
}

// A lean client and the client it is made of draw on one budget of retries.
func TestLeanSharesTheBudgetOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &claiming{status: 500, body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`}
		client := Over(NewLocalClient("http://table"), table)
		lean := mustLean(t, client)
		for range 1000 { // more than the budget
			_, _ = lean.Query(t.Context(), smallQuery())
		}
		table.calls = 0
		if _, err := client.Query(t.Context(), smallQuery()); err == nil || table.calls != 1 {
			t.Errorf("%d calls, %v", table.calls, err)
		}
	})
}

// What only the SDK knows how to follow, it is left to.
func TestWhatIsNotLean(t *testing.T) {
	options := NewLocalClient("http://table").Options()
	for name, change := range map[string]func(*dynamodb.Options){
		"middleware": func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, func(*middleware.Stack) error { return nil })
		},
		"logs of requests":     func(o *dynamodb.Options) { o.ClientLogMode = aws.LogRequest },
		"compressed answers":   func(o *dynamodb.Options) { o.EnableAcceptEncodingGzip = true },
		"discovered endpoints": func(o *dynamodb.Options) { o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryEnabled },
		"no credentials":       func(o *dynamodb.Options) { o.Credentials = nil },
		"anonymous":            func(o *dynamodb.Options) { o.Credentials = aws.AnonymousCredentials{} },
	} {
		if _, ok := Lean(dynamodb.New(options, change), "t"); ok {
			t.Errorf("%s: the client is lean", name)
		}
	}
	if _, ok := Lean(NewLocalClient("http://table"), "arn:aws:dynamodb:eu-central-1:123456789012:table/t"); ok {
		t.Error("the table of an ARN: the client is lean")
	}
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "f")
	if _, ok := Lean(NewLocalClient("http://table"), "t"); ok {
		t.Error("on AWS Lambda: the client is lean")
	}
}

// NoRetries makes a lean call that is not retried; other options make the call the SDK's.
func TestOptionsOfOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := &claiming{status: 500, body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`}
		lean := mustLean(t, Over(NewLocalClient("http://table"), failing))
		key := &dynamodb.GetItemInput{TableName: aws.String("t"), Key: layout.CommentKey("c")}
		if _, err := lean.GetItem(t.Context(), key, NoRetries); err == nil || failing.calls != 1 {
			t.Errorf("%d calls, %v", failing.calls, err)
		}
		other := &keeping{claiming: claiming{status: 200, body: `{"Item":{"PK":{"S":"C#c"}}}`}}
		got, err := lean.GetItem(t.Context(), key, NoRetries, func(o *dynamodb.Options) { o.HTTPClient = other })
		if err != nil || !reflect.DeepEqual(got.Item, map[string]types.AttributeValue{"PK": layout.Text("C#c")}) || len(other.requests) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	})
}
