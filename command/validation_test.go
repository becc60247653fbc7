package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/dynamotest"
)

// A variable with a nullable type may be used where null is not allowed, if it has a default. A
// null value then is an error of the field alone.
func TestNullWhereNoneCanBe(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	const (
		author  = `author: {id: "c", name: "C"}`
		rest    = `rating: 5, language: "en", text: "x"`
		payload = `{ comment { text } userErrors { code } }`
	)
	for _, row := range []struct{ why, query, want, refused string }{
		{"an id", `query($v: ID = "x") { product(id: $v) { id } other: product(id: "y") { id } }`, `{"product":null,"other":{"id":"y"}}`, "[product]"},
		{"a list", `query($v: [ID!] = ["x"]) { products(ids: $v) { id } }`, `null`, "[products]"},
		{"an element", `query($v: ID = "x") { products(ids: [$v, "y"]) { id } }`, `null`, "[products]"},
		{"of a filter", `query($v: Int = 5) { product(id: "x") { comments(filter: {ratings: [4, $v]}) { totalCount } } }`, `{"product":{"comments":null}}`, "[product comments]"},
		{"of the schema", `query($v: String = "Query") { __type(name: $v) { name } }`, `{"__type":null}`, "[__type]"},
		{"an input", `mutation($v: AddCommentInput = {productId: "p", ` + rest + `, ` + author + `}) { addComment(input: $v) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},
		{"a product", `mutation($v: ID = "p") { addComment(input: {productId: $v, ` + rest + `, ` + author + `}) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},
		{"a text", `mutation($v: String = "p") { addComment(input: {productId: "p", rating: 5, language: "en", text: $v, ` + author + `}) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},
		{"a rating", `mutation($v: Int = 5) { addComment(input: {productId: "p", rating: $v, language: "en", text: "", ` + author + `}) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},
		{"an author", `mutation($v: AuthorInput = {id: "c", name: "C"}) { addComment(input: {productId: "p", ` + rest + `, author: $v}) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},
		{"a customer", `mutation($v: ID = "c") { addComment(input: {productId: "p", ` + rest + `, author: {id: $v, name: "C"}}) ` + payload + ` }`, `{"addComment":null}`, "[addComment]"},

		{"can be null", `query($v: Boolean) { product(id: "x") { comments(settledOnly: $v) { totalCount } } }`, `{"product":{"comments":{"totalCount":0}}}`, ""},
		{"can be null, and has a default", `query($v: Boolean = true) { product(id: "x") { comments(settledOnly: $v) { totalCount } } }`, `{"product":{"comments":{"totalCount":0}}}`, ""},
		{"can be null, with a default", `query($v: Int = 5) { product(id: "x") { comments(first: $v) { totalCount } } }`, `{"product":{"comments":{"totalCount":0}}}`, ""},
		{"can be null within a filter", `query($v: [Int!] = 5) { product(id: "x") { comments(filter: {ratings: $v}) { totalCount } } }`, `{"product":{"comments":{"totalCount":0}}}`, ""},
	} {
		answer := a.ask(row.query, map[string]any{"v": nil})
		refused := ""
		for _, err := range answer.Errors {
			refused += fmt.Sprint(err.Path)
			if err.Extensions["code"] != "BAD_INPUT" {
				t.Errorf("%s: %s with the code %v", row.why, err.Message, err.Extensions["code"])
			}
		}
		if string(answer.Data) != row.want || refused != row.refused {
			t.Errorf("%s: %s, errors at %q, want %s and %q", row.why, answer.Data, refused, row.want, row.refused)
		}
	}
}

// Fields with one response name in one place are the same field with the same arguments. Or they
// can never be of one object and have the same shape. Otherwise one of them would stay unanswered.
func TestFieldsUnderOneName(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	for _, row := range []struct {
		why, query string
		merges     bool
	}{
		{"lists that differ", `{ products(ids: ["a"]) { id } products(ids: ["b"]) { id } }`, false},
		{"filters that differ", `{ product(id: "x") { comments(filter: {ratings: [1]}) { totalCount } comments(filter: {ratings: [5]}) { totalCount } } }`, false},
		{"a leaf and an object", `{ node(id: "x") { ... on Product { x: id } ... on Comment { x: author { id } } } }`, false},
		{"leaves of two types", `{ node(id: "x") { ... on Product { x: id } ... on Comment { x: rating } } }`, false},
		{"a field of the interface and one of an object", `{ node(id: "x") { x: id ... on Comment { x: rating } } }`, false},
		{"the same", `{ product(id: "x") { comments(filter: {ratings: [1], languages: "en"}) { totalCount } comments(filter: {languages: "en", ratings: [1]}) { totalCount } } }`, true},
		{"of two objects, in one shape", `{ node(id: "x") { ... on Product { x: id } ... on Comment { x: id } } }`, true},
	} {
		if answer := a.ask(row.query, nil); (len(answer.Errors) == 0) != row.merges {
			t.Errorf("%s: %s with the errors %v", row.why, answer.Data, answer.Errors)
		}
	}
}

// An operation that shares a fragment with another one does not use the other's variable defaults.
func TestDefaultsOfAnotherOperation(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	var added struct {
		AddComment struct{ Comment struct{ ID string } }
	}
	a.mustAsk(`mutation { addComment(input: {productId: "p", rating: 5, language: "en", title: "T", text: "x", author: {id: "c", name: "C"}}) { comment { id } } }`, nil, &added)
	const operations = `mutation A($i: ID!, $v: Int!, $t: String) { ...F } mutation B($i: ID!, $v: Int!, $t: String = "other") { ...F }
		fragment F on Mutation { editComment(input: {id: $i, version: $v, rating: 4, title: $t}) { comment { title } } }`
	for version, row := range []struct{ operation, want string }{{"A", `"title":"T"`}, {"B", `"title":"other"`}} {
		answer := post(t, a.server.URL, mustJSON(map[string]any{"query": operations, "operationName": row.operation, "variables": map[string]any{"i": added.AddComment.Comment.ID, "v": version + 1}})).body
		if !strings.Contains(answer, row.want) {
			t.Errorf("%s: %s, want %s", row.operation, answer, row.want)
		}
	}
}
