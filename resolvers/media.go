package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// mediaResolver resolves the pictures and videos of comments and of their edits. There are none
// while the server has no prefix for their addresses.
type mediaResolver struct{ base comment.MediaBase }

func (r mediaResolver) of(all []comment.Media) []*comment.Media {
	if r.base == "" {
		return []*comment.Media{}
	}
	return graph.Pointers(all)
}

// URL returns the address.
func (r mediaResolver) URL(_ context.Context, m *comment.Media) (string, error) {
	return r.base.Address(*m), nil
}

type commentResolver struct{ mediaResolver }

// Media returns the pictures and videos of a comment.
func (r commentResolver) Media(_ context.Context, c *comment.Comment) ([]*comment.Media, error) {
	return r.of(c.Media), nil
}

type heldEditResolver struct{ mediaResolver }

// Media returns the pictures and videos of an edit.
func (r heldEditResolver) Media(_ context.Context, edit *comment.HeldEdit) ([]*comment.Media, error) {
	return r.of(edit.Media), nil
}
