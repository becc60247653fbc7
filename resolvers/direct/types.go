package direct

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// The types of the schema whose fields need no resolver.
var (
	connections = &object[graph.CommentConnection]{
		types: []string{"CommentConnection"},
		fields: map[string]field[*graph.CommentConnection]{
			"edges":    several(edges, func(c *graph.CommentConnection) []*graph.CommentEdge { return c.Edges }),
			"nodes":    several(comments, func(c *graph.CommentConnection) []*comment.Comment { return c.Nodes }),
			"pageInfo": nested(pageInfos, func(c *graph.CommentConnection) *graph.PageInfo { return c.PageInfo }),
		},
	}

	edges = &object[graph.CommentEdge]{
		types: []string{"CommentEdge"},
		fields: map[string]field[*graph.CommentEdge]{
			"cursor": code("String", func(e *graph.CommentEdge) string { return e.Cursor }),
			"node":   nested(comments, func(e *graph.CommentEdge) *comment.Comment { return e.Node }),
		},
	}

	comments = &object[comment.Comment]{
		types: []string{"Comment", "Node", "_Entity"},
		fields: map[string]field[*comment.Comment]{
			"id":        code("ID", func(c *comment.Comment) string { return string(c.ID) }),
			"rating":    number(func(c *comment.Comment) int { return c.Rating }),
			"language":  code("Language", func(c *comment.Comment) string { return string(c.Language) }),
			"title":     optionalText("String", func(c *comment.Comment) *string { return c.Title }),
			"text":      text("String", func(c *comment.Comment) string { return c.Text }),
			"author":    nested(authors, func(c *comment.Comment) *comment.Author { return &c.Author }),
			"createdAt": moment(func(c *comment.Comment) time.Time { return c.CreatedAt() }),
			"updatedAt": optionalMoment(func(c *comment.Comment) *time.Time { return c.UpdatedAt }),
			"version":   number(func(c *comment.Comment) int { return c.Version }),
			"status":    code("CommentStatus", func(c *comment.Comment) string { return c.Status.String() }),
			"votes":     nested(votes, func(c *comment.Comment) *comment.Votes { return c.ShownVotes() }),
			"reply":     optional(replies, func(c *comment.Comment) *comment.Reply { return c.Reply }),

			"isVerifiedPurchase": flag(func(c *comment.Comment) bool { return c.Verified }),
			"media":              allowed(several(media, func(c *comment.Comment) []*comment.Media { return graph.Pointers(c.Media) })),
		},
	}

	media = &object[comment.Media]{
		types: []string{"Media"},
		fields: map[string]field[*comment.Media]{
			"url":    {typ: "String!", writer: addressOf},
			"kind":   code("MediaKind", func(m *comment.Media) string { return string(m.Kind()) }),
			"width":  optionalNumber(func(m *comment.Media) *int { return m.WidthOrNil() }),
			"height": optionalNumber(func(m *comment.Media) *int { return m.HeightOrNil() }),
			"alt":    text("String", func(m *comment.Media) string { return m.Alt }),
		},
	}

	authors = &object[comment.Author]{
		types: []string{"Author", "_Entity"},
		fields: map[string]field[*comment.Author]{
			"id":         text("ID", func(a *comment.Author) string { return a.GlobalID() }),
			"customerId": optionalText("ID", func(a *comment.Author) *string { return a.CustomerID() }),
			"name":       text("String", func(a *comment.Author) string { return a.Name }),
		},
	}

	votes = &object[comment.Votes]{
		types: []string{"Votes"},
		fields: map[string]field[*comment.Votes]{
			"helpful":    number(func(v *comment.Votes) int { return v.Helpful }),
			"notHelpful": number(func(v *comment.Votes) int { return v.NotHelpful }),
		},
	}
	replies = &object[comment.Reply]{
		types: []string{"Reply"},
		fields: map[string]field[*comment.Reply]{
			"text":      text("String", func(r *comment.Reply) string { return r.Text }),
			"name":      text("String", func(r *comment.Reply) string { return r.Name }),
			"createdAt": moment(func(r *comment.Reply) time.Time { return r.CreatedAt }),
			"updatedAt": optionalMoment(func(r *comment.Reply) *time.Time { return r.UpdatedAt }),
			"version":   number(func(r *comment.Reply) int { return r.Version }),
		},
	}

	pageInfos = &object[graph.PageInfo]{
		types: []string{"PageInfo"},
		fields: map[string]field[*graph.PageInfo]{
			"hasNextPage":     flag(func(p *graph.PageInfo) bool { return p.HasNextPage }),
			"hasPreviousPage": flag(func(p *graph.PageInfo) bool { return p.HasPreviousPage }),
			"startCursor":     optionalText("String", func(p *graph.PageInfo) *string { return p.StartCursor }),
			"endCursor":       optionalText("String", func(p *graph.PageInfo) *string { return p.EndCursor }),
		},
	}

	viewers = &object[comment.Viewer]{
		types: []string{"Viewer"},
		fields: map[string]field[*comment.Viewer]{
			"customerId":            optionalText("ID", func(v *comment.Viewer) *string { return v.CustomerID }),
			"isModerator":           flag(func(v *comment.Viewer) bool { return v.IsModerator() }),
			"mayWrite":              flag(func(v *comment.Viewer) bool { return v.MayWrite() }),
			"mayWriteAsAnyCustomer": flag(func(v *comment.Viewer) bool { return v.MayWriteAsAnyCustomer() }),
			"mayModerate":           flag(func(v *comment.Viewer) bool { return v.MayModerate() }),
			"mayReply":              flag(func(v *comment.Viewer) bool { return v.MayReply() }),
			"cannotWriteReason": optionalText("CannotWriteReason", func(v *comment.Viewer) *string {
				return (*string)(v.CannotWriteReason)
			}),
			"cannotVoteReason": optionalText("CannotVoteReason", func(v *comment.Viewer) *string {
				return (*string)(v.CannotVoteReason())
			}),
		},
	}

	counts = &object[comment.Statistics]{
		types: []string{"CommentStats"},
		fields: map[string]field[*comment.Statistics]{
			"total":     number(func(s *comment.Statistics) int { return s.Total() }),
			"average":   leaf("Float", appendAverage),
			"ratings":   several(ratings, func(s *comment.Statistics) []*comment.RatingCount { return graph.Pointers(s.Ratings()) }),
			"verified":  optionalNumber(func(s *comment.Statistics) *int { return s.Verified() }),
			"withMedia": optionalNumber(func(s *comment.Statistics) *int { return s.WithMedia() }),
			"asOf":      optionalMoment(func(s *comment.Statistics) *time.Time { return s.AsOf }),
		},
	}

	ratings = &object[comment.RatingCount]{
		types: []string{"RatingCount"},
		fields: map[string]field[*comment.RatingCount]{
			"rating": number(func(r *comment.RatingCount) int { return r.Rating }),
			"count":  number(func(r *comment.RatingCount) int { return r.Count }),
		},
	}

	languages = &object[comment.LanguageCount]{
		types: []string{"LanguageCount"},
		fields: map[string]field[*comment.LanguageCount]{
			"language": text("Language", func(l *comment.LanguageCount) string { return string(l.Language) }),
			"count":    number(func(l *comment.LanguageCount) int { return l.Count }),
		},
	}
)

