package limits

import "github.com/vektah/gqlparser/v2/gqlerror"

// checkVariables refuses variables that would cost too much to coerce. What their types are is not
// known yet, and a custom scalar takes whatever it is given.
func (l Limits) checkVariables(variables map[string]any) *gqlerror.Error {
	if err := atMost(TooManyVariables, len(variables), l.Variables); err != nil {
		return err
	}
	var s valueSize
	for _, value := range variables {
		s.measure(value, 0)
	}
	return first(
		atMost(ValueTooDeep, s.depth, l.ValueDepth),
		atMost(ListTooLong, s.longest, l.ListLength),
		atMost(VariablesTooLarge, s.values, l.VariableValues),
	)
}

// valueSize is what decoded JSON measures.
type valueSize struct {
	values  int
	depth   int // lists and objects inside each other
	longest int // elements of the longest list
}

// measure adds a value that stands inside so many lists and objects. JSON itself goes no deeper
// than 10,000 of them.
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
