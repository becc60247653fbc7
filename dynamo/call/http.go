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
