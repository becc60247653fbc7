package direct

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
)

// operation is an operation that asks for a page of comments of one product, and perhaps for
// statistics.
type operation struct {
	product, comments graphql.CollectedField
	totals            []graphql.CollectedField // of the list
	listStats         []statistics             // of the list
	productStats      []statistics
	query             part[*queryAnswer]
	inProduct         part[*productAnswer]
	connection        part[*connectionAnswer]
}

// statistics is a field of that type.
type statistics struct {
	graphql.CollectedField
	written part[*comment.Statistics]
}

// compile returns an operation that does not depend on variables but for its arguments, nil if it is
// not of the kind that is compiled.
func compile(asked *graphql.OperationContext) *operation {
	if asked.Operation.Operation != ast.Query || lookahead.Conditional(asked) {
		return nil
	}
	c := compiler{operation: &graphql.OperationContext{Doc: asked.Doc}, plain: true}
	out := new(operation)
	out.query = compilePart(&c, queryAnswers, asked.Operation.SelectionSet)
	out.product = c.only("product", asked.Operation.SelectionSet, queryAnswers.types)
	out.inProduct = compilePart(&c, productAnswers, out.product.Selections)
	out.productStats = c.statistics(out.product.Selections, productAnswers.types)
	out.comments = c.only("comments", out.product.Selections, productAnswers.types)
	out.connection = compilePart(&c, connectionAnswers, out.comments.Selections)
	out.totals = c.named("totalCount", out.comments.Selections, connectionAnswers.types)
	out.listStats = c.statistics(out.comments.Selections, connectionAnswers.types)
	if !c.plain {
		return nil
	}
	return out
}

// compiler compiles one operation.
type compiler struct {
	operation *graphql.OperationContext // without variables
	plain     bool                      // whether all of it can be compiled so far
}

// named returns the fields of a name that a selection asks for, each under a name of its own.
func (c *compiler) named(name string, set ast.SelectionSet, types []string) (fields []graphql.CollectedField) {
	for _, field := range graphql.CollectFields(c.operation, set, types) {
		if field.Name == name {
			fields = append(fields, field)
		}
	}
	return fields
}

// only returns the one field of a name that a selection asks for.
func (c *compiler) only(name string, set ast.SelectionSet, types []string) graphql.CollectedField {
	fields := c.named(name, set, types)
	if len(fields) != 1 {
		c.plain = false
		return graphql.CollectedField{}
	}
	return fields[0]
}

// statistics returns the statistics that a selection asks for.
func (c *compiler) statistics(set ast.SelectionSet, types []string) (fields []statistics) {
	for _, field := range c.named("stats", set, types) {
		fields = append(fields, statistics{field, compilePart(c, counts, field.Selections)})
	}
	return fields
}

func compilePart[T any](c *compiler, of *object[T], set ast.SelectionSet) part[*T] {
	p, plain := of.asked(c.operation, set)
	c.plain = c.plain && plain
	return p
}
