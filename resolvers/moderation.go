package resolvers

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/loaders"
)

// decideAtOnce is how many of the decisions of one mutation are written at a time.
const decideAtOnce = 8

type moderationResolver struct{ *Resolver }

// Moderation returns the moderators' view, and an error for other callers.
func (r queryResolver) Moderation(ctx context.Context) (*comment.ModeratorView, error) {
	loaders.From(ctx).ForCaller()
	if err := r.Service.Moderate(ctx); err != nil {
		return nil, err
	}
	return &comment.ModeratorView{}, nil
}

// Queue returns a page of the comments that wait.
func (r moderationResolver) Queue(ctx context.Context, _ *comment.ModeratorView, first *int, after *string, filter *comment.QueueFilter) (*graph.QueueConnection, error) {
	q := comment.QueueQuery{First: *cmp.Or(first, new(comment.DefaultPageSize)), Filter: *cmp.Or(filter, new(comment.QueueFilter))}
	if q.First < 1 || q.First > comment.MaxQueuePage {
		return nil, comment.Errorf(comment.BadInput, "a page of the queue has 1 to %d comments, not %d", comment.MaxQueuePage, q.First)
	}
	if product := q.Filter.ProductID; product != nil {
		if err := comment.CheckProductID(*product); err != nil {
			return nil, err
		}
	}
	if cursor := *cmp.Or(after, new(string)); cursor != "" {
		var err error
		if q.After, err = parsePlace(cursor); err != nil {
			return nil, err
		}
	}
	page, err := r.Service.Queue(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &graph.QueueConnection{PageInfo: &graph.PageInfo{HasNextPage: page.HasNext, HasPreviousPage: q.After.ID != ""}}
	for i := range page.Queued {
		queued := &page.Queued[i]
		out.Nodes = append(out.Nodes, queued)
		out.Edges = append(out.Edges, &graph.QueueEdge{Cursor: placeCursor(queued.Waiting), Node: queued})
	}
	if len(out.Edges) > 0 {
		out.PageInfo.StartCursor = &out.Edges[0].Cursor
	}
	if page.Last.ID != "" {
		out.PageInfo.EndCursor = new(placeCursor(page.Last))
	}
	return out, nil
}

// placeCursor returns the cursor of a place in the queue: its time and its comment.
func placeCursor(w comment.Waiting) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(w.Since.UnixMilli(), 10) + "#" + string(w.ID)))
}

// parsePlace reads a cursor that placeCursor made.
func parsePlace(cursor string) (comment.Waiting, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	millis, id, _ := strings.Cut(string(text), "#")
	since, wrong := strconv.ParseInt(millis, 10, 64)
	parsed, improper := comment.ParseID(id)
	if err != nil || wrong != nil || improper != nil || since < 0 {
		return comment.Waiting{}, comment.Errorf(comment.BadCursor, "after is no cursor of the queue: give an endCursor as it came, or leave it out to begin at the start")
	}
	return comment.Waiting{ID: parsed, Since: time.UnixMilli(since).UTC()}, nil
}

// Pending returns how many comments wait.
func (r moderationResolver) Pending(ctx context.Context, _ *comment.ModeratorView) (int, error) {
	return r.Service.Pending(ctx)
}

// Audit returns the latest decisions about a comment.
func (r moderationResolver) Audit(ctx context.Context, _ *comment.ModeratorView, id string) ([]*comment.Decision, error) {
	parsed, err := comment.ParseID(id)
	if err != nil {
		return nil, err
	}
	decisions, err := r.Service.Audit(ctx, parsed)
	return graph.Pointers(decisions), err
}

// Reports returns the reports of a comment.
func (r moderationResolver) Reports(ctx context.Context, _ *comment.ModeratorView, id string) ([]*comment.Report, error) {
	parsed, err := comment.ParseID(id)
	if err != nil {
		return nil, err
	}
	reports, err := r.Service.Reports(ctx, parsed)
	return graph.Pointers(reports), err
}

// CommentsBy returns a summary of a customer's comments.
func (r moderationResolver) CommentsBy(ctx context.Context, _ *comment.ModeratorView, customer string) (*comment.CustomerComments, error) {
	if len(customer) < 1 || len(customer) > comment.MaxIDBytes {
		return nil, comment.Errorf(comment.BadInput, "the id of a customer has 1 to %d bytes, not %d", comment.MaxIDBytes, len(customer))
	}
	all, err := r.Service.CommentsBy(ctx, customer)
	if err != nil {
		return nil, err
	}
	products := make([]string, len(all.Latest))
	for i := range all.Latest {
		products[i] = all.Latest[i].ProductID
	}
	expectStats(ctx, products...)
	return &all, nil
}

// Erasure returns the latest erasure of a customer.
func (r moderationResolver) Erasure(ctx context.Context, _ *comment.ModeratorView, customer string) (*comment.Erasure, error) {
	return r.Service.Erasure(ctx, customer)
}

