package resolvers

import "github.com/talkback/talkback/comment"

// list is a whole list of comments, to which cursors belong.
type list struct {
	product string
	filter  comment.Filter // normalized
	order   comment.Order
}

// listOf returns the list that the arguments of a field name.
func listOf(product string, filter *comment.Filter, order *comment.Order) (list, error) {
	l := list{product: product, order: comment.NewestFirst}
	if order != nil {
		l.order = *order
	}
	if filter == nil {
		return l, nil
	}
	normalized, err := filter.Normalize()
	l.filter = normalized
	return l, err
}

// query returns the query for a slice of the list.
func (l list) query(slice comment.Slice) comment.Query {
	return comment.Query{Product: l.product, Filter: l.filter, Order: l.order, Slice: slice}
}
