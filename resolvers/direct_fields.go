package resolvers

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// field is a field of a type that needs no resolver. A test holds it against the schema.
type field struct {
	// get returns the value of the field, nil for null: see [writeJSON].
	get func(object, argument any) any
	// argument is the name of the only argument that get reads, empty for none. A field with other
	// arguments is left to gqlgen.
	argument string
	// takes reports whether get can handle a value of the argument. gqlgen handles others.
	takes func(argument any) bool
}

// of returns a field of a T without arguments.
func of[T any](get func(*T) any) field {
	return field{get: func(object, _ any) any { return get(object.(*T)) }}
}

// productStats is a product with its statistics.
type productStats struct {
	id    string
	stats comment.Stats
	asOf  *time.Time
}

// types are the types of the schema in lists, with their fields that need no resolver. They may
// have others.
type types map[string]map[string]field

func typesOf(base comment.MediaBase) types {
	return types{
		"CommentEdge": {
			"cursor": of(func(e *graph.CommentEdge) any { return &e.Cursor }),
			"node":   of(func(e *graph.CommentEdge) any { return e.Node }),
		},
		"Comment": {
			"id":        of(func(c *comment.Comment) any { return (*string)(&c.ID) }),
			"rating":    of(func(c *comment.Comment) any { return c.Rating }),
			"language":  of(func(c *comment.Comment) any { return (*string)(&c.Language) }),
			"title":     of(func(c *comment.Comment) any { return c.Title }),
			"text":      of(func(c *comment.Comment) any { return &c.Text }),
			"author":    of(func(c *comment.Comment) any { return &c.Author }),
			"createdAt": of(func(c *comment.Comment) any { return new(c.CreatedAt()) }),
			"updatedAt": of(func(c *comment.Comment) any { return c.UpdatedAt }),
			"version":   of(func(c *comment.Comment) any { return c.Version }),
			"status":    of(func(c *comment.Comment) any { return new(c.Status.String()) }),
			"votes":     of(func(c *comment.Comment) any { return c.ShownVotes() }),
			"reply": of(func(c *comment.Comment) any {
				if c.Reply == nil {
					return nil
				}
				return c.Reply
			}),
			"isVerifiedPurchase": of(func(c *comment.Comment) any { return c.Verified }),
			"media": of(func(c *comment.Comment) any {
				if base == "" {
					return []any{}
				}
				return anyOf(graph.Pointers(c.Media))
			}),
		},
		"Media": {
			"url":    of(func(m *comment.Media) any { return new(base.Address(*m)) }),
			"kind":   of(func(m *comment.Media) any { return new(string(m.Kind())) }),
			"width":  of(func(m *comment.Media) any { return m.WidthOrNil() }),
			"height": of(func(m *comment.Media) any { return m.HeightOrNil() }),
			"alt":    of(func(m *comment.Media) any { return &m.Alt }),
		},
		"Author": {
			"id":         of(func(a *comment.Author) any { return new(a.GlobalID()) }),
			"customerId": of(func(a *comment.Author) any { return a.CustomerID() }),
			"name":       of(func(a *comment.Author) any { return &a.Name }),
		},
		"Votes": {
			"helpful":    of(func(v *comment.Votes) any { return v.Helpful }),
			"notHelpful": of(func(v *comment.Votes) any { return v.NotHelpful }),
		},
		"Reply": {
			"text":      of(func(r *comment.Reply) any { return &r.Text }),
			"name":      of(func(r *comment.Reply) any { return &r.Name }),
			"createdAt": of(func(r *comment.Reply) any { return &r.CreatedAt }),
			"updatedAt": of(func(r *comment.Reply) any { return r.UpdatedAt }),
			"version":   of(func(r *comment.Reply) any { return r.Version }),
		},
		"Product": {
			"id": of(func(p *productStats) any { return &p.id }),
			"stats": {
				argument: "lang",
				takes: func(language any) bool {
					_, err := languages(language)
					return err == nil
				},
				get: func(p, language any) any {
					of, known := p.(*productStats), comment.Filter{}
					known.Languages, _ = languages(language)
					statistics := of.stats.Statistics(known)
					statistics.AsOf = of.asOf
					return &statistics
				},
			},
			"languages": {
				argument: "filter",
				takes:    func(filter any) bool { return filter == nil },
				get: func(p, _ any) any {
					return anyOf(graph.Pointers(p.(*productStats).stats.Languages(comment.Filter{})))
				},
			},
		},
		"CommentStats": {
			"total": of(func(s *comment.Statistics) any { return s.Total() }),
			"average": of(func(s *comment.Statistics) any {
				if mean, any := s.Average(); any {
					return mean
				}
				return nil
			}),
			"ratings":   of(func(s *comment.Statistics) any { return anyOf(graph.Pointers(s.Ratings())) }),
			"verified":  of(func(s *comment.Statistics) any { return s.Verified() }),
			"withMedia": of(func(s *comment.Statistics) any { return s.WithMedia() }),
			"asOf":      of(func(s *comment.Statistics) any { return s.AsOf }),
		},
		"RatingCount": {
			"rating": of(func(r *comment.RatingCount) any { return r.Rating }),
			"count":  of(func(r *comment.RatingCount) any { return r.Count }),
		},
		"LanguageCount": {
			"language": of(func(l *comment.LanguageCount) any { return (*string)(&l.Language) }),
			"count":    of(func(l *comment.LanguageCount) any { return l.Count }),
		},
	}
}

// languages returns the language of the argument lang, none for null.
func languages(given any) ([]comment.Language, error) {
	if given == nil {
		return nil, nil
	}
	language, err := graph.UnmarshalLanguage(given)
	return []comment.Language{language}, err
}

// anyOf returns the elements of a list of objects.
func anyOf[T any](objects []*T) []any {
	out := make([]any, len(objects))
	for i, object := range objects {
		out[i] = object
	}
	return out
}
