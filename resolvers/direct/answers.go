package direct

import "github.com/talkback/talkback/graph"

// The objects of a compiled operation with what was resolved for them.
type (
	queryAnswer   struct{ values }
	productAnswer struct {
		id string
		values
	}
	connectionAnswer struct {
		page *graph.CommentConnection
		values
	}
)

var (
	queryAnswers = &object[queryAnswer]{
		types: []string{"Query"},
		fields: map[string]field[*queryAnswer]{
			"product": resolved("Product", []string{"id"}, func(q *queryAnswer) values { return q.values }),
		},
	}

	productAnswers = &object[productAnswer]{
		types: []string{"Product", "Node"},
		fields: map[string]field[*productAnswer]{
			"id": text("ID", func(p *productAnswer) string { return p.id }),
			"comments": resolved("CommentConnection", []string{"filter", "order", "first", "after", "last", "before", "settledOnly", "page"},
				func(p *productAnswer) values { return p.values }),
			"stats": resolved("CommentStats", []string{"lang"}, func(p *productAnswer) values { return p.values }),
		},
	}

	connectionAnswers = &object[connectionAnswer]{
		types: connections.types,
		fields: map[string]field[*connectionAnswer]{
			"edges":      within(connections.fields["edges"], pageOf),
			"nodes":      within(connections.fields["nodes"], pageOf),
			"pageInfo":   within(connections.fields["pageInfo"], pageOf),
			"totalCount": resolved("Int", nil, func(c *connectionAnswer) values { return c.values }),
			"stats":      resolved("CommentStats", nil, func(c *connectionAnswer) values { return c.values }),
		},
	}
)

func pageOf(c *connectionAnswer) *graph.CommentConnection { return c.page }
