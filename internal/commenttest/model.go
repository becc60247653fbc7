// Package commenttest provides shared parts of comments' tests: a model that answers queries by
// checking every comment, and random comments that are hard for a real implementation. Only tests
// import it.
package commenttest

import (
	"cmp"
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
)

// Model holds comments in memory and answers queries by looking at every one. It is too simple to
// be wrong.
type Model struct {
	mu       sync.Mutex
	comments []comment.Comment
}

// NewModel returns a model with some comments.
func NewModel(comments ...comment.Comment) *Model {
	return &Model{comments: slices.Clone(comments)}
}

// Insert adds a comment.
func (m *Model) Insert(c comment.Comment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.comments = append(m.comments, c)
}

// Replace replaces the comment with the same ID.
func (m *Model) Replace(c comment.Comment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.comments {
		if m.comments[i].ID == c.ID {
			m.comments[i] = c
		}
	}
}

// All returns every comment, in no particular order.
func (m *Model) All() []comment.Comment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.comments)
}

// Delete removes the comment with an ID.
func (m *Model) Delete(id comment.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.comments = slices.DeleteFunc(m.comments, func(c comment.Comment) bool { return c.ID == id })
}

// List returns a whole list; a query asks for a part of it.
func (m *Model) List(product string, filter comment.Filter, order comment.Order) []comment.Comment {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []comment.Comment
	for _, c := range m.comments {
		if c.ProductID == product && filter.Allows(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b comment.Comment) int {
		older := a.ID.Position().Compare(b.ID.Position())
		switch order {
		case comment.OldestFirst:
			return older
		case comment.HighestRated:
			return cmp.Or(b.Rating-a.Rating, -older)
		case comment.LowestRated:
			return cmp.Or(a.Rating-b.Rating, -older)
		case comment.MostHelpful:
			return cmp.Or(max(0, b.AllVotes().Net())-max(0, a.AllVotes().Net()), -older)
		}
		return -older
	})
	return out
}
