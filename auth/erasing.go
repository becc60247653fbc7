package auth

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// ErasureStore erases authors.
type ErasureStore interface {
	// Start asks for the erasure of an author, unless one is under way, and returns it.
	Start(ctx context.Context, author comment.Author) (comment.Erasure, error)
	// Status returns the erasure that was asked for last, false if there was none.
	Status(ctx context.Context, author comment.Author) (now comment.Erasure, found bool, err error)
}

// Eraser erases customers, for moderators. It is safe for use by many goroutines.
type Eraser struct {
	// Store erases. Required.
	Store ErasureStore
	// Authorizer knows who is a moderator. Required.
	Authorizer Authorizer
}

// Erase asks for the erasure of everything that is held about a customer.
func (e *Eraser) Erase(ctx context.Context, customer string) (comment.Erasure, []comment.Problem, error) {
	if _, err := moderator(ctx, e.Authorizer); err != nil {
		return comment.Erasure{}, nil, err
	}
	author := comment.Author{ID: customer}
	if err := author.CheckID(); err != nil {
		return comment.Erasure{}, []comment.Problem{{Code: comment.ProblemMalformed, Path: []string{"customerId"}, Message: comment.MessageOf(err)}}, nil
	}
	erasure, err := e.Store.Start(ctx, author)
	return erasure, nil, err
}

// Erasure returns the erasure of a customer that was asked for last, nil if there was none.
func (e *Eraser) Erasure(ctx context.Context, customer string) (*comment.Erasure, error) {
	if _, err := moderator(ctx, e.Authorizer); err != nil {
		return nil, err
	}
	author := comment.Author{ID: customer}
	if err := author.CheckID(); err != nil {
		return nil, err
	}
	erasure, found, err := e.Store.Status(ctx, author)
	if err != nil || !found {
		return nil, err
	}
	return &erasure, nil
}
