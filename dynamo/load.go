package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// DefaultLoadCalls is how many calls a Loader has under way at once unless told otherwise. The local engine writes one
// batch after the other: a few calls keep it busy while we encode and ask. A table on AWS takes many more.
const DefaultLoadCalls = 4

// Bounds of one BatchWriteItem. The number of items is DynamoDB's own bound. That of the bytes is ours: written as JSON a
// byte of text can become six, and a call has to stay well below the 16 MB that DynamoDB takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const (
	maxItemsPerWrite = 25
	maxBytesPerWrite = 1 << 20
)

// rememberedIDs bounds what a Loader remembers of the comments that passed through it: about 40 MB at most.
const rememberedIDs = 1 << 19

// bulkClient is the part of the SDK's client that a Loader works with.
type bulkClient interface {
	call.BatchGetter
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// LoadCounts says what became of the comments given to a Loader. Each is counted once.
type LoadCounts struct {
	// Written is how many were not there and are now.
	Written int
	// Existing is how many were there and were left as they are.
	Existing int
	// Deleted is how many were there once, were deleted, and were left so.
	Deleted int
	// Repeated is how many had the id of an earlier one of the same load, whose content then counts.
	Repeated int
}

func (n *LoadCounts) add(more LoadCounts) {
	n.Written += more.Written
	n.Existing += more.Existing
	n.Deleted += more.Deleted
	n.Repeated += more.Repeated
}

// Loader writes many comments that may be there already. It overwrites none: someone may have edited it since. Nor does it
// bring back what was deleted, unless told to.
//
// BatchWriteItem knows no conditions. So a Loader asks before it writes, consistently, and asks again before it repeats a
// write whose outcome it does not know; the SDK's own retries, which would not ask, are off. What remains open are the
// milliseconds between question and write: an edit or a delete is lost only if within them another load writes the same
// comment and someone edits or deletes it. A conditional PutItem for each comment would close that, and was as fast on the local engine, but it
// is 25 calls for one, and a second import of the same file would pay a write for every comment that is there.
type Loader struct {
	// Revive has deleted comments written like those that were never there.
	Revive bool

	client bulkClient
	table  string
	calls  int
	// recent and older hold the ids that passed. When recent is full it becomes older, and older is forgotten.
	recent, older map[comment.ID]struct{}
}

// NewLoader makes a loader for a table, which must be as Definition says. calls is how many calls it may have under way
// at once, 1 or more; 0 stands for DefaultLoadCalls.
func NewLoader(client bulkClient, table string, calls int) *Loader {
	if calls < 1 {
		calls = DefaultLoadCalls
	}
	return &Loader{client: client, table: table, calls: calls, recent: map[comment.ID]struct{}{}}
}

// Load writes the comments that are not there. Each must pass Comment.Check. On an error the counts say how far it came,
// and loading the same comments again goes on from there. A repeat is recognized within the last half million comments
// at least; an earlier one counts as existing, which it is. Load is for one goroutine at a time.
func (l *Loader) Load(ctx context.Context, comments []comment.Comment) (LoadCounts, error) {
	fresh := l.dropRepeated(comments)
	total := LoadCounts{Repeated: len(comments) - len(fresh)}
	parts := slices.Collect(slices.Chunk(fresh, call.MaxKeysPerGet))
	counts := make([]LoadCounts, len(parts))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(l.calls)
	for i, part := range parts {
		group.Go(func() (err error) {
			counts[i], err = l.loadPart(groupCtx, part)
			return err
		})
	}
	err := group.Wait()
	for _, n := range counts {
		total.add(n)
	}
	if err != nil {
		return total, call.Wrap(err, "load of %d comments", len(comments))
	}
	l.remember(fresh)
	return total, nil
}

// Rehearse says what Load would do with an empty table. It asks none.
func (l *Loader) Rehearse(comments []comment.Comment) LoadCounts {
	fresh := l.dropRepeated(comments)
	l.remember(fresh)
	return LoadCounts{Written: len(fresh), Repeated: len(comments) - len(fresh)}
}

// dropRepeated keeps the first comment of every id that has not passed before. DynamoDB refuses a batch that names a key
// twice.
func (l *Loader) dropRepeated(comments []comment.Comment) []comment.Comment {
	fresh := make([]comment.Comment, 0, len(comments))
	inBatch := make(map[comment.ID]struct{}, len(comments))
	for _, c := range comments {
		_, repeated := inBatch[c.ID]
		if repeated || l.remembers(c.ID) {
			continue
		}
		inBatch[c.ID] = struct{}{}
		fresh = append(fresh, c)
	}
	return fresh
}

func (l *Loader) remembers(id comment.ID) bool {
	_, recent := l.recent[id]
	_, older := l.older[id]
	return recent || older
}

// remember is called for what was loaded in full, so that a failed load can be repeated.
func (l *Loader) remember(loaded []comment.Comment) {
	for _, c := range loaded {
		if len(l.recent) == rememberedIDs {
			l.recent, l.older = map[comment.ID]struct{}{}, l.recent
		}
		l.recent[c.ID] = struct{}{}
	}
}

// partLoad is how far a part of a load has come.
type partLoad struct {
	pending []comment.Comment // those not known to be in the table
	asked   bool              // what was there beforehand is counted
	counts  LoadCounts
}

// loadPart brings at most MaxKeysPerGet different comments into the table, however often it takes.
func (l *Loader) loadPart(ctx context.Context, part []comment.Comment) (LoadCounts, error) {
	p := partLoad{pending: part}
	err := call.Retry(ctx, func() (further bool, err error) {
		before := len(p.pending)
		err = l.try(ctx, &p)
		return len(p.pending) < before, err
	})
	return p.counts, err
}

// try asks which of the pending comments are missing and writes those. Without an error none is left.
func (l *Loader) try(ctx context.Context, p *partLoad) error {
	there, deleted, err := l.look(ctx, p.pending)
	if err != nil {
		return err
	}
	if p.asked {
		p.counts.Written += len(there) // by our own call, the answer to which was lost
	} else {
		p.counts.Existing = len(there)
	}
	p.asked = true
	missing := without(p.pending, there)
	if !l.Revive {
		p.counts.Deleted += len(deleted)
		missing = without(missing, deleted)
	}
	p.pending, err = l.write(ctx, missing)
	p.counts.Written += len(missing) - len(p.pending)
	return err
}

// look tells which comments the table holds at this moment, and which it held until they were deleted.
func (l *Loader) look(ctx context.Context, comments []comment.Comment) (there, deleted map[comment.ID]bool, err error) {
	keys := make([]layout.Item, len(comments))
	for i, c := range comments {
		keys[i] = layout.CommentKey(c.ID)
	}
	items, left, err := call.GetItems(ctx, l.client, l.table, types.KeysAndAttributes{
		Keys:                 keys,
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String(layout.AttrPK + "," + layout.AttrDeleted),
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of %d keys", len(keys))
	}
	if len(left) > 0 {
		return nil, nil, call.ErrBusy
	}
	there, deleted = make(map[comment.ID]bool, len(items)), map[comment.ID]bool{}
	for _, it := range items {
		if layout.NoComment(it) {
			deleted[layout.IDOfKey(it)] = true
			continue
		}
		there[layout.IDOfKey(it)] = true
	}
	return there, deleted, nil
}

// write writes the comments, in calls of as many as one takes, until one fails. It returns those not known to be written,
// with an error unless there are none.
func (l *Loader) write(ctx context.Context, comments []comment.Comment) ([]comment.Comment, error) {
	var unprocessed []comment.Comment
	for len(comments) > 0 {
		size := writeSize(comments)
		left, err := l.writeOnce(ctx, comments[:size])
		if err != nil {
			return append(unprocessed, comments...), call.Wrap(err, "BatchWriteItem of %d comments", size)
		}
		unprocessed = append(unprocessed, left...)
		comments = comments[size:]
	}
	if len(unprocessed) > 0 {
		return unprocessed, call.ErrBusy
	}
	return nil, nil
}

// writeOnce makes one call and returns what the table left out.
func (l *Loader) writeOnce(ctx context.Context, comments []comment.Comment) ([]comment.Comment, error) {
	requests := make([]types.WriteRequest, len(comments))
	for i, c := range comments {
		requests[i].PutRequest = &types.PutRequest{Item: layout.Encode(c)}
	}
	output, err := l.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{l.table: requests},
	}, call.NoRetries)
	if err != nil {
		return nil, err
	}
	left := output.UnprocessedItems[l.table]
	if len(left) == 0 {
		return nil, nil
	}
	written := make(map[comment.ID]bool, len(comments))
	for _, c := range comments {
		written[c.ID] = true
	}
	for _, request := range left {
		delete(written, layout.IDOfKey(request.PutRequest.Item))
	}
	return without(comments, written), nil
}

// writeSize is how many of the first comments go into one call.
func writeSize(comments []comment.Comment) int {
	size := min(len(comments), maxItemsPerWrite)
	for i, bytes := 0, 0; i < size; i++ {
		bytes += len(comments[i].Text)
		if i > 0 && bytes > maxBytesPerWrite {
			return i
		}
	}
	return size
}

func without(comments []comment.Comment, drop map[comment.ID]bool) []comment.Comment {
	kept := make([]comment.Comment, 0, len(comments))
	for _, c := range comments {
		if !drop[c.ID] {
			kept = append(kept, c)
		}
	}
	return kept
}
