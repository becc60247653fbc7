package limits

import "github.com/vektah/gqlparser/v2/gqlerror"

// checkVariables refuses variables that would cost too much to coerce. What their types are is not known yet, and a
// custom scalar takes whatever it is given.
func (l Limits) checkVariables(variables map[string]any) *gqlerror.Error {
	if err := atMost(TooManyVariables, len(variables), l.Variables); err != nil {
		return err
	}
	var s valueSize
	for _, value := range variables {
		s.measure(value, 0, l.ValueDepth)
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
	depth   int // lists and objects inside each other, counted up to one more than is allowed
	longest int // elements of the longest list
}

func (s *valueSize) measure(value any, depth, maxDepth int) {
	s.values++
	s.depth = max(s.depth, depth)
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case []any:
		s.longest = max(s.longest, len(v))
		s.depth = max(s.depth, depth+1)
		for _, element := range v {
			s.measure(element, depth+1, maxDepth)
		}
	case map[string]any:
		s.depth = max(s.depth, depth+1)
		for _, element := range v {
			s.measure(element, depth+1, maxDepth)
		}
	}
}
