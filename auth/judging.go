package auth

import (
	"context"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// DecisionStore stores decisions about comments.
type DecisionStore interface {
	// Comment is as of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// Decide writes after in place of before, and the decision, both or neither. It returns a Conflict
	// error if before is no longer what is stored.
	Decide(ctx context.Context, before, after comment.Comment, d comment.Decision) error
}

// Judge decides whether others see a comment, for callers who may. It is safe for use by many
// goroutines.
type Judge struct {
	// Store stores the decisions. Required.
	Store DecisionStore
	// Authorizer decides who may decide. Required.
	Authorizer Authorizer
	// Now is the time.
	Now Clock
}

// Decide approves or rejects a version of a comment, for moderators. To decide the same again changes
// nothing.
func (j *Judge) Decide(ctx context.Context, v comment.Verdict) (comment.Comment, []comment.Problem, error) {
	viewer, err := moderator(ctx, j.Authorizer)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	if length := utf8.RuneCountInString(v.Note); length > comment.MaxNote {
		return comment.Comment{}, []comment.Problem{{
			Code: comment.ProblemTooLong, Path: []string{"note"}, Message: "the note is too long; at most 1,000 characters are taken",
		}}, nil
	}
	return j.decide(ctx, viewer, v, func(before comment.Comment) (comment.Comment, error) {
		if v.Reason == nil {
			return moderation.Approve(before, v.Version)
		}
		return moderation.Reject(before, v.Version, *v.Reason)
	})
}

// Withdraw takes a comment back, for its author: nobody else sees it any more. An edit submits it
// again.
func (j *Judge) Withdraw(ctx context.Context, id string, version int) (comment.Comment, []comment.Problem, error) {
	viewer, err := j.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	return j.decide(ctx, viewer, comment.Verdict{ID: id, Version: version}, func(before comment.Comment) (comment.Comment, error) {
		switch err := viewer.CheckAuthor(before.Author); {
		case err == nil:
			return moderation.Withdraw(before, version)
		case !viewer.Sees(before):
			return before, comment.NoComment(before.ID)
		default:
			return before, err
		}
	})
}

// decide makes a decision about the comment as it is, and again if another change comes first.
func (j *Judge) decide(ctx context.Context, viewer comment.Viewer, v comment.Verdict, of func(comment.Comment) (comment.Comment, error)) (comment.Comment, []comment.Problem, error) {
	id, err := comment.ParseID(v.ID)
	if err != nil {
		return outcome(comment.Comment{}, err)
	}
	position := j.Now.position()
	for try := 1; ; try++ {
		before, err := j.Store.Comment(ctx, id)
		if err != nil {
			return outcome(before, err)
		}
		after, err := of(before)
		if err != nil || after.Same(before) {
			return outcome(after, err)
		}
		err = j.Store.Decide(ctx, before, after, comment.Decision{
			CommentID: id, Position: position, By: viewer.CustomerID,
			From: before.Status, To: after.Status, Version: v.Version, Reason: v.Reason, Note: v.Note,
		})
		if comment.KindOf(err) != comment.Conflict || try == maxTries {
			return outcome(after, err)
		}
		// What is there now decides.
	}
}
