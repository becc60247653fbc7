package counts

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// How totals become exact even if records are replayed, late or lost, and if processes are killed.
//
// To change a total, a process reads it, counts the votes, and writes on condition that the total
// is as it was read. It repeats that until there is nothing to write. Once is not enough. Suppose
// that a vote is withdrawn meanwhile, and that another process counts and finds the stored total
// right. The first process then writes a wrong total, and its condition holds. The last writer of
// all finds that when it counts again. If it dies before, its records come again.
//
// From manyVotes on, an item holds the counts of 16 slices of the votes, and only slices with
// changed votes are counted. That item is written each time and has a number that rises. So a write
// based on an older count fails, and each slice needs to be counted only once. The total is then
// computed from the item, and written as above. A process that finds the item as it was first
// written counts all slices, since other processes may have counted votes without it.
//
// Votes of a comment that was deleted are deleted.

// manyVotes is the number of votes from which the counts of slices are stored: a recount of all
// would take 23 read units.
const manyVotes = 1000

// VotesAtOnce is how many votes of a comment Handle should read at most if records of other
// comments wait behind it. They take 400 read units.
const VotesAtOnce = 16_000

// votesOfADelete is how many reads of votes one deletion of a vote counts as.
const votesOfADelete = 16

// errManyVotes is for votes that still have to be counted or deleted.
var errManyVotes = comment.Errorf(comment.Throttled, "a comment has more votes than are handled at once; try again")

// allSlices lists the slices of a comment's votes.
func allSlices() (all []int) {
	for slice := range layout.VoteSlices {
		all = append(all, slice)
	}
	return all
}

// VoteWriter is the part of the SDK's client that a VoteRecounter works with.
type VoteWriter interface {
	voteClient
	call.BatchWriter
	call.Putter
	call.Updater
}

// VoteRecounter keeps the totals in comments equal to the numbers of their votes. It is safe for
// concurrent use by goroutines and processes.
type VoteRecounter struct {
	voteReader
	client VoteWriter
	many   int // the number of votes from which the counts of slices are stored
	atOnce int // how many votes of a comment Handle reads
}

// NewVoteRecounter makes a VoteRecounter for a table, whose keys and indexes must be those of
// layout.Definition. Handle reads atOnce votes of a comment, and leaves the rest for later; 0 means
// any number.
func NewVoteRecounter(client VoteWriter, table string, atOnce int) *VoteRecounter {
	return &VoteRecounter{voteReader: voteReader{client, table}, client: client, many: manyVotes, atOnce: cmp.Or(atOnce, math.MaxInt)}
}

// Recount counts all votes of a comment and corrects its total. It deletes the votes of a comment
// that does not exist.
func (r *VoteRecounter) Recount(ctx context.Context, id comment.ID) error {
	left := &voteCount{id: id, changed: allSlices(), votes: math.MaxInt}
	return call.Retry(ctx, func() (progress bool, err error) { return false, r.recount(ctx, left) })
}

// voteCount is what remains to be counted of a comment.
type voteCount struct {
	id comment.ID
	// changed has the slices with changed votes, in the order in which they are counted.
	changed []int
	// votes is how many of their votes may still be read.
	votes int
}

// recount counts and corrects the total step by step, until no slice is left to count, or no more
// votes may be read.
func (r *VoteRecounter) recount(ctx context.Context, left *voteCount) error {
	for range mostVoteSteps {
		again, err := r.step(ctx, left)
		if err != nil || !again {
			return call.Wrap(err, "recount of the votes of %s", left.id)
		}
	}
	return call.ErrBusy
}

// mostVoteSteps is how many steps are taken without a wait.
const mostVoteSteps = 20

// step takes one step towards a correct total, and reports whether another may be needed.
func (r *VoteRecounter) step(ctx context.Context, left *voteCount) (again bool, err error) {
	now, err := r.now(ctx, left.id)
	if err != nil {
		return false, err
	}
	if now.sums.Changes == 1 { // counts lack votes that came since, and other processes may have handled their records
		left.changed, left.votes = allSlices(), math.MaxInt
	}
	switch {
	case now.gone:
		left.changed = nil
		return false, r.delete(ctx, left.id, now.sums.Changes > 0 || now.unreadable != nil, max(1, left.votes/votesOfADelete))
	case now.unreadable != nil:
		return true, call.DeleteAll(ctx, r.client, r.table, []layout.Item{layout.VoteSumsKey(left.id)})
	case now.sums.Changes > 0 && len(left.changed) > 0 && left.votes > 0:
		return true, r.countChanged(ctx, now.sums, left)
	case now.sums.Changes > 0:
		return r.show(ctx, left.id, now.shown, now.sums.Total())
	}
	counted, votes, err := r.count(ctx, left.id, layout.VoteSKPrefix)
	if err != nil {
		return false, err
	}
	if votes >= r.many {
		_, err := r.keep(ctx, left.id, counted)
		return true, err
	}
	left.changed = nil
	return r.show(ctx, left.id, now.shown, counted.Total())
}

