package call

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// direct is an HTTP client that calls its transport and nothing else. It follows no redirect, so a
// signature stays with the host it was made for. It sends the head and the body of a request in one
// write.
type direct struct{ transport http.RoundTripper }

// directly returns an HTTP client of the SDK as direct. Others are returned as they are.
func directly(client dynamodb.HTTPClient) dynamodb.HTTPClient {
	buildable, ok := client.(*awshttp.BuildableClient)
	if !ok {
		return client
	}
	return direct{buildable.Freeze().(*http.Client).Transport}
}

// Do implements [dynamodb.HTTPClient].
func (d direct) Do(request *http.Request) (*http.Response, error) {
	// net/http sends a body of a type that it knows to be in memory together with the head. The SDK's own
	// body takes a second write, and an engine may answer the first. With GetBody, net/http sends a request
	// again if an idle connection turns out to be closed.
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
