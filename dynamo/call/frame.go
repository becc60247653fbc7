package call

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"

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
	header     http.Header
	added      int // how many headers a request has beside those
	properties smithy.Properties
}

// addedHeaders is how many headers each request adds: two of its call and attempt, its date and its
// signature. With temporary credentials it adds their token.
const addedHeaders = 4

// headerOf returns the header of a request that has some of its own. It has room for what is added.
func (f *frame) headerOf(own http.Header) http.Header {
	header := make(http.Header, len(f.header)+f.added)
	maps.Copy(header, f.header)
	maps.Copy(header, own)
	return header
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
	header := request.Header.Clone()
	header.Del(invocationHeader)
	header.Del(attemptHeader)
	c.frame = &frame{url: *request.URL, header: header, properties: properties}
	return errCaptured
}
