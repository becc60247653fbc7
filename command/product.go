package command

import "github.com/talkback/talkback/comment"

// noProduct returns the error that a product has no comments.
func noProduct(id string) error {
	return comment.Errorf(comment.NotFound, "there is no comment of product %q in the table: check the id, whose case matters", id)
}
