package auth

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// ReplyStore stores the shop's replies.
type ReplyStore interface {
	// Comment is as of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// SetReply writes the shop's reply to a comment in place of c.Reply; nil removes it. It returns a
	// Conflict error if c.Reply is no longer the stored reply.
	SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error
}

// Replier writes and removes the shop's replies, for callers who may. It is safe for use by many
// goroutines.
type Replier struct {
	// Store stores the replies. Required.
	Store ReplyStore
	// Authorizer decides who may reply. Required.
	Authorizer Authorizer
	// ShopName is the name of replies that give none.
	ShopName string
	// Now is the time.
	Now Clock
}

// Reply writes or edits the shop's reply to a comment. To write the same again changes nothing.
func (r *Replier) Reply(ctx context.Context, input comment.ReplyDraft) (comment.Comment, []comment.Problem, error) {
	c, err := r.answerable(ctx, input.CommentID)
	if err != nil {
		return outcome(c, err)
	}
	reply := r.replyTo(c, input)
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

// replyTo returns the reply that an input makes of the present one.
func (r *Replier) replyTo(c comment.Comment, input comment.ReplyDraft) comment.Reply {
	now := *r.Now.timeOfEdit(c)
	reply := comment.Reply{Text: input.Text, Name: r.ShopName, CreatedAt: now, Version: c.ReplyDeletion + 1}
	if c.Reply != nil {
		reply.Name, reply.CreatedAt, reply.Version = c.Reply.Name, c.Reply.CreatedAt, c.Reply.Version+1
		reply.UpdatedAt = &now
	}
	if input.Name != nil {
		reply.Name = *input.Name
	}
	return reply
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

// answerable returns the comment with an ID, if the caller may reply to it. Who may not moderate finds
// only what everyone sees.
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
func versionOf(reply *comment.Reply) int {
	if reply == nil {
		return 0
	}
	return reply.Version
}

func staleReply(now *comment.Reply, version int) error {
	return comment.Errorf(comment.Conflict, "the reply has version %d (0 for none), not %d: read the comment again, and decide anew", versionOf(now), version)
}
