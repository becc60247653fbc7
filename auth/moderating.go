package auth

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// Desk shows moderators the queue, and the history of a comment and of its author. Both fields are
// required. It is safe for use by many goroutines.
type Desk struct {
	Store      Store
	Authorizer Authorizer
}

// Queue returns a page of the comments that wait, for moderators.
func (d *Desk) Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error) {
	return moderated(ctx, d, func() (comment.QueuePage, error) { return d.Store.Queue(ctx, q) })
}

// Pending returns how many comments wait, for moderators.
func (d *Desk) Pending(ctx context.Context) (int, error) {
	return moderated(ctx, d, func() (int, error) { return d.Store.Pending(ctx) })
}

// Moderate returns an error unless the caller is a moderator.
func (d *Desk) Moderate(ctx context.Context) error {
	_, err := moderator(ctx, d.Authorizer)
	return err
}

// Audit returns the latest decisions about a comment, for moderators.
func (d *Desk) Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error) {
	return moderated(ctx, d, func() ([]comment.Decision, error) { return d.Store.Audit(ctx, id) })
}

// Reports returns the reports of a comment, for moderators.
func (d *Desk) Reports(ctx context.Context, id comment.ID) ([]comment.Report, error) {
	return moderated(ctx, d, func() ([]comment.Report, error) { return d.Store.Reports(ctx, id) })
}

// CommentsBy returns a summary of a customer's comments, for moderators.
func (d *Desk) CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error) {
	return moderated(ctx, d, func() (comment.CustomerComments, error) { return d.Store.CommentsBy(ctx, customer) })
}

// moderated calls read if the caller is a moderator.
func moderated[T any](ctx context.Context, d *Desk, read func() (T, error)) (answer T, err error) {
	if err := d.Moderate(ctx); err != nil {
		return answer, err
	}
	return read()
}

// moderator returns the caller, and an error unless it is a moderator.
func moderator(ctx context.Context, who Authorizer) (comment.Viewer, error) {
	viewer, err := who.Identify(ctx)
	if err == nil && !viewer.MayModerate() {
		err = comment.Errorf(comment.Forbidden, "only moderators may do this: send a moderator's token")
	}
	return viewer, err
}

// Judge decides whether others see a comment, for callers who may. Both fields are required. It is
// safe for use by many goroutines.
type Judge struct {
	Store      Store
	Authorizer Authorizer
}

// Decide approves or rejects a version of a comment, for moderators. To decide the same again changes
// nothing.
func (j *Judge) Decide(ctx context.Context, v comment.Verdict) (comment.Comment, []comment.Problem, error) {
	viewer, err := moderator(ctx, j.Authorizer)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	if problems := v.Problems(); problems != nil {
		return comment.Comment{}, problems, nil
	}
	return outcome(j.decide(ctx, viewer, v, func(before comment.Comment) (comment.Comment, error) {
		if v.Reason == nil {
			return moderation.Approve(before, v.Version)
		}
		return moderation.Reject(before, v.Version, *v.Reason)
	}))
}

// Withdraw takes a comment back, for its author: nobody else sees it any more. An edit submits it
// again.
func (j *Judge) Withdraw(ctx context.Context, id string, version int) (comment.Comment, []comment.Problem, error) {
	viewer, err := j.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	return outcome(j.decide(ctx, viewer, comment.Verdict{ID: id, Version: version}, func(before comment.Comment) (comment.Comment, error) {
		switch err := viewer.CheckAuthor(before.Author); {
		case err == nil:
			return moderation.Withdraw(before, version)
		case !viewer.Sees(before):
			return before, comment.NoComment(before.ID)
		default:
			return before, err
		}
	}))
}

// decide makes a decision about the current comment.
func (j *Judge) decide(ctx context.Context, viewer comment.Viewer, v comment.Verdict, of func(comment.Comment) (comment.Comment, error)) (comment.Comment, error) {
	id, err := comment.ParseID(v.ID)
	if err != nil {
		return comment.Comment{}, err
	}
	position := newPosition()
	return again(func() (comment.Comment, error) {
		before, err := j.Store.Comment(ctx, id)
		if err != nil {
			return before, err
		}
		after, err := of(before)
		if err != nil || after.Same(before) {
			return after, problemIn(err)
		}
		return after, j.Store.Decide(ctx, before, after, comment.Decision{
			CommentID: id, Position: position, By: viewer.CustomerID,
			From: before.Status, To: after.Status, Version: v.Version, Reason: v.Reason, Note: v.Note,
		})
	})
}

// ErasureStore erases authors.
type ErasureStore interface {
	// Start asks for the erasure of an author, unless one is under way, and returns it.
	Start(ctx context.Context, author comment.Author) (comment.Erasure, error)
	// Status returns the latest erasure of an author, false if there was none.
	Status(ctx context.Context, author comment.Author) (now comment.Erasure, found bool, err error)
}

// Eraser erases customers, for moderators. Both fields are required. It is safe for use by many
// goroutines.
type Eraser struct {
	Store      ErasureStore
	Authorizer Authorizer
}

// Erase requests the erasure of all data about a customer.
func (e *Eraser) Erase(ctx context.Context, customer string) (comment.Erasure, []comment.Problem, error) {
	if _, err := moderator(ctx, e.Authorizer); err != nil {
		return comment.Erasure{}, nil, err
	}
	author := comment.Author{ID: customer}
	if problems := author.ProblemOfID("customerId"); problems != nil {
		return comment.Erasure{}, problems, nil
	}
	erasure, err := e.Store.Start(ctx, author)
	return erasure, nil, err
}

// Erasure returns the latest erasure of a customer, nil if there was none.
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
