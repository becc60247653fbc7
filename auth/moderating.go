package auth

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// Queue returns a page of the comments that wait, for moderators.
func (s *Service) Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error) {
	return moderated(ctx, s, func() (comment.QueuePage, error) { return s.Store.Queue(ctx, q) })
}

// Pending returns how many comments wait, for moderators.
func (s *Service) Pending(ctx context.Context) (int, error) {
	return moderated(ctx, s, func() (int, error) { return s.Store.Pending(ctx) })
}

// Moderate returns an error unless the caller is a moderator.
func (s *Service) Moderate(ctx context.Context) error {
	_, err := s.moderator(ctx)
	return err
}

// Audit returns the latest decisions about a comment, for moderators.
func (s *Service) Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error) {
	return moderated(ctx, s, func() ([]comment.Decision, error) { return s.Store.Audit(ctx, id) })
}

// Reports returns the reports of a comment, for moderators.
func (s *Service) Reports(ctx context.Context, id comment.ID) ([]comment.Report, error) {
	return moderated(ctx, s, func() ([]comment.Report, error) { return s.Store.Reports(ctx, id) })
}

// CommentsBy returns a summary of a customer's comments, for moderators.
func (s *Service) CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error) {
	return moderated(ctx, s, func() (comment.CustomerComments, error) { return s.Store.CommentsBy(ctx, customer) })
}

// moderated calls read if the caller is a moderator.
func moderated[T any](ctx context.Context, s *Service, read func() (T, error)) (answer T, err error) {
	if err := s.Moderate(ctx); err != nil {
		return answer, err
	}
	return read()
}

// moderator returns the caller, and an error unless it is a moderator.
func (s *Service) moderator(ctx context.Context) (comment.Viewer, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	if err == nil && !viewer.MayModerate() {
		err = comment.Errorf(comment.Forbidden, "only moderators may do this: send a moderator's token")
	}
	return viewer, err
}

// Decide approves or rejects a version of a comment, for moderators. To decide the same again
// changes nothing.
func (s *Service) Decide(ctx context.Context, v comment.Verdict) (comment.Comment, []comment.Problem, error) {
	viewer, err := s.moderator(ctx)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	if problems := v.Problems(); problems != nil {
		return comment.Comment{}, problems, nil
	}
	return outcome(s.decide(ctx, viewer, v, func(before comment.Comment) (comment.Comment, error) {
		if v.Reason == nil {
			return moderation.Approve(before, v.Version)
		}
		return moderation.Reject(before, v.Version, *v.Reason)
	}))
}

// Withdraw takes a comment back, for its author: nobody else sees it any more. An edit submits it
// again.
func (s *Service) Withdraw(ctx context.Context, id string, version int) (comment.Comment, []comment.Problem, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	return outcome(s.decide(ctx, viewer, comment.Verdict{ID: id, Version: version}, func(before comment.Comment) (comment.Comment, error) {
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
func (s *Service) decide(ctx context.Context, viewer comment.Viewer, v comment.Verdict, of func(comment.Comment) (comment.Comment, error)) (comment.Comment, error) {
	id, err := comment.ParseID(v.ID)
	if err != nil {
		return comment.Comment{}, err
	}
	position := newPosition()
	return again(func() (comment.Comment, error) {
		before, err := s.Store.Comment(ctx, id)
		if err != nil {
			return before, err
		}
		after, err := of(before)
		if err != nil || after.Same(before) {
			return after, problemIn(err)
		}
		return after, s.Store.Decide(ctx, before, after, comment.Decision{
			CommentID: id, Position: position, By: viewer.CustomerID,
			From: before.Status, To: after.Status, Version: v.Version, Reason: v.Reason, Note: v.Note,
		})
	})
}

// Erase requests the erasure of all data about a customer.
func (s *Service) Erase(ctx context.Context, customer string) (comment.Erasure, []comment.Problem, error) {
	if err := s.Moderate(ctx); err != nil {
		return comment.Erasure{}, nil, err
	}
	author := comment.Author{ID: customer}
	if problems := author.ProblemOfID("customerId"); problems != nil {
		return comment.Erasure{}, problems, nil
	}
	erasure, err := s.Erasures.Start(ctx, author)
	return erasure, nil, err
}

// Erasure returns the latest erasure of a customer, nil if there was none.
func (s *Service) Erasure(ctx context.Context, customer string) (*comment.Erasure, error) {
	if err := s.Moderate(ctx); err != nil {
		return nil, err
	}
	author := comment.Author{ID: customer}
	if err := author.CheckID(); err != nil {
		return nil, err
	}
	erasure, found, err := s.Erasures.Status(ctx, author)
	if err != nil || !found {
		return nil, err
	}
	return &erasure, nil
}
