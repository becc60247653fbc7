package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// refusal is the answer to a request that never becomes an operation. It has the form of a GraphQL
// error, so that clients read all errors in one way. Its status tells proxies the same.
type refusal struct {
	status  int
	code    string
	message string // may have verbs, which with fills in
	header  string // name of a further header, empty for none
	value   string // the value of that header
	reason  string // which limit of the server refuses, a word; empty for a fault of the request
}

// The table of all refusals. Package resolvers has the codes of errors in fields.
var (
	badEnd        = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "the body ended early, or its chunks cannot be read: send all of it"}
	badJSON       = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `the body is not JSON in UTF-8: send one object such as {"query": "{ __typename }"}`}
	badText       = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "the request is not UTF-8: encode it as UTF-8"}
	halfPair      = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `the request has half of a surrogate pair, such as \uD83D alone: send both halves, or the character itself`}
	badShape      = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `the body is JSON, but not an object: send one such as {"query": "{ __typename }"}`}
	badParameters = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "the address cannot be read: percent-encode its parameters"}
	badMember     = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `%q must be %s`}
	givenTwice    = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `%q is given more than once: give it once`}
	nameTwice     = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "a name is given more than once in one object: give each name once"}
	nestedTooDeep = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "values are nested too deep to be read: nest them less"}
	noQuery       = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `there is no operation: send its text as "query", or the id of a trusted document as "documentId"; /playground is the place to try some`}
	queryAndID    = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: `there are a "query" and a "documentId": send one of the two`}
	notUpgraded   = &refusal{status: http.StatusBadRequest, code: "BAD_REQUEST", message: "this request for a WebSocket has no header Upgrade, which proxies drop by default: have yours pass on Upgrade and Connection, by HTTP/1.1"}
	batch         = &refusal{status: http.StatusBadRequest, code: "BATCH_NOT_ALLOWED", message: "the body is a list, and lists of operations are not taken: send one request for each, side by side, or one operation with several fields"}

	crossSite = &refusal{status: http.StatusForbidden, code: "CSRF_REFUSED", message: "a page of another site sent this: open the address directly, or allow the page's origin by --cors-origin"}

	badMethod     = &refusal{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", message: "this method is not served here: use POST, or GET for queries", header: "Allow", value: methods}
	changeByGET   = &refusal{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", message: "GET is for queries only: send this operation by POST", header: "Allow", value: http.MethodPost}
	needsStream   = &refusal{status: http.StatusNotAcceptable, code: "SUBSCRIPTION_NEEDS_STREAM", message: "a subscription is answered by a stream: open a WebSocket with the subprotocol graphql-transport-ws, or accept text/event-stream, or multipart/mixed;subscriptionSpec=1.0"}
	bodyTimeout   = &refusal{status: http.StatusRequestTimeout, code: "BAD_REQUEST", message: "the body did not arrive in time: send it again at once, or over a faster line"}
	bodyTooLarge  = &refusal{status: http.StatusRequestEntityTooLarge, code: "BODY_TOO_LARGE", message: "the body is larger than %d bytes: ask for less at a time, and send characters in UTF-8 instead of \\u escapes"}
	queryTooLong  = &refusal{status: http.StatusRequestEntityTooLarge, code: "QUERY_TOO_LONG", message: `the text of "query" is longer than %d bytes: put values into variables, or ask for less at a time`}
	addressTooBig = &refusal{status: http.StatusRequestURITooLong, code: "QUERY_TOO_LONG", message: "the parameters of the address are longer than %d bytes: use POST"}

	manyFields = &refusal{status: http.StatusRequestHeaderFieldsTooLarge, code: "TOO_MANY_HEADER_FIELDS", message: "the request has more than %d header fields: send fewer"}

	badType     = &refusal{status: http.StatusUnsupportedMediaType, code: "UNSUPPORTED_MEDIA_TYPE", message: "the body must be JSON, and say so: send Content-Type: application/json", header: "Accept-Post", value: acceptPost}
	badCharset  = &refusal{status: http.StatusUnsupportedMediaType, code: "UNSUPPORTED_MEDIA_TYPE", message: "the body must be UTF-8: encode it as UTF-8, and omit the charset", header: "Accept-Post", value: acceptPost}
	badEncoding = &refusal{status: http.StatusUnsupportedMediaType, code: "UNSUPPORTED_MEDIA_TYPE", message: "the body must not be compressed: send it as it is", header: "Accept-Encoding", value: "identity"}

	noSubscriptions   = &refusal{status: http.StatusNotFound, code: "NO_SUBSCRIPTIONS", message: "this server has no subscriptions: run it with --max-subscriptions, or ask again every few seconds"}
	manySubscriptions = &refusal{status: http.StatusServiceUnavailable, code: "TOO_MANY_SUBSCRIPTIONS", message: "this server has reached its limit of subscriptions, which is %d: try again later", header: "Retry-After", value: "30", reason: "subscriptions"}
	clientFollows     = &refusal{status: http.StatusTooManyRequests, code: "TOO_MANY_SUBSCRIPTIONS", message: "this client has reached its limit of %d subscriptions or connections for them: end some first", reason: "client-subscriptions"}

	clientReads  = &refusal{status: http.StatusTooManyRequests, code: "RATE_LIMITED", message: "this client has used up its read units for now: send the request again in %d s, and ask for less at a time, such as smaller pages", reason: "client-reads"}
	clientCost   = &refusal{status: http.StatusTooManyRequests, code: "RATE_LIMITED", message: "this client has %d read units left for now, and the operation may cost %d: send it again in %d s, or ask for less, such as smaller pages", reason: "client-reads"}
	clientWrites = &refusal{status: http.StatusTooManyRequests, code: "RATE_LIMITED", message: "this client has made the %d writes that it may make at a time: send the request again in %d s", reason: "client-writes"}

	notReady      = &refusal{status: http.StatusServiceUnavailable, code: "UNAVAILABLE", message: "not ready: %s", header: "Retry-After", value: "1"}
	overloaded    = &refusal{status: http.StatusServiceUnavailable, code: "OVERLOADED", message: "too many requests are under way: try again in a second", header: "Retry-After", value: "1", reason: "limit"}
	tooSlow       = &refusal{status: http.StatusServiceUnavailable, code: "OVERLOADED", message: "too many requests are arriving, and this one arrives slowly: send it again in a second", header: "Retry-After", value: "1", reason: "arriving"}
	unreadAnswers = &refusal{status: http.StatusServiceUnavailable, code: "OVERLOADED", message: "this connection has too many answers to read: read them, then ask again", header: "Retry-After", value: "1", reason: "unread"}
)

// retryAfter is the time after which clients that were refused for load may ask again.
const retryAfter = time.Second

const (
	methods    = "GET, HEAD, POST, OPTIONS"
	acceptPost = jsonType
)

// Error implements error.
func (f *refusal) Error() string { return f.message }

// with returns the refusal with values for the verbs of its message. They are names and bounds of
// this server, never input of the client.
func (f *refusal) with(values ...any) *refusal {
	filled := *f
	filled.message = fmt.Sprintf(f.message, values...)
	return &filled
}

// after returns the refusal with the time after which the same request may succeed. Its seconds
// come last in the message.
func (f *refusal) after(wait time.Duration, values ...any) *refusal {
	s := seconds(wait)
	filled := f.with(append(values, s)...)
	filled.header, filled.value = "Retry-After", strconv.Itoa(s)
	return filled
}

// graphQL returns the refusal as an error of GraphQL.
func (f *refusal) graphQL() *gqlerror.Error {
	return &gqlerror.Error{Message: f.message, Extensions: map[string]any{"code": f.code}}
}

// seconds rounds a time up to whole seconds, 1 at least.
func seconds(t time.Duration) int { return max(1, int(math.Ceil(t.Seconds()))) }

// write answers with the refusal, in the content type that was set before.
func (f *refusal) write(w http.ResponseWriter) {
	if f.header != "" {
		w.Header().Set(f.header, f.value)
	}
	noteRefusal(w, f.code, f.reason)
	w.WriteHeader(f.status)
	_, _ = w.Write(mustJSON(map[string]gqlerror.List{"errors": {f.graphQL()}})) // a client that went away needs no answer
}

// mustJSON encodes a value of this service, which JSON can always hold.
func mustJSON(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return out
}