// addressOf returns a writer of the address of media.
func addressOf(operation operation, _ graphql.CollectedField) (writer[*comment.Media], bool) {
	return writer[*comment.Media]{
		texts: func(m *comment.Media) int { return len(operation.base) + len(m.Path) },
		write: func(out []byte, m *comment.Media) []byte { return appendText(out, operation.base.Address(*m)) },
	}, true
}

// allowed returns the field media. It writes an empty list if no prefix of addresses is configured.
func allowed(media field[*comment.Comment]) field[*comment.Comment] {
	return field[*comment.Comment]{typ: media.typ, writer: func(operation operation, asked graphql.CollectedField) (writer[*comment.Comment], bool) {
		if operation.base == "" {
			return writer[*comment.Comment]{write: func(out []byte, _ *comment.Comment) []byte { return append(out, "[]"...) }}, true
		}
		return media.writer(operation, asked)
	}}
}

func appendAverage(out []byte, s *comment.Statistics) []byte {
	mean, any := s.Average()
	if !any {
		return append(out, null...)
	}
	return strconv.AppendFloat(out, mean, 'g', -1, 64)
}

// Value is a value that writes itself. It takes the place of what a resolver returned: gqlgen
// accepts any [graphql.Marshaler] there.
type Value struct {
	size  int
	write func(out []byte) []byte
}

// valueOf returns the Value that writes of with p.
func valueOf[T any](p writer[T], of T) Value {
	return Value{size: p.size(of), write: func(out []byte) []byte { return p.write(out, of) }}
}

// Size returns the length of the texts in bytes, a lower bound of what MarshalGQL writes. Texts are
// most of it.
func (v Value) Size() int { return v.size }

// MarshalGQL implements [graphql.Marshaler].
func (v Value) MarshalGQL(w io.Writer) {
	var out []byte
	if buffer, ok := w.(*bytes.Buffer); ok { // gqlgen's own buffer, written in place
		buffer.Grow(2 * v.size)
		out = buffer.AvailableBuffer()
	}
	_, _ = w.Write(v.write(out)) // a buffer returns no error
}

// oneOf returns a Value of one object, or the object itself if it is nil or has to be resolved.
func oneOf[T any](ctx context.Context, base comment.MediaBase, of *object[T], one *T) any {
	if one == nil {
		return one
	}
	part, plain := writerHere(ctx, base, of)
	if !plain {
		return one
	}
	return valueOf(part, one)
}

// allOf returns a Value of a list, or the list itself if its elements have to be resolved. None of
// them is nil.
func allOf[T any](ctx context.Context, base comment.MediaBase, of *object[T], list []*T) any {
	part, plain := writerHere(ctx, base, of)
	if !plain {
		return list
	}
	return valueOf(listOf(part), list)
}

// writerHere returns a writer of the selections of the field that is being resolved. It leaves a
// field that may hold several types to gqlgen, which chooses the fragments.
func writerHere[T any](ctx context.Context, base comment.MediaBase, of *object[T]) (p writer[*T], plain bool) {
	field := graphql.GetFieldContext(ctx).Field
	if field.Definition.Type.Name() != of.name() {
		return writer[*T]{}, false
	}
	return of.writer(operation{graphql.GetOperationContext(ctx), base}, field.Selections)
}
