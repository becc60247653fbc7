package votes

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Client is the part of the SDK's client that reads votes.
type Client interface {
	call.Querier
	call.BatchGetter
}

// reader reads votes, consistently.
type reader struct {
	client Client
	table  string
}

// state is what a comment's item and its vote sums contain.
type state struct {
	gone    bool
	product string // empty if it is gone, or has none
	shown   layout.VotesOf
	// sums is zero if there are none, and has only Changes if they are unreadable.
	sums layout.VoteSums
	// unreadable is why the sums cannot be read, else nil.
	unreadable error
}

// now reads the stored numbers of a comment's votes.
func (r reader) now(ctx context.Context, id comment.ID) (state, error) {
	got, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{
		Keys:           []layout.Item{layout.CommentKey(id), layout.VoteSumsKey(id)},
		ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(layout.CommentVotesProjection),
	})
	switch {
	case err != nil:
		return state{}, call.Wrap(err, "BatchGetItem of the votes of %s", id)
	case len(got.Left) > 0:
		return state{}, call.ErrBusy
	}
	now := state{gone: true}
	for _, it := range got.Items {
		if _, isComment := layout.CommentOfKey(it); isComment == nil {
			now.gone, now.shown = layout.NoComment(it), layout.ReadVotes(it)
			now.product, _ = layout.ProductOf(it) // only reports need it
		} else {
			now.sums, now.unreadable = layout.DecodeVoteSums(it)
		}
	}
	return now, nil
}

// count counts the votes of a comment whose sort keys have a prefix, by slice.
func (r reader) count(ctx context.Context, id comment.ID, prefix string) (counted layout.VoteSums, votes int, err error) {
	for it, err := range r.each(ctx, id, prefix, layout.VoteProjection) {
		if err != nil {
			return counted, votes, err
		}
		if slice, isVote := layout.VoteSlice(it); isVote {
			layout.CountVote(it, &counted.Slices[slice])
			votes++
		}
	}
	return counted, votes, nil
}

// each yields the items beside a comment whose sort keys have a prefix. After an error it ends.
func (r reader) each(ctx context.Context, id comment.ID, prefix, projection string) iter.Seq2[layout.Item, error] {
	input := call.PartitionInput(r.table, layout.CommentKey(id)[layout.AttrPK], prefix)
	input.ProjectionExpression = aws.String(projection)
	return call.Items(ctx, r.client, input, "votes of "+string(id))
}

// Difference describes what is wrong with the stored numbers of a comment's votes.
type Difference struct {
	// Product is the product of the comment; empty if unknown.
	Product string
	// Detail says what is wrong; empty if nothing is.
	Detail string
}

// Compare counts all votes of a comment, and compares them with the stored numbers.
func Compare(ctx context.Context, client Client, table string, id comment.ID) (Difference, error) {
	r := reader{client, table}
	now, err := r.now(ctx, id)
	if err != nil {
		return Difference{}, err
	}
	counted, _, err := r.count(ctx, id, layout.VoteSKPrefix)
	if err != nil {
		return Difference{}, err
	}
	return Difference{now.product, now.wrong(id, counted)}, nil
}

// wrong describes what is wrong with the state of a comment with votes; empty if nothing is.
func (s state) wrong(id comment.ID, counted layout.VoteSums) string {
	total := counted.Total()
	right, left := s.shown.Imported.Plus(total), total.Helpful+total.NotHelpful
	switch update, _, _ := s.shown.Update(total); {
	case s.gone && left > 0: // withdrawn votes expire, and are not deleted with their comment
		return fmt.Sprintf("comment %s does not exist, but has %s", id, comment.Amount(left, "vote"))
	case s.gone:
		return ""
	case s.unreadable != nil:
		return fmt.Sprintf("comment %s: %v", id, s.unreadable)
	case update != "" && s.shown.Shown == right:
		return fmt.Sprintf("comment %s: its place in the order by votes does not match its votes", id)
	case update != "":
		return fmt.Sprintf("comment %s shows %d helpful and %d other votes, but has %d and %d",
			id, s.shown.Shown.Helpful, s.shown.Shown.NotHelpful, right.Helpful, right.NotHelpful)
	case s.sums.Changes > 0 && s.sums.Slices != counted.Slices:
		return fmt.Sprintf("comment %s: its stored sums of votes are wrong", id)
	}
	return ""
}
