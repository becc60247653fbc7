package auth

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// QueueStore lists the comments that wait.
type QueueStore interface {
	// Queue returns a page of the comments that wait, and Pending how many do.
	Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error)
	Pending(ctx context.Context) (int, error)
}

// RecordStore keeps what moderators look up before they decide.
type RecordStore interface {
	// Audit returns the latest decisions about a comment, the latest first.
	Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error)
	// Reports returns what customers reported about a comment, the latest first.
	Reports(ctx context.Context, id comment.ID) ([]comment.Report, error)
	// CommentsBy returns what a customer wrote, in every state.
	CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error)
}

// Desk shows moderators what waits for them. It is safe for use by many goroutines.
type Desk struct {
	// Store lists what waits. Required.
	Store QueueStore
	// Authorizer knows who is a moderator. Required.
	Authorizer Authorizer
}

// Queue returns a page of the comments that wait, for moderators.
func (d *Desk) Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error) {
	if _, err := moderator(ctx, d.Authorizer); err != nil {
		return comment.QueuePage{}, err
	}
	return d.Store.Queue(ctx, q)
}

// Pending returns how many comments wait, for moderators.
func (d *Desk) Pending(ctx context.Context) (int, error) {
	if _, err := moderator(ctx, d.Authorizer); err != nil {
		return 0, err
	}
	return d.Store.Pending(ctx)
}

// Moderate returns an error unless the caller is a moderator.
func (d *Desk) Moderate(ctx context.Context) error {
	_, err := moderator(ctx, d.Authorizer)
	return err
}

// Records shows moderators what is known about a comment and its author. It is safe for use by many
// goroutines.
type Records struct {
	// Store keeps the records. Required.
	Store RecordStore
	// Authorizer knows who is a moderator. Required.
	Authorizer Authorizer
}

// Audit returns the latest decisions about a comment, for moderators.
func (r *Records) Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error) {
	if _, err := moderator(ctx, r.Authorizer); err != nil {
		return nil, err
	}
	return r.Store.Audit(ctx, id)
}

// Reports returns what customers reported about a comment, for moderators.
func (r *Records) Reports(ctx context.Context, id comment.ID) ([]comment.Report, error) {
	if _, err := moderator(ctx, r.Authorizer); err != nil {
		return nil, err
	}
	return r.Store.Reports(ctx, id)
}

// CommentsBy returns what a customer wrote, for moderators.
func (r *Records) CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error) {
	if _, err := moderator(ctx, r.Authorizer); err != nil {
		return comment.CustomerComments{}, err
	}
	return r.Store.CommentsBy(ctx, customer)
}

// moderator returns the caller, and an error unless it is a moderator.
func moderator(ctx context.Context, who Authorizer) (comment.Viewer, error) {
	viewer, err := who.Identify(ctx)
	if err == nil && !viewer.MayModerate() {
		err = comment.Errorf(comment.Forbidden, "only moderators may do this: send a moderator's token")
	}
	return viewer, err
}
