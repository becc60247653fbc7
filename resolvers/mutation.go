package resolvers

import (
	"cmp"
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/loaders"
)

type mutationResolver struct{ *Resolver }

// AddComment writes a comment.
func (r mutationResolver) AddComment(ctx context.Context, input graph.AddCommentInput) (*graph.AddCommentPayload, error) {
	draft := comment.Draft{
		ProductID: input.ProductID,
		Rating:    input.Rating,
		Language:  input.Language,
		Title:     input.Title.Value(),
		Text:      input.Text,
		Author:    comment.Author{ID: input.Author.ID, Name: input.Author.Name},
		Media:     mediaDrafts(input.Media.Value()),
		Verified:  input.IsVerifiedPurchase.Value(),
	}
	added, problems, err := r.Service.Add(ctx, draft, input.IdempotencyKey.Value())
	payload := &graph.AddCommentPayload{Comment: written(ctx, added, problems), UserErrors: graph.Pointers(problems)}
	if payload.Comment != nil {
		list := list{product: added.ProductID, order: comment.NewestFirst}
		payload.CommentEdge = &graph.CommentEdge{Cursor: list.cursors([]comment.Comment{*payload.Comment})[0], Node: payload.Comment}
	}
	return payload, err
}

// EditComment changes a comment.
func (r mutationResolver) EditComment(ctx context.Context, input graph.EditCommentInput) (*graph.EditCommentPayload, error) {
	change := comment.Change{
		Rating:   input.Rating.Value(),
		Language: input.Language.Value(),
		Title:    input.Title.Value(),
		Text:     input.Text.Value(),
		Verified: input.IsVerifiedPurchase.Value(),
	}
	if input.Title.IsSet() && change.Title == nil { // null removes the title
		change.Title = new(string)
	}
	if input.Media.IsSet() { // null removes them all
		change.Media = new(mediaDrafts(input.Media.Value()))
	}
	edited, problems, err := r.Service.Edit(ctx, input.ID, input.Version, change)
	return &graph.EditCommentPayload{Comment: written(ctx, edited, problems), UserErrors: graph.Pointers(problems)}, err
}

// DeleteComment deletes a comment.
func (r mutationResolver) DeleteComment(ctx context.Context, input graph.DeleteCommentInput) (*graph.DeleteCommentPayload, error) {
	deleted, problems, err := r.Service.Delete(ctx, input.ID, input.Version.Value())
	return &graph.DeleteCommentPayload{Comment: written(ctx, deleted, problems), UserErrors: graph.Pointers(problems)}, err
}

// ReplyToComment writes the shop's reply to a comment.
func (r mutationResolver) ReplyToComment(ctx context.Context, input graph.ReplyToCommentInput) (*graph.ReplyToCommentPayload, error) {
	reply := comment.ReplyDraft{CommentID: input.ID, Version: *cmp.Or(input.Version.Value(), new(int)), Text: input.Text, Name: input.Name.Value()}
	replied, problems, err := r.Service.Reply(ctx, reply)
	return &graph.ReplyToCommentPayload{Comment: written(ctx, replied, problems), UserErrors: graph.Pointers(problems)}, err
}

// DeleteReply removes the shop's reply to a comment.
func (r mutationResolver) DeleteReply(ctx context.Context, input graph.DeleteReplyInput) (*graph.DeleteReplyPayload, error) {
	left, problems, err := r.Service.DeleteReply(ctx, input.ID, input.Version.Value())
	return &graph.DeleteReplyPayload{Comment: written(ctx, left, problems), UserErrors: graph.Pointers(problems)}, err
}

// ReportComment reports a comment to moderators.
func (r mutationResolver) ReportComment(ctx context.Context, input graph.ReportCommentInput) (*graph.ReportCommentPayload, error) {
	problems, err := r.Service.Report(ctx, comment.ReportDraft{CommentID: input.ID, Reason: input.Reason, Note: comment.TextOrNone(input.Note.Value())})
	return &graph.ReportCommentPayload{UserErrors: graph.Pointers(problems)}, err
}

// VoteOnComment records the vote of a customer or visitor about a comment.
func (r mutationResolver) VoteOnComment(ctx context.Context, input graph.VoteOnCommentInput) (*graph.VoteOnCommentPayload, error) {
	voted, problems, err := r.Service.Vote(ctx, input.ID, input.Vote)
	payload := &graph.VoteOnCommentPayload{Comment: written(ctx, voted, problems), UserErrors: graph.Pointers(problems)}
	if err == nil && len(problems) == 0 {
		key := comment.VoteKey{Customer: r.Service.Viewer(ctx).VoterID(), Comment: voted.ID}
		loaders.From(ctx).Voted(key, input.Vote)
	}
	return payload, err
}

// CreateVisitorToken makes a token for a visitor.
func (r mutationResolver) CreateVisitorToken(ctx context.Context) (*comment.VisitorToken, error) {
	token, err := r.Service.VisitorToken(ctx)
	return &token, err
}

func mediaDrafts(inputs []*graph.MediaInput) []comment.MediaDraft {
	drafts := make([]comment.MediaDraft, len(inputs))
	for i, input := range inputs {
		drafts[i] = comment.MediaDraft{URL: input.URL, Width: input.Width.Value(), Height: input.Height.Value(), Alt: input.Alt.Value()}
	}
	return drafts
}

// written returns the comment, nil if an error or problems prevented the write or the comment is
// unknown. It drops what the loaders read before the write.
func written(ctx context.Context, c comment.Comment, problems []comment.Problem) *comment.Comment {
	if len(problems) > 0 || c.Version == 0 {
		return nil
	}
	loaders.Forget(ctx)
	expectStats(ctx, c.ProductID)
	return &c
}
