package httpapi

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// DocumentCheck returns a function that says why the text of a document could not run on a server with
// these options, whatever its variables are.
func DocumentCheck(o Options) func(text string) error {
	o = o.withDefaults()
	schema := o.Schema.Schema()
	withoutDefer(schema)
	return func(text string) error {
		text, whole := joinPairs(text)
		switch {
		case !whole:
			return halfPair
		case len(text) > o.MaxQuery:
			return fmt.Errorf("it is longer than %d bytes: raise --max-query", o.MaxQuery)
		}
		if err := o.Limits.CheckQuery(text); err != nil {
			return errors.New(err.Message)
		}
		document, err := parser.ParseQuery(&ast.Source{Input: text})
		if err != nil {
			return err
		}
		if len(document.Operations) == 0 {
			return errors.New("it has no operation")
		}
		if errs := validator.ValidateWithRules(schema, document, o.validationRules()); len(errs) > 0 {
			return errs[0]
		}
		return nil
	}
}
