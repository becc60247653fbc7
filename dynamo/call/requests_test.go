package call

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
)

// What a request says of itself, and where it goes, is the same in whatever way it is made. All
// requests of a call have an invocation id in common.
func TestRequests(t *testing.T) {
	for _, setting := range settings {
		var hosts string
		for _, operation := range operations {
			var model []http1
			for i, way := range ways {
				withPeer(t, func(t *testing.T, p *peer) {
					p.answer = func(r *received) bool { return p.says(r, 500, "{}") }
					options := p.options()
					setting.set(&options)
					p.region = options.Region
					client := way.open(options)
					for range 2 {
						ask(t.Context(), client, operation)
						time.Sleep(time.Hour)
					}
					calls, _, writes := p.seen()
					if writes != len(calls) {
						t.Errorf("%s by %s: %d writes for %d requests", operation, way.name, writes, len(calls))
					}
					hosts = calls[len(calls)-1].Host
					if i == 0 {
						model = describe(calls)
					} else if diff := cmp.Diff(model, describe(calls), cmp.AllowUnexported(http1{})); diff != "" {
						t.Errorf("%s, %s: the requests of the SDK (-) and of %s (+) differ:\n%s", setting.host, operation, way.name, diff)
					}
				})
			}
		}
		if hosts != setting.host {
			t.Errorf("%s is asked, want %s", hosts, setting.host)
		}
	}
}

// settings are those that say which host is asked.
var settings = []struct {
	host string
	set  func(*dynamodb.Options)
}{
	{peerHost, func(*dynamodb.Options) {}},
	{peerHost, func(o *dynamodb.Options) { o.AppID = "shop" }},
	{peerHost, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://" + peerHost + "/a b/") }},
	{"dynamodb.eu-west-1.amazonaws.com", func(o *dynamodb.Options) { o.Region = "eu-west-1"; inTheCloud(o) }},
	{"dynamodb.cn-north-1.amazonaws.com.cn", func(o *dynamodb.Options) { o.Region = "cn-north-1"; inTheCloud(o) }},
	{"dynamodb-fips.us-east-1.amazonaws.com", func(o *dynamodb.Options) {
		inTheCloud(o)
		o.EndpointOptions.UseFIPSEndpoint = aws.FIPSEndpointStateEnabled
	}},
	{"dynamodb.us-east-1.api.aws", func(o *dynamodb.Options) {
		inTheCloud(o)
		o.EndpointOptions.UseDualStackEndpoint = aws.DualStackEndpointStateEnabled
	}},
	{"222222222222.ddb.us-east-1.amazonaws.com", func(o *dynamodb.Options) { // the second call is of another account
		inTheCloud(o)
		o.AccountIDEndpointMode, o.Credentials = aws.AccountIDEndpointModePreferred, &accounts{}
	}},
}

// inTheCloud leaves the host to the SDK. The peer does not speak TLS.
func inTheCloud(o *dynamodb.Options) {
	o.BaseEndpoint, o.EndpointOptions.DisableHTTPS = nil, true
}

// accounts are credentials of an account for a minute, and then of another.
type accounts struct{ first time.Time }

// Retrieve implements [aws.CredentialsProvider].
func (a *accounts) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := keys("one").Retrieve(ctx)
	if a.first.IsZero() {
		a.first = time.Now()
	}
	if c.AccountID = "111111111111"; time.Since(a.first) > time.Minute {
		c.AccountID = "222222222222"
	}
	return c, err
}

// http1 is what two ways must say alike of a request. Values that differ by their nature, such as
// the signature, are left out, and so is the order of members.
type http1 struct {
	line   string
	fields map[string]string
	body   string
}

func describe(calls []*received) (out []http1) {
	ids := map[string]string{}
	for _, r := range calls {
		fields := map[string]string{}
		for name := range r.Header {
			fields[name] = strings.Join(r.Header.Values(name), ", ")
		}
		id := fields["Amz-Sdk-Invocation-Id"]
		if ids[id] == "" {
			ids[id] = strings.Repeat("i", len(ids)+1)
		}
		fields["Amz-Sdk-Invocation-Id"] = ids[id]
		_, signed, _, _ := authorization(fields["Authorization"])
		fields["Authorization"] = strings.Join(slices.DeleteFunc(signed, optional), ";")
		fields["X-Amz-Date"] = ""
		out = append(out, http1{line: r.Method + " " + r.Host + r.RequestURI + " " + r.Proto, fields: fields, body: sorted(r.body)})
	}
	return out
}

// sorted is JSON with its members in order.
func sorted(raw []byte) string {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err.Error()
	}
	out, _ := json.Marshal(value) // it was JSON
	return string(out)
}
