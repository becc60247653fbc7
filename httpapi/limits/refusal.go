package limits

import (
	"fmt"
	"math"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Code is the extensions.code of a request that was refused for its size.
type Code string

// The codes, one for each limit or switch: a closed list. Their messages are in texts.
const (
	TooManyTokens         Code = "TOO_MANY_TOKENS"
	NestedTooDeep         Code = "NESTED_TOO_DEEP"
	NameTooLong           Code = "NAME_TOO_LONG"
	TooManyOperations     Code = "TOO_MANY_OPERATIONS"
	TooManyFragments      Code = "TOO_MANY_FRAGMENTS"
	TooDeep               Code = "TOO_DEEP"
	TooManyFields         Code = "TOO_MANY_FIELDS"
	SelectionTooLong      Code = "SELECTION_TOO_LONG"
	TooManyRootFields     Code = "TOO_MANY_ROOT_FIELDS"
	TooManyAliases        Code = "TOO_MANY_ALIASES"
	TooManyIntrospections Code = "TOO_MANY_INTROSPECTIONS"
	TooManyOverlaps       Code = "TOO_MANY_OVERLAPS"
	TooManyDirectives     Code = "TOO_MANY_DIRECTIVES"
	ValueTooDeep          Code = "VALUE_TOO_DEEP"
	ListTooLong           Code = "LIST_TOO_LONG"
	TooManyVariables      Code = "TOO_MANY_VARIABLES"
	VariablesTooLarge     Code = "VARIABLES_TOO_LARGE"
	TooComplex            Code = "TOO_COMPLEX"
	AnswerTooLarge        Code = "ANSWER_TOO_LARGE"
	TooManyErrors         Code = "TOO_MANY_ERRORS"
	IntrospectionIsOff    Code = "INTROSPECTION_OFF"
	AnswerTooManyBytes    Code = "ANSWER_TOO_MANY_BYTES"
	EventReads            Code = "EVENT_READS"
)

// Advice that several limits share.
const (
	splitIt             = "split it into several requests"
	askForFewer         = "ask for fewer, or in several requests"
	sayItWithoutNesting = "say the same with less nesting"
)

// texts are the messages of the codes: the value, the limit, what to do.
var texts = map[Code]string{
	TooManyTokens:         "the query has %d tokens, at most %d are served: pass values as variables, or " + splitIt,
	NestedTooDeep:         "the query opens %d brackets inside each other, at most %d are served: " + sayItWithoutNesting,
	NameTooLong:           "the query holds a name of %d bytes, at most %d are served: choose shorter names",
	TooManyOperations:     "the document has %d operations, at most %d are served: send only the one that is to be run",
	TooManyFragments:      "the document has %d fragments, at most %d are served: send only those that are used",
	TooDeep:               "the query has %d fields inside each other, at most %d are served: fetch the inner ones by node(id:) in a request of their own",
	TooManyFields:         "the query has %d fields and fragments as its fragments expand, at most %d are served: " + askForFewer,
	SelectionTooLong:      "the query has %d fields and fragments between two braces, at most %d are served: " + askForFewer,
	TooManyRootFields:     "the operation has %d fields of its own, at most %d are served: use products(ids:) or nodes(ids:), or " + splitIt,
	TooManyAliases:        "the query has %d aliases as its fragments expand, at most %d are served: use products(ids:) or nodes(ids:), or " + splitIt,
	TooManyIntrospections: "the query asks %d times about the schema, at most %d are served: ask once, and keep the answer",
	TooManyOverlaps:       "the query asks for fields again in the same place, %d pairs of them, at most %d are served: ask for each field once",
	TooManyDirectives:     "the query has %d directives in one place, at most %d are served: one @include or @skip is enough",
	ValueTooDeep:          "a value has %d lists and objects inside each other, at most %d are served: " + sayItWithoutNesting,
	ListTooLong:           "a list has %d elements, at most %d are served: send several requests",
	TooManyVariables:      "there are %d variables, at most %d are served: use fewer, such as one that is a list",
	VariablesTooLarge:     "the variables hold %d values, at most %d are served: " + splitIt,
	TooComplex:            "the operation may cost %d read units, at most %d are served: ask for smaller pages, fewer languages and ratings, or in several requests",
	AnswerTooLarge:        "the answer may hold %d values, at most %d are served: ask for smaller pages or fewer fields",
	AnswerTooManyBytes:    "the answer has %d bytes or more, at most %d are served: ask for smaller pages, or for fewer texts",
	TooManyErrors:         "there are %d errors, of which at most %d are shown: correct these first",
}

// refuse returns the error of an exceeded limit.
func refuse(code Code, value, limit int) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf(texts[code], value, limit),
		Extensions: map[string]any{"code": string(code), "value": value, "limit": limit},
	}
}

// atMost returns an error if the value exceeds the limit.
func atMost(code Code, value, limit int) *gqlerror.Error {
	if value <= limit {
		return nil
	}
	return refuse(code, value, limit)
}

// most is where counts stop growing. A count above it is refused whatever the limit is.
const most = math.MaxInt32

// capped returns a count, or most if it is larger.
func capped(n int) int { return min(n, most) }

// ceiling rounds an estimate up, to at most most.
func ceiling(x float64) int { return int(math.Ceil(min(x, most))) }
