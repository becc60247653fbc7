package auth

import (
	"cmp"
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
)

// ReplyStore stores the shop's replies.
type ReplyStore interface {
	// Comment is like that of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// SetReply writes the shop's reply to a comment in place of c.Reply; nil removes it. It returns a
	// Conflict error if c.Reply is no longer the stored reply.
	SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error
}

// Replier writes and removes the shop's replies, for callers who may. Store and Authorizer are
// required. It is safe for use by many goroutines.
type Replier struct {
	Store      ReplyStore
	Authorizer Authorizer
	// ShopName is the name of replies that give none.
	ShopName string
}

// Reply writes or edits the shop's reply to a comment. To write the same again changes nothing.
func (r *Replier) Reply(ctx context.Context, input comment.ReplyDraft) (comment.Comment, []comment.Problem, error) {
	c, err := r.answerable(ctx, input.CommentID)
	if err != nil {
		return outcome(c, err)
	}
	now := *timeOfEdit(c)
	reply := comment.Reply{Text: input.Text, Name: r.ShopName, CreatedAt: now, Version: c.ReplyDeletion + 1}
	if c.Reply != nil {
		reply.Name, reply.CreatedAt, reply.Version = c.Reply.Name, c.Reply.CreatedAt, c.Reply.Version+1
		reply.UpdatedAt = &now
	}
	if input.Name != nil {
		reply.Name = *input.Name
	}
	switch problems := reply.Problems(); {
	case len(problems) > 0:
		return comment.Comment{}, problems, nil
	case c.Reply != nil && c.Reply.Text == reply.Text && c.Reply.Name == reply.Name:
		return c, nil, nil
	case versionOf(c.Reply) != input.Version:
		return outcome(c, staleReply(c.Reply, input.Version))
	}
	err = r.Store.SetReply(ctx, c, &reply)
	c.Reply = &reply
	return outcome(c, err)
}

// DeleteReply removes the shop's reply to a comment. A version that is given must be the reply's.
func (r *Replier) DeleteReply(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error) {
	for {
		c, err := r.answerable(ctx, id)
		switch {
		case err != nil:
			return outcome(c, err)
		case c.Reply == nil:
			return outcome(c, comment.Errorf(comment.NotFound, "the comment has no reply, or no longer"))
		case version != nil && *version != c.Reply.Version:
			return outcome(c, staleReply(c.Reply, *version))
		}
		err = r.Store.SetReply(ctx, c, nil)
		if version == nil && comment.KindOf(err) == comment.Conflict {
			continue // an edit of the reply came first; the context bounds these retries
		}
		c.Reply = nil
		return outcome(c, err)
	}
}

// answerable returns the comment with an ID, if the caller may reply to it. The caller finds only
// comments that it may see.
func (r *Replier) answerable(ctx context.Context, id string) (comment.Comment, error) {
	viewer, err := r.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, err
	}
	if !viewer.MayReply() {
		return comment.Comment{}, comment.Errorf(comment.Forbidden, "only the shop replies to comments: send a token with the role merchant")
	}
	parsed, err := comment.ParseID(id)
	if err != nil {
		return comment.Comment{}, err
	}
	c, err := r.Store.Comment(ctx, parsed)
	if err == nil && !viewer.Sees(c) {
		err = comment.NoComment(parsed)
	}
	if !viewer.SeesModeration(c) {
		c.Moderation = nil // the payload shows the comment
	}
	return c, err
}

// versionOf returns the version of a reply, 0 for none.
func versionOf(reply *comment.Reply) int { return cmp.Or(reply, new(comment.Reply)).Version }

func staleReply(now *comment.Reply, version int) error {
	return comment.Errorf(comment.Conflict, "the reply has version %d (0 for none), not %d: read the comment again, and decide anew", versionOf(now), version)
}

// ReportStore stores reports about comments.
type ReportStore interface {
	// Comment is like that of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// Report writes a report, and after in place of before, unless the customer has reported the
	// comment already. It returns a Conflict error if before is no longer the stored state.
	Report(ctx context.Context, before, after comment.Comment, r comment.Report) error
	// Audit returns the latest decisions about a comment, the latest first.
	Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error)
}

// Reporter reports comments to moderators, for customers. Store and Authorizer are required. It is
// safe for use by many goroutines.
type Reporter struct {
	Store      ReportStore
	Authorizer Authorizer
	// Threshold is how many reports make a comment wait for a moderator.
	Threshold int
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
			By: *viewer.CustomerID, At: *timeOfEdit(comment.Comment{ID: id}), Reason: draft.Reason, Note: draft.Note,
		})
	}
	_, problems, err := outcome(comment.Comment{}, err)
	return problems, err
}

// report writes a report about the current comment, and tries anew if another change comes first.
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

// reported returns the comment with one more report. At the threshold it begins to wait, or gets
// one more reason to wait and keeps its place in the queue. Each decision about the same version
// doubles the threshold: a moderator has looked at it.
func (p *Reporter) reported(ctx context.Context, c comment.Comment, r comment.Report) (comment.Comment, error) {
	now := *cmp.Or(c.Moderation, new(comment.Moderation))
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
