package httpapi

// This file reads requests: the body of a POST and the parameters of a GET become the same four
// members. It is strict where two readers could understand a request differently: names in another
// case, members given twice, text after the end. Otherwise a proxy could check something different
// from what is executed. Unknown members are ignored.

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	return params, nil
}

func readMembers(r *http.Request, maxQuery int) (members, *refusal) {
	if r.Method == http.MethodGet {
		return readAddress(r, maxQuery)
	}
	return readBody(r)
}

// readBody reads the members of a POST.
func readBody(r *http.Request) (given members, refused *refusal) {
	if refused := checkContentType(r.Header); refused != nil {
		return given, refused
	}
	body := requestOf(r.Context()).body
	if !utf8.Valid(body) {
		return given, badText
	}
	return readObject(bytes.TrimPrefix(body, byteOrderMark))
}

// readAddress reads the members of a GET: texts as they are, objects as JSON. It ignores empty
// parameters, which forms send for fields that are not filled in.
func readAddress(r *http.Request, maxQuery int) (given members, refused *refusal) {
	if len(r.URL.RawQuery) > maxQuery {
		return given, addressTooBig.with(maxQuery)
	}
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return given, badParameters
	}
	for name, values := range parameters {
		for _, value := range values {
			if !utf8.ValidString(value) {
				return given, badText
			}
			if value == "" && name != "query" {
				continue
			}
			if refused := given.add([]byte(name), asJSON(name, value)); refused != nil {
				return given, refused
			}
		}
	}
	return given, nil
}

// asJSON returns a parameter as the member of a body.
func asJSON(name, value string) json.RawMessage {
	if (name == "variables" || name == "extensions") && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	} // else it is as good as a text, which these must not be
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return quoted
}

// params checks the types of the members. Null counts as absent, except for the query.
func (m *members) params() (*graphql.RawParams, *refusal) {
	if m.query == nil || string(m.query) == "null" {
		return nil, noQuery
	}
	var params graphql.RawParams
	return &params, cmp.Or(
		decode(&params.Query, "query", m.query, textOf, "a string"),
		decode(&params.OperationName, "operationName", m.operationName, textOf, "a string or null"),
		decode(&params.Variables, "variables", m.variables, objectOf, "an object or null"),
		decode(&params.Extensions, "extensions", m.extensions, objectOf, "an object or null"),
	)
}

// decode sets a parameter to what is read from a member, unless that is absent.
func decode[T any](to *T, name string, raw json.RawMessage, read func([]byte) (T, bool), want string) *refusal {
	switch {
	case raw == nil || isNull(raw):
		return nil
	case bytes.Contains(raw, numberEscape) && surrogate.HalfInJSON(string(raw)):
		return halfPair
	}
	value, ok := read(raw)
	if !ok {
		return badMember.with(name, want)
	}
	*to = value
	return nil
}

// numberEscape begins an escape of a character by its number.
var numberEscape = []byte(`\u`)

// isNull reports whether valid JSON is null.
func isNull(value []byte) bool { return trimSpace(value)[0] == 'n' }
