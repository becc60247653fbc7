package httpapi

// This file reads requests: the body of a POST and the parameters of a GET become the same
// members. It is strict where two readers could understand a request differently: names in another
// case, members given twice, text after the end. Otherwise a proxy could check something different
// from what is executed. Unknown members are ignored.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"
)

// readParams reads the operation of a GET or a POST, and refuses other methods. maxQuery bounds the
// text of the operation and the parameters of a GET, in bytes.
func readParams(r *http.Request, maxQuery int) (*graphql.RawParams, *refusal) {
	given := members{RawParams: graphql.RawParams{Headers: r.Header}}
	var refused *refusal
	switch r.Method {
	case http.MethodGet:
		refused = given.readAddress(r.URL, maxQuery)
	case http.MethodPost:
		if refused = checkContentType(r.Header); refused == nil {
			refused = readJSON(bytes.TrimPrefix(requestOf(r.Context()).body, []byte("\ufeff")), given.readBody)
		}
	default:
		refused = badMethod
	}
	switch {
	case refused != nil:
		return nil, refused
	case given.Query != "" && given.documentID != "": // graphql-ws sends an empty query beside an id
		return nil, queryAndID
	case !given.hasQuery && given.documentID == "" && given.Extensions[persistedQuery] == nil:
		return nil, noQuery
	case len(given.Query) > maxQuery:
		return nil, queryTooLong.with(maxQuery)
	case !wholePairs(given.Query):
		return nil, halfPair
	}
	known := requestOf(r.Context())
	known.documentID = given.documentID
	position, whole := given.Extensions["position"].(string)
	if whole {
		known.extensions.position = &position
	} else {
		known.extensions.noPosition = given.Extensions["position"] != nil
	}
	if hashed := given.Extensions[persistedQuery]; hashed != nil {
		object, _ := hashed.(map[string]any)
		known.extensions.hash, _ = object["sha256Hash"].(string)
		known.extensions.noHash = known.extensions.hash == "" || fmt.Sprint(object["version"]) != "1"
	}
	given.Extensions = nil
	return &given.RawParams, nil
}

// members are the members of a request that were read so far.
type members struct {
	graphql.RawParams
	names      []string
	hasQuery   bool
	documentID string
}

// readAddress reads the members of a GET: texts as they are, objects as JSON. It ignores empty
// parameters, which forms send for fields that are not filled in.
func (m *members) readAddress(address *url.URL, maxQuery int) *refusal {
	if len(address.RawQuery) > maxQuery {
		return addressTooBig.with(maxQuery)
	}
	parameters, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return badParameters
	}
	for name, values := range parameters {
		for _, text := range values {
			if text == "" && name != "query" {
				continue
			}
			if refused := m.readParameter(name, text); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// readParameter reads a member of a GET. Broken JSON counts as a text, which variables and
// extensions must not be.
func (m *members) readParameter(name, text string) *refusal {
	if !utf8.ValidString(text) {
		return badText
	}
	if name != "variables" && name != "extensions" {
		return m.set(name, text)
	}
	var value any
	switch refused := readJSON([]byte(text), func(in jsonReader) (err error) {
		value, err = in.value()
		return err
	}); refused {
	case nil:
		return m.set(name, value)
	case badJSON:
		return m.set(name, text)
	default:
		return refused
	}
}

// readBody reads the members of a POST.
func (m *members) readBody(in jsonReader) error {
	switch in.PeekKind() {
	case '[':
		return batch
	case '{':
		return in.object(func(name string) error {
			if !slices.Contains(memberNames, name) {
				return in.SkipValue()
			}
			value, err := in.value()
			if err != nil {
				return err
			}
			if refused := m.set(name, value); refused != nil {
				return refused
			}
			return nil
		})
	}
	if _, err := in.value(); err != nil {
		return err
	}
	return badShape
}

var memberNames = []string{"query", "operationName", "variables", "extensions", "documentId"}

// set sets a member unless it is unknown. It refuses one that is given twice, or of another type.
// Null counts as absent.
func (m *members) set(name string, value any) *refusal {
	switch {
	case !slices.Contains(memberNames, name):
		return nil
	case slices.Contains(m.names, name):
		return givenTwice.with(name)
	}
	m.names = append(m.names, name)
	ok, want := false, "an object or null"
	switch name {
	case "query":
		m.Query, m.hasQuery = value.(string)
		ok, want = m.hasQuery, "a string"
	case "operationName":
		m.OperationName, ok = value.(string)
		want = "a string or null"
	case "documentId":
		m.documentID, ok = value.(string)
		want = "a string or null"
	case "variables":
		m.Variables, ok = value.(map[string]any)
	case "extensions":
		m.Extensions, ok = value.(map[string]any)
	}
	if !ok && value != nil {
		return badMember.with(name, want)
	}
	return nil
}

// jsonReader reads JSON value by value. It refuses bytes that are not UTF-8, and halves of
// surrogate pairs. Of two members of an object with one name, [jsonReader.object] passes
// both on.
type jsonReader struct{ *jsontext.Decoder }

// maxNesting is how many objects and lists package jsontext reads inside each other.
const maxNesting = 10_000

// readJSON calls read for one JSON value, and refuses anything after it. The errors of read are
// those of the reader, or refusals.
func readJSON(text []byte, read func(jsonReader) error) *refusal {
	in := jsonReader{jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
	err := read(in)
	if err == nil {
		if _, err = in.ReadToken(); err == io.EOF {
			return nil
		}
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused
	case in.StackDepth() >= maxNesting:
		return nestedTooDeep
	case !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return badJSON
	case !utf8.Valid(text):
		return badText
	}
	return halfPair
}

// object reads an object. The function reads the value of each member.
func (r jsonReader) object(member func(name string) error) error {
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for r.PeekKind() != '}' {
		name, err := r.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// value reads any value, in which no object has a name twice. Numbers stay as they are written, so
// that large ones keep their digits.
func (r jsonReader) value() (any, error) {
	switch r.PeekKind() {
	case '{':
		object := map[string]any{}
		return object, r.object(func(name string) (err error) {
			if _, there := object[name]; there {
				return nameTwice
			}
			object[name], err = r.value()
			return err
		})
	case '[':
		list := []any{}
		_, err := r.ReadToken()
		for err == nil && r.PeekKind() != ']' {
			var element any
			element, err = r.value()
			list = append(list, element)
		}
		if err == nil {
			_, err = r.ReadToken()
		}
		return list, err
	}
	token, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}
