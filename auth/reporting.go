package auth

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
)

// ReportStore stores reports about comments.
type ReportStore interface {
	// Comment is as of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// Report writes a report and after in place of before, unless the customer reported the comment
	// before. It returns a Conflict error if before is no longer what is stored.
	Report(ctx context.Context, before, after comment.Comment, r comment.Report) error
	// Audit returns the latest decisions about a comment, the latest first.
	Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error)
}

// Reporter reports comments to moderators, for customers. It is safe for use by many goroutines.
type Reporter struct {
	// Store stores the reports. Required.
	Store ReportStore
	// Authorizer decides who is a customer. Required.
	Authorizer Authorizer
	// Threshold is how many reports make a comment wait for a moderator.
	Threshold int
	// Now is the time.
	Now Clock
}

// Report reports a comment to moderators, for customers. To report it again changes nothing. Once
// Threshold customers did so, the comment waits for a moderator, and everyone still sees it.
func (p *Reporter) Report(ctx context.Context, draft comment.ReportDraft) ([]comment.Problem, error) {
	viewer, err := p.Authorizer.Identify(ctx)
	switch {
	case err != nil:
		return nil, err
	case viewer.CustomerID == nil:
		return nil, comment.Errorf(comment.Forbidden, "only customers report comments: send a signed token")
	}
	id, err := comment.ParseID(draft.CommentID)
	if err == nil {
		if problems := draft.Problems(); len(problems) > 0 {
			return problems, nil
		}
		err = p.report(ctx, id, comment.Report{
			By: *viewer.CustomerID, At: *p.Now.timeOfEdit(comment.Comment{ID: id}), Reason: draft.Reason, Note: draft.Note,
		})
	}
	_, problems, err := outcome(comment.Comment{}, err)
	return problems, err
}

// report writes a report beside the comment as it is, and again if another change comes first.
func (p *Reporter) report(ctx context.Context, id comment.ID, r comment.Report) error {
	for try := 1; ; try++ {
		c, err := p.Store.Comment(ctx, id)
		switch {
		case err != nil:
			return err
		case c.Status != comment.Approved: // also for its author and moderators: nobody else sees it
			return comment.NoComment(id)
		case c.Author.ID == r.By && !c.Author.Imported:
			return comment.Errorf(comment.Forbidden, "it is your own comment: edit or delete it")
		}
		after, err := p.reported(ctx, c, r)
		if err == nil {
			err = p.Store.Report(ctx, c, after, r)
		}
		if comment.KindOf(err) != comment.Conflict || try == maxTries {
			return err
		}
	}
}

// reported returns the comment with one report more. At the threshold it begins to wait, or has one
// reason more to wait; its place in the queue stays. Each decision about the same version doubles the
// threshold: a moderator has looked at it.
func (p *Reporter) reported(ctx context.Context, c comment.Comment, r comment.Report) (comment.Comment, error) {
	now := comment.Moderation{}
	if c.Moderation != nil {
		now = *c.Moderation
	}
	now.Reports++
	needed := p.Threshold
	if now.Reports >= needed && !slices.Contains(now.Held, comment.HeldReported) {
		decisions, err := p.Store.Audit(ctx, c.ID)
		if err != nil {
			return c, err
		}
		for _, d := range decisions {
			if d.Version == c.Version && needed < comment.MaxVersion/2 {
				needed *= 2
			}
		}
	}
	if now.Reports >= needed && !slices.Contains(now.Held, comment.HeldReported) {
		if now.Since.IsZero() {
			now.Since = r.At
		}
		now.Held = slices.DeleteFunc(comment.HoldReasons(), func(reason comment.HoldReason) bool {
			return reason != comment.HeldReported && !slices.Contains(now.Held, reason)
		})
	}
	c.Moderation = &now
	return c, nil
}
