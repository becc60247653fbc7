package call

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyauth "github.com/aws/smithy-go/auth"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// frame is what requests of an operation have in common: where they go, their headers, and for
// which region and service they are signed. The SDK's client makes it: it prepares a call, and
// capture keeps that instead of signing it. So the SDK's rules of endpoints hold, which depend on
// the account of the credentials, and so do its headers.
type frame struct {
	account    string
	url        url.URL
	signed     http.Header // headers that the signature is to cover
	unsigned   http.Header // all others
	added      int         // how many headers a request has beside those
	properties smithy.Properties
}

// addedHeaders is how many headers each request adds: two of its call and attempt, its date and its
// signature. With temporary credentials it adds their token.
const addedHeaders = 4

// toSign returns the header of a request as it is signed. It has room for what is added.
func (f *frame) toSign() http.Header {
	header := make(http.Header, len(f.signed)+len(f.unsigned)+f.added)
	maps.Copy(header, f.signed)
	return header
}

// needsSignature reports whether a signature has to cover a header. The signer adds the host and the
// length. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func needsSignature(name string) bool {
	return name == "Content-Type" || strings.HasPrefix(name, "X-Amz-")
}

// Headers that differ with every call or attempt.
const (
	invocationHeader = "Amz-Sdk-Invocation-Id"
	attemptHeader    = "Amz-Sdk-Request"
)

// capture is an authentication scheme that keeps the request that it should sign, and ends the
// call.
type capture struct {
	id       string
	identity smithyauth.Identity
	frame    *frame
}

var errCaptured = errors.New("the request was only prepared")

// SchemeID implements [smithyhttp.AuthScheme].
func (c *capture) SchemeID() string { return c.id }

// IdentityResolver implements [smithyhttp.AuthScheme].
func (c *capture) IdentityResolver(smithyauth.IdentityResolverOptions) smithyauth.IdentityResolver {
	return c
}

// GetIdentity implements [smithyauth.IdentityResolver].
func (c *capture) GetIdentity(context.Context, smithy.Properties) (smithyauth.Identity, error) {
	return c.identity, nil
}

// Signer implements [smithyhttp.AuthScheme].
func (c *capture) Signer() smithyhttp.Signer { return c }

// SignRequest implements [smithyhttp.Signer].
func (c *capture) SignRequest(_ context.Context, request *smithyhttp.Request, _ smithyauth.Identity, properties smithy.Properties) error {
	c.frame = &frame{url: *request.URL, signed: http.Header{}, unsigned: http.Header{}, properties: properties}
	for name, values := range request.Header {
		switch {
		case name == invocationHeader, name == attemptHeader:
		case needsSignature(name):
			c.frame.signed[name] = slices.Clone(values)
		default:
			c.frame.unsigned[name] = slices.Clone(values)
		}
	}
	return errCaptured
}
