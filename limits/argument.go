package limits

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// list is the elements of an argument. One value where a list is wanted is a list of that value.
func list(argument any) []any {
	switch v := argument.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	v := reflect.ValueOf(argument)
	if v.Kind() != reflect.Slice {
		return []any{argument}
	}
	out := make([]any, v.Len()) // coercion makes lists of the type of the one value that was given
	for i := range out {
		out[i] = v.Index(i).Interface()
	}
	return out
}

// number is the value of an argument of the type Int: an int64 from the text or a variable, or a number as JSON writes it,
// inside of lists and objects of variables.
func number(argument any) (n int, ok bool) {
	switch v := argument.(type) {
	case int64:
		return int(v), true
	case json.Number:
		n, err := strconv.Atoi(v.String())
		return n, err == nil
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	case float64:
		return int(v), true
	}
	return 0, false
}
