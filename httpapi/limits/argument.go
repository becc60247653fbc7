package limits

// list is the elements of an argument. One value where a list is wanted is a list of that value.
func list(argument any) []any {
	switch v := argument.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{argument}
}

// number is the value of an argument of the type Int, as it stands in the text or as variables were read.
func number(argument any) (n int, ok bool) {
	value, ok := argument.(int64)
	return int(value), ok
}