// countChanged counts the next changed slices, and stores their counts.
func (r *VoteRecounter) countChanged(ctx context.Context, sums layout.VoteSums, left *voteCount) error {
	var now []int // as many as may be read by their earlier numbers of votes, at least one
	votes := 0
	for i, slice := range left.changed {
		of := sums.Slices[slice].Helpful + sums.Slices[slice].NotHelpful
		if i > 0 && votes+of > left.votes {
			break
		}
		now, votes = append(now, slice), votes+of
	}
	err := call.Parallel(ctx, len(now), func(ctx context.Context, i int) error {
		counted, _, err := r.count(ctx, left.id, layout.VoteSlicePrefix(now[i]))
		sums.Slices[now[i]] = counted.Slices[now[i]]
		return err
	})
	if err != nil {
		return err
	}
	kept, err := r.keep(ctx, left.id, sums)
	if kept {
		left.changed, left.votes = left.changed[len(now):], left.votes-votes
	}
	return err
}

// keep stores the counts of slices, unless another process did so since they were read. The SDK
// tries again at once, because Handle waits for nothing.
func (r *VoteRecounter) keep(ctx context.Context, id comment.ID, sums layout.VoteSums) (kept bool, err error) {
	it, condition, values := sums.Item(id)
	_, err = r.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(r.table), Item: it, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	})
	return call.Done(err)
}

// show writes the total of a comment, unless it is correct. After a write, the votes have to be
// counted again. The SDK tries again at once, as in keep.
func (r *VoteRecounter) show(ctx context.Context, id comment.ID, shown layout.VotesOf, counted comment.VoteCounts) (again bool, err error) {
	update, condition, values := shown.Update(counted)
	if update == "" {
		return false, nil
	}
	_, err = r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(r.table), Key: layout.CommentKey(id), UpdateExpression: aws.String(update),
		ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	})
	_, err = call.Done(err)
	return true, err
}

// delete deletes the votes of a deleted comment, and their sums. If there are more than atOnce
// votes, it deletes some and returns errManyVotes. summed is whether there are sums. They may be
// all that is left: a process that counted before the deletion may store the first sums after it.
func (r *VoteRecounter) delete(ctx context.Context, id comment.ID, summed bool, atOnce int) error {
	keys := []layout.Item{layout.VoteSumsKey(id)} // the sums first, so that no more are stored
	for it, err := range r.each(ctx, id, layout.VoteSKPrefix, layout.AttrPK+","+layout.AttrSK) {
		if err != nil {
			return err
		}
		if len(keys) > atOnce {
			if err := call.DeleteAll(ctx, r.client, r.table, keys); err != nil {
				return err
			}
			return errManyVotes
		}
		keys = append(keys, it)
	}
	if len(keys) == 1 && !summed {
		return nil
	}
	return call.DeleteAll(ctx, r.client, r.table, keys)
}

// voteClient is the part of the SDK's client that reads votes.
type voteClient interface {
	call.Querier
	call.BatchGetter
}

// voteReader reads votes, consistently.
type voteReader struct {
	client voteClient
	table  string
}

// voteState is what a comment's item and its vote sums contain.
type voteState struct {
	gone    bool
	product string // empty if it is gone, or has none
	shown   layout.VotesOf
	// sums is zero if there are none, and has only Changes if they are unreadable.
	sums layout.VoteSums
	// unreadable is why the sums cannot be read, else nil.
	unreadable error
}

// now reads the stored numbers of a comment's votes.
func (r voteReader) now(ctx context.Context, id comment.ID) (voteState, error) {
	got, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{
		Keys:           []layout.Item{layout.CommentKey(id), layout.VoteSumsKey(id)},
		ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(layout.CommentVotesProjection),
	})
	switch {
	case err != nil:
		return voteState{}, call.Wrap(err, "BatchGetItem of the votes of %s", id)
	case len(got.Left) > 0:
		return voteState{}, call.ErrBusy
	}
	now := voteState{gone: true}
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
func (r voteReader) count(ctx context.Context, id comment.ID, prefix string) (counted layout.VoteSums, votes int, err error) {
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
func (r voteReader) each(ctx context.Context, id comment.ID, prefix, projection string) iter.Seq2[layout.Item, error] {
	input := call.PartitionInput(r.table, layout.CommentKey(id)[layout.AttrPK], prefix)
	input.ProjectionExpression = aws.String(projection)
	return call.Items(ctx, r.client, input, "votes of "+string(id))
}

// VoteDifference describes what is wrong with the stored numbers of a comment's votes.
type VoteDifference struct {
	// Product is the product of the comment; empty if unknown.
	Product string
	// Detail says what is wrong; empty if nothing is.
	Detail string
}

// CompareVotes counts all votes of a comment, and compares them with the stored numbers.
func CompareVotes(ctx context.Context, client voteClient, table string, id comment.ID) (VoteDifference, error) {
	r := voteReader{client, table}
	now, err := r.now(ctx, id)
	if err != nil {
		return VoteDifference{}, err
	}
	counted, _, err := r.count(ctx, id, layout.VoteSKPrefix)
	return VoteDifference{now.product, now.wrong(id, counted)}, err
}

// wrong describes what is wrong with the state of a comment with votes; empty if nothing is.
func (s voteState) wrong(id comment.ID, counted layout.VoteSums) string {
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