// EraseAuthor asks for the erasure of a customer.
func (r mutationResolver) EraseAuthor(ctx context.Context, input graph.EraseAuthorInput) (*graph.EraseAuthorPayload, error) {
	erasure, problems, err := r.Service.Erase(ctx, input.CustomerID)
	payload := &graph.EraseAuthorPayload{UserErrors: graph.Pointers(problems)}
	if len(problems) == 0 {
		payload.Erasure = &erasure
	}
	return payload, err
}

// WithdrawComment takes a comment back, for its author.
func (r mutationResolver) WithdrawComment(ctx context.Context, input graph.WithdrawCommentInput) (*graph.ModerateCommentPayload, error) {
	c, problems, err := r.Service.Withdraw(ctx, input.ID, input.Version)
	return moderated(ctx, c, problems, err)
}

// ApproveComment shows a comment, or puts an edit that waits in its place.
func (r mutationResolver) ApproveComment(ctx context.Context, input graph.ApproveCommentInput) (*graph.ModerateCommentPayload, error) {
	c, problems, err := r.Service.Decide(ctx, comment.Verdict{ID: input.ID, Version: input.Version, Note: comment.TextOrNone(input.Note.Value())})
	return moderated(ctx, c, problems, err)
}

// RejectComment takes a comment from all lists, or drops an edit that waits.
func (r mutationResolver) RejectComment(ctx context.Context, input graph.RejectCommentInput) (*graph.ModerateCommentPayload, error) {
	c, problems, err := r.Service.Decide(ctx, comment.Verdict{ID: input.ID, Version: input.Version, Reason: &input.Reason, Note: comment.TextOrNone(input.Note.Value())})
	return moderated(ctx, c, problems, err)
}

// DecideComments decides about several comments independently. After the first error that is not a
// problem of an input it begins no other decision. Those that were begun are made or not, so the
// error may say that nothing was written only if that is true of all. A comment whose item was
// damaged by hand ends nothing but is reported as a problem, so that the others can be decided.
func (r mutationResolver) DecideComments(ctx context.Context, input graph.DecideCommentsInput) (*graph.DecideCommentsPayload, error) {
	if err := r.Service.Moderate(ctx); err != nil {
		return nil, err
	}
	if problem := wrongDecisions(input.Decisions); problem != nil {
		return &graph.DecideCommentsPayload{UserErrors: []*comment.Problem{problem}}, nil
	}
	out := &graph.DecideCommentsPayload{Results: make([]*graph.ModerateCommentPayload, len(input.Decisions)), UserErrors: []*comment.Problem{}}
	var wrote atomic.Bool // perhaps
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(decideAtOnce)
	for i, d := range input.Decisions {
		group.Go(task.Guarded(func() error {
			if err := context.Cause(going); err != nil {
				return err
			}
			c, problems, err := r.Service.Decide(ctx, comment.Verdict{ID: d.ID, Version: d.Version, Reason: d.Reason.Value(), Note: comment.TextOrNone(d.Note.Value())})
			out.Results[i], err = moderated(ctx, c, problems, err)
			if errors.Is(err, comment.ErrImproper) {
				out.Results[i], err = &graph.ModerateCommentPayload{UserErrors: []*comment.Problem{{
					Code: comment.ProblemNotFound, Path: []string{"id"}, Message: "the comment's item is damaged, so nothing can be decided about it: delete the comment, or have talkback show say what is wrong",
				}}}, nil
			}
			if out.Results[i].Comment != nil || err != nil && comment.KindOf(err) != comment.Throttled {
				wrote.Store(true)
			}
			return err
		}))
	}
	err := group.Wait()
	if comment.KindOf(err) == comment.Throttled && wrote.Load() {
		err = &comment.Error{Kind: comment.Unavailable, Message: "some of these decisions may have been made: send them again, which changes none that was", Cause: err}
	}
	return out, err
}

// wrongDecisions returns the problem of a list of decisions, nil if it has none.
func wrongDecisions(decisions []*graph.DecisionInput) *comment.Problem {
	path := []string{"decisions"}
	if len(decisions) < 1 || len(decisions) > comment.MaxDecisions {
		return &comment.Problem{Code: comment.ProblemOutOfRange, Path: path, Message: fmt.Sprintf("give 1 to %d decisions at once, not %d", comment.MaxDecisions, len(decisions))}
	}
	seen := map[string]bool{}
	for i, d := range decisions {
		if seen[d.ID] {
			return &comment.Problem{Code: comment.ProblemMalformed, Path: append(path, strconv.Itoa(i), "id"), Message: "the comment is there twice: decide about it once"}
		}
		seen[d.ID] = true
	}
	return nil
}

// moderated returns the payload of a decision. It drops what the loaders read before the decision.
func moderated(ctx context.Context, c comment.Comment, problems []comment.Problem, err error) (*graph.ModerateCommentPayload, error) {
	payload := &graph.ModerateCommentPayload{UserErrors: graph.Pointers(problems)}
	if err == nil && len(problems) == 0 {
		loaders.Forget(ctx)
		payload.Comment = &c
	}
	return payload, err
}
