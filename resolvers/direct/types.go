package direct

import (
	"strconv"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// The types of the schema whose fields are at hand, once their values are.
var (
	edges = &object[graph.CommentEdge]{
		name: "CommentEdge",
		fields: map[string]field[*graph.CommentEdge]{
			"cursor": text(func(e *graph.CommentEdge) string { return e.Cursor }),
			"node":   nested(comments, func(e *graph.CommentEdge) *comment.Comment { return e.Node }),
		},
	}

	comments = &object[comment.Comment]{
		name: "Comment",
		fields: map[string]field[*comment.Comment]{
			"id":        text(func(c *comment.Comment) string { return string(c.ID) }),
			"rating":    number(func(c *comment.Comment) int { return c.Rating }),
			"language":  text(func(c *comment.Comment) string { return string(c.Language) }),
			"title":     optional(func(c *comment.Comment) *string { return c.Title }),
			"text":      text(func(c *comment.Comment) string { return c.Text }),
			"author":    nested(authors, func(c *comment.Comment) *comment.Author { return &c.Author }),
			"createdAt": small(func(out []byte, c *comment.Comment) []byte { return appendMoment(out, c.CreatedAt()) }),
			"updatedAt": small(appendUpdated),
			"version":   number(func(c *comment.Comment) int { return c.Version }),
		},
	}

	authors = &object[comment.Author]{
		name: "Author",
		fields: map[string]field[*comment.Author]{
			"id":         text(func(a *comment.Author) string { return a.GlobalID() }),
			"customerId": optional(func(a *comment.Author) *string { return a.CustomerID() }),
			"name":       text(func(a *comment.Author) string { return a.Name }),
		},
	}

	pageInfos = &object[graph.PageInfo]{
		name: "PageInfo",
		fields: map[string]field[*graph.PageInfo]{
			"hasNextPage":     flag(func(p *graph.PageInfo) bool { return p.HasNextPage }),
			"hasPreviousPage": flag(func(p *graph.PageInfo) bool { return p.HasPreviousPage }),
			"startCursor":     optional(func(p *graph.PageInfo) *string { return p.StartCursor }),
			"endCursor":       optional(func(p *graph.PageInfo) *string { return p.EndCursor }),
		},
	}

	counts = &object[comment.Statistics]{
		name: "CommentStats",
		fields: map[string]field[*comment.Statistics]{
			"total":   number(func(c *comment.Statistics) int { return c.Total() }),
			"average": small(appendAverage),
			"ratings": several(ratings, rowsOf),
			"asOf":    small(func(out []byte, c *comment.Statistics) []byte { return appendOptionalMoment(out, c.AsOf) }),
		},
	}

	ratings = &object[comment.RatingCount]{
		name: "RatingCount",
		fields: map[string]field[*comment.RatingCount]{
			"rating": number(func(r *comment.RatingCount) int { return r.Rating }),
			"count":  number(func(r *comment.RatingCount) int { return r.Count }),
		},
	}
)

func appendUpdated(out []byte, c *comment.Comment) []byte {
	return appendOptionalMoment(out, c.UpdatedAt)
}

func appendOptionalMoment(out []byte, t *time.Time) []byte {
	if t == nil {
		return append(out, "null"...)
	}
	return appendMoment(out, *t)
}

func appendAverage(out []byte, c *comment.Statistics) []byte {
	mean, any := c.Average()
	if !any {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, mean, 'g', -1, 64)
}

func rowsOf(c *comment.Statistics) []*comment.RatingCount { return pointers(c.Ratings()) }

func pointers[T any](rows []T) []*T {
	out := make([]*T, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}
