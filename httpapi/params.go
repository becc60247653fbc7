package httpapi

// This file reads requests: the body of a POST and the parameters of a GET become the same four
// members. It is strict where two readers could understand a request differently: names in another
// case, members given twice, text after the end. Otherwise a proxy could check something different
// from what is executed. Unknown members are ignored.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/internal/surrogate"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// readParams reads the operation of a GET or a POST. maxQuery bounds the text of the operation and
// the parameters of a GET, in bytes.
func readParams(r *http.Request, maxQuery int) (*graphql.RawParams, *refusal) {
	start := graphql.Now()
	given, refused := readMembers(r, maxQuery)
	if refused != nil {
		return nil, refused
	}
	params, refused := given.params()
	if refused != nil {
		return nil, refused
	}
	if len(params.Query) > maxQuery {
		return nil, queryTooLong.with(maxQuery)
	}
	joined, ok := joinPairs(params.Query)
	if !ok {
		return nil, halfPair
	}
	params.Query = joined
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return params, nil
}

func readMembers(r *http.Request, maxQuery int) (members, *refusal) {
	if r.Method == http.MethodGet {
		return readAddress(r, maxQuery)
	}
	return readBody(r)
}

// readBody reads the members of a POST.
func readBody(r *http.Request) (members, *refusal) {
	if refused := checkContentType(r.Header); refused != nil {
		return nil, refused
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, badEnd
	}
	if !utf8.Valid(body) {
		return nil, badText
	}
	return readObject(bytes.TrimPrefix(body, byteOrderMark))
}

// readAddress reads the members of a GET: texts as they are, objects as JSON. It ignores empty
// parameters, which forms send for fields that are not filled in.
func readAddress(r *http.Request, maxQuery int) (members, *refusal) {
	if len(r.URL.RawQuery) > maxQuery {
		return nil, addressTooBig.with(maxQuery)
	}
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badParameters
	}
	given := members{}
	for name, values := range parameters {
		for _, value := range values {
			if !utf8.ValidString(value) {
				return nil, badText
			}
			if value == "" && name != "query" {
				continue
			}
			if refused := given.add(name, asJSON(name, value)); refused != nil {
				return nil, refused
			}
		}
	}
	return given, nil
}

// asJSON returns a parameter as the member of a body.
func asJSON(name, value string) json.RawMessage {
	if name == "variables" || name == "extensions" {
		return json.RawMessage(value)
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return quoted
}

// params checks the types of the members. Null counts as absent, except for the query.
func (m members) params() (*graphql.RawParams, *refusal) {
	if query := m["query"]; query == nil || string(query) == "null" {
		return nil, noQuery
	}
	var params graphql.RawParams
	for _, member := range []struct {
		name string
		into any
		want string
	}{
		{"query", &params.Query, "a string"},
		{"operationName", &params.OperationName, "a string or null"},
		{"variables", &params.Variables, "an object or null"},
		{"extensions", &params.Extensions, "an object or null"},
	} {
		raw := m[member.name]
		switch {
		case raw == nil:
		case bytes.IndexByte(raw, '\\') >= 0 && surrogate.HalfInJSON(string(raw)):
			return nil, halfPair
		case decodeWhole(raw, member.into) != nil:
			return nil, badMember.with(member.name, member.want)
		}
	}
	return &params, nil
}

var errMore = errors.New("something follows the value")

// decodeWhole decodes one JSON value with nothing after it. Numbers stay as they are written, so
// that large ones keep their digits. That needs a decoder, which is slower and not used for texts.
func decodeWhole(text []byte, into any) error {
	if _, isText := into.(*string); isText {
		return json.Unmarshal(text, into)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}
