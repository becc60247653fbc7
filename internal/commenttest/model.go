// Package commenttest holds what tests of comments share: a model that answers questions the dumb way, and random
// comments that are hard on those who answer them cleverly. Only tests import it.
package commenttest

import (
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
)

// Model keeps comments in memory and answers by looking at every one. What it says is right because there is nothing in
// it that could be wrong.
type Model struct {
	mu       sync.Mutex
	comments []comment.Comment
}

// NewModel makes a model of some comments.
func NewModel(comments ...comment.Comment) *Model {
	return &Model{comments: slices.Clone(comments)}
}

// Insert adds a comment.
func (m *Model) Insert(c comment.Comment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.comments = append(m.comments, c)
}

// Replace puts a comment in the place of the one with its id.
func (m *Model) Replace(c comment.Comment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.comments {
		if m.comments[i].ID == c.ID {
			m.comments[i] = c
		}
	}
}

// All is every comment, in no particular order.
func (m *Model) All() []comment.Comment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.comments)
}

// Delete removes the comment of an id.
func (m *Model) Delete(id comment.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.comments = slices.DeleteFunc(m.comments, func(c comment.Comment) bool { return c.ID == id })
}

// List is the whole list that a question asks for a part of.
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
		if order == comment.NewestFirst {
			a, b = b, a
		}
		return a.ID.Position().Compare(b.ID.Position())
	})
	return out
}
