package limits

import (
	"cmp"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
)

// size has the measures of a query's text, taken before it is parsed.
type size struct {
	tokens  int
	nesting int // most brackets open at once
	name    int // bytes of the longest name
}

// scan measures a text by its tokens. It uses the lexer of the parser, so that both agree about
// strings, block strings and comments. It counts a bracket as open exactly while the parser is
// inside it. The parser stops at the first closing bracket that does not match; what is counted
// after it does not matter.
func scan(text string) size {
	var s size
	open := 0
	reader := lexer.New(&ast.Source{Input: text})
	for {
		token, err := reader.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return s
		}
		s.tokens++
		switch token.Kind {
		case lexer.BraceL, lexer.BracketL, lexer.ParenL:
			open++
			s.nesting = max(s.nesting, open)
		case lexer.BraceR, lexer.BracketR, lexer.ParenR:
			open--
		case lexer.Name:
			s.name = max(s.name, len(token.Value))
		}
	}
}

// CheckVariables refuses variables that would cost too much to coerce. Their types are not known
// yet, and a custom scalar accepts any value.
func (l Limits) CheckVariables(variables map[string]any) *gqlerror.Error {
	if err := atMost(TooManyVariables, len(variables), l.Variables); err != nil {
		return err
	}
	var s valueSize
	for _, value := range variables {
		s.measure(value, 0)
	}
	return cmp.Or(
		atMost(ValueTooDeep, s.depth, l.ValueDepth),
		atMost(ListTooLong, s.longest, l.ListLength),
		atMost(VariablesTooLarge, s.values, l.VariableValues),
	)
}

// valueSize is the size of decoded JSON.
type valueSize struct {
	values  int
	depth   int // of nested lists and objects
	longest int // elements of the longest list
}

// measure adds a value that is nested in depth lists and objects. JSON decoding allows 10,000 of
// them.
func (s *valueSize) measure(value any, depth int) {
	s.values++
	switch v := value.(type) {
	case []any:
		s.depth, s.longest = max(s.depth, depth+1), max(s.longest, len(v))
		for _, element := range v {
			s.measure(element, depth+1)
		}
	case map[string]any:
		s.depth = max(s.depth, depth+1)
		for _, element := range v {
			s.measure(element, depth+1)
		}
	}
}
