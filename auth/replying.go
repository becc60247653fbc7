package auth

import (
	"cmp"
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// Reply writes or edits the shop's reply to a comment. To write the same again changes nothing.
func (s *Service) Reply(ctx context.Context, input comment.ReplyDraft) (comment.Comment, []comment.Problem, error) {
	return outcome(s.changeReply(ctx, input.CommentID, func(c comment.Comment) (*comment.Reply, error) {
		now := *timeOfEdit(c)
		reply := comment.Reply{Text: input.Text, Name: s.ShopName, CreatedAt: now, Version: c.ReplyDeletion + 1}
		if c.Reply != nil {
			reply.Name, reply.CreatedAt, reply.Version = c.Reply.Name, c.Reply.CreatedAt, c.Reply.Version+1
			if last := *cmp.Or(c.Reply.UpdatedAt, &c.Reply.CreatedAt); now.Before(last) {
				now = last // as for edits of the comment
			}
			reply.UpdatedAt = &now
		}
		if input.Name != nil {
			reply.Name = *input.Name
		}
		switch problems := reply.Problems(); {
		case len(problems) > 0:
			return nil, faults(problems)
		case c.Reply != nil && c.Reply.Text == reply.Text && c.Reply.Name == reply.Name:
			return c.Reply, nil
		}
		return &reply, checkReply(c.Reply, input.Version)
	}))
}

// DeleteReply removes the shop's reply to a comment. A version that is given must be the reply's.
func (s *Service) DeleteReply(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error) {
	return outcome(s.changeReply(ctx, id, func(c comment.Comment) (*comment.Reply, error) {
		switch {
		case c.Reply == nil:
			return nil, comment.Errorf(comment.NotFound, "the comment has no reply, or no longer")
		case version != nil:
			return nil, checkReply(c.Reply, *version)
		}
		return nil, nil
	}))
}

// changeReply puts another reply in place of that of a comment, if the caller may reply to it.
func (s *Service) changeReply(ctx context.Context, id string, of func(comment.Comment) (*comment.Reply, error)) (comment.Comment, error) {
	return again(func() (comment.Comment, error) {
		viewer, err := s.Authorizer.Identify(ctx)
		if err == nil && !viewer.MayReply() {
			err = comment.Errorf(comment.Forbidden, "only the shop replies to comments: send a token with the role merchant")
		}
		if err != nil {
			return comment.Comment{}, err
		}
		c, err := s.shown(ctx, viewer, id)
		if err != nil {
			return c, err
		}
		reply, err := of(c)
		if err == nil && reply != c.Reply {
			err = s.Store.SetReply(ctx, c, reply)
		}
		c.Reply = reply
		return c, err
	})
}

// checkReply returns an error if the current reply, nil for none, has another version than a caller
// knows, which is 0 for none.
func checkReply(now *comment.Reply, version int) error {
	if is := cmp.Or(now, new(comment.Reply)).Version; is != version {
		return problemIn(comment.Errorf(comment.Conflict, "the reply has version %d (0 for none), not %d: read the comment again, and decide anew", is, version))
	}
	return nil
}

// Report reports a comment to moderators, for customers. To report it again changes nothing. Once
// Threshold customers did so, the comment waits for a moderator, and everyone still sees it.
func (s *Service) Report(ctx context.Context, draft comment.ReportDraft) ([]comment.Problem, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	switch {
	case err != nil:
		return nil, err
	case viewer.CustomerID == nil:
		return nil, comment.Errorf(comment.Forbidden, "only customers report comments: send a signed token")
	}
	_, problems, err := outcome(s.report(ctx, *viewer.CustomerID, draft))
	return problems, err
}

// report writes a report of a customer about the current comment.
func (s *Service) report(ctx context.Context, customer string, draft comment.ReportDraft) (comment.Comment, error) {
	id, err := comment.ParseID(draft.CommentID)
	if err != nil {
		return comment.Comment{}, err
	}
	if problems := draft.Problems(); len(problems) > 0 {
		return comment.Comment{}, faults(problems)
	}
	r := comment.Report{By: customer, At: *timeOfEdit(comment.Comment{ID: id}), Reason: draft.Reason, Note: draft.Note}
	return again(func() (comment.Comment, error) {
		c, err := s.Store.Comment(ctx, id)
		switch {
		case err != nil:
			return c, err
		case c.Status != comment.Approved: // also for its author and moderators: nobody else sees it
			return c, comment.NoComment(id)
		case c.Author.ID == r.By && !c.Author.Imported:
			return c, comment.Errorf(comment.Forbidden, "it is your own comment: edit or delete it")
		}
		after, err := s.reported(ctx, c, r)
		if err == nil {
			err = s.Store.Report(ctx, c, after, r)
		}
		return after, err
	})
}

// reported returns the comment with one more report. At the threshold it begins to wait, or gets
// one more reason to wait and keeps its place in the queue. Each decision about the same version
// doubles the threshold: a moderator has looked at it.
func (s *Service) reported(ctx context.Context, c comment.Comment, r comment.Report) (comment.Comment, error) {
	now := *cmp.Or(c.Moderation, new(comment.Moderation))
	now.Reports++
	needed := s.Threshold
	if now.Reports >= needed && !slices.Contains(now.Held, comment.HeldReported) {
		decisions, err := s.Store.Audit(ctx, c.ID)
		if err != nil {
			return c, err
		}
		for _, d := range decisions {
			if d.Version == c.Version && needed < comment.MaxVersion/2 {
				needed *= 2
			}
		}
	}
	c.Moderation = moderation.Reported(now, needed, r.At)
	return c, nil
}
