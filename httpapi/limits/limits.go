// Package limits bounds what a request may cost, each step before it happens: the text before it is
// parsed, the document before it is validated, variables before they are coerced, reads before the
// first one, and the answer while it is built. Limits are the bounds. Guard is the extension of the
// GraphQL server that applies them.
package limits

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Limits are the bounds of one operation. All are at least 1. The struct tags define the flags of
// the same meaning, and say what each bounds. The transport bounds the bytes of body and text
// beforehand.
//
// The defaults come from two operations. The largest one that the explorer sends is its
// introspection query: 2 KB, fewer than 200 tokens, 15 deep, 240 fields and fragments as they
// expand. A real page is 20 products with 3 comments each, beside a page of 100 comments. See
// docs/design/limits.md.
type Limits struct {
	// Tokens bounds the tokens of the text, comments included.
	Tokens int `help:"Tokens of a query's text (default: ${default})." placeholder:"N" default:"1000"`
	// Nesting bounds how many brackets of any kind are open at once in the text. The parser
	// recurses for each.
	Nesting int `help:"Brackets open at once in a query's text (default: ${default})." placeholder:"N" default:"32"`
	// NameBytes bounds each name in the text, in bytes. Answers and errors repeat names, often many
	// times.
	NameBytes int `help:"Bytes of a name in a query (default: ${default})." placeholder:"N" default:"128"`

	Operations int `help:"Operations of a document (default: ${default})." placeholder:"N" default:"10"`
	Fragments  int `help:"Fragments of a document (default: ${default})." placeholder:"N" default:"30"`
	Depth      int `help:"Depth of nested fields, through fragments (default: ${default})." placeholder:"N" default:"15"`
	// Fields and Aliases are those of all operations together. Those of a fragment count each time
	// that it is spread.
	Fields          int `help:"Fields and fragments of a document, as its fragments expand (default: ${default})." placeholder:"N" default:"500"`
	SelectionFields int `help:"Fields and fragments between one pair of braces (default: ${default})." placeholder:"N" default:"60"`
	// RootFields are counted through fragments.
	RootFields int `help:"Root fields of an operation (default: ${default})." placeholder:"N" default:"20"`
	Aliases    int `help:"Aliases of a document, as its fragments expand (default: ${default})." placeholder:"N" default:"30"`
	// Introspections are the fields __schema and __type of all operations together. Explorers send
	// one.
	Introspections int `help:"Introspection fields of a document (default: ${default})." placeholder:"N" default:"5"`
	// Overlaps are compared by validation, each pair.
	Overlaps   int `help:"Pairs of fields with the same name in the same place (default: ${default})." placeholder:"N" default:"2000"`
	Directives int `help:"Directives in one place (default: ${default})." placeholder:"N" default:"5"`
	ValueDepth int `help:"Depth of nested lists and objects, in a query or its variables (default: ${default})." placeholder:"N" default:"8"`
	// ListLength is that of the schema's lists, which take at most 100.
	ListLength int `help:"Elements of a list, in a query or its variables (default: ${default})." placeholder:"N" default:"100"`

	// Variables bounds the variables that an operation declares, and those that a request sends.
	Variables int `help:"Variables of an operation (default: ${default})." placeholder:"N" default:"30"`
	// VariableValues include those in lists and objects.
	VariableValues int `help:"Values in all variables together (default: ${default})." placeholder:"N" default:"1000"`

	// ReadUnits bounds what an operation may read, in read capacity units (half a unit for each
	// started 4 KB), as estimated before anything is read.
	ReadUnits    int `help:"Read units of an operation, as estimated beforehand (default: ${default})." placeholder:"N" default:"200"`
	AnswerValues int `help:"Values of an answer, as estimated beforehand (default: ${default})." placeholder:"N" default:"40000"`
	// AnswerBytes are those of the data, counted while it is built.
	AnswerBytes int `help:"Bytes of an answer (default: ${default})." placeholder:"N" default:"8388608"`
	// TextBytes are counted as they are read, compressed or not, as they are expanded, and as they are
	// answered.
	TextBytes        int `help:"Bytes of comments that an operation holds, as read, expanded and answered (default: ${default})." placeholder:"N" default:"25165824"`
	ProcessTextBytes int `help:"Bytes of comments that all operations together hold (default: ${default})." placeholder:"N" default:"67108864"`
	// Errors bounds the errors of an answer. One more says how many were left out.
	Errors     int `help:"Errors of an answer (default: ${default})." placeholder:"N" default:"20"`
	ErrorBytes int `help:"Bytes of an error's message (default: ${default})." placeholder:"N" default:"400"`
}

// Default returns the default limits, which the flags have too.
func Default() (l Limits) {
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		limit, err := strconv.ParseInt(v.Type().Field(i).Tag.Get("default"), 10, 64)
		if err != nil {
			panic(err) // every limit has a default
		}
		v.Field(i).SetInt(limit)
	}
	return l
}

// Validate returns an error that names the first limit that would refuse everything.
func (l Limits) Validate() error {
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if v.Field(i).Int() < 1 {
			return fmt.Errorf("%s must be at least 1, not %d: with less, no request is served", flagOf(v.Type().Field(i).Name), v.Field(i).Int())
		}
	}
	return nil
}

var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)

// flagOf returns the flag of a limit by the name of its field.
func flagOf(field string) string {
	return "--max-" + strings.ToLower(wordEnd.ReplaceAllString(field, "$1-$2"))
}
