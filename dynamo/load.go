package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// DefaultLoadCalls is how many calls a Loader has under way at once unless told otherwise. The local engine writes one
// batch after the other, so that a second call only keeps it busy while we encode; a table on AWS takes many more.
const DefaultLoadCalls = 2

// Bounds of one BatchWriteItem. The number of items is DynamoDB's own bound. That of the bytes is ours: written as JSON a
// byte of text can become six, and a call has to stay well below the 16 MB that DynamoDB takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const (
	maxItemsPerWrite = 25
	maxBytesPerWrite = 1 << 20
)

// A part of a load that gets no further is tried this often, with waits that double from the first up to the longest and
// are drawn at random up to their full length: about 20 s in all. A try that wrote anything starts the count anew.
const (
	loadTries       = 12
	loadFirstWait   = 50 * time.Millisecond
	loadLongestWait = 5 * time.Second
)

// rememberedIDs bounds what a Loader remembers of the comments that passed through it: about 40 MB at most.
const rememberedIDs = 1 << 19

// bulkClient is the part of the SDK's client that a Loader works with.
type bulkClient interface {
	itemGetter
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// LoadCounts says what became of the comments given to a Loader. Each is counted once.
type LoadCounts struct {
	// Written is how many were not there and are now.
	Written int
	// Existing is how many were there and were left as they are.
	Existing int
	// Repeated is how many had the id of an earlier one of the same load, whose content then counts.
	Repeated int
}

func (n *LoadCounts) add(more LoadCounts) {
	n.Written += more.Written
	n.Existing += more.Existing
	n.Repeated += more.Repeated
}

// Loader writes many comments that may be there already. It overwrites none: someone may have edited it since.
//
// BatchWriteItem knows no conditions, and a conditional PutItem for each comment is several times slower. So a Loader
// asks before it writes, consistently, and asks again before it repeats a write whose outcome it does not know; the SDK's
// own retries, which would not ask, are off. What remains open are the milliseconds between question and write: a
// comment could be lost there only if another load wrote the same one and someone edited it within them.
type Loader struct {
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
	parts := slices.Collect(slices.Chunk(fresh, MaxKeysPerGet))
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
		return total, wrap(err, "load of %d comments", len(comments))
	}
	l.remember(fresh)
	return total, nil
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

// loadPart brings at most MaxKeysPerGet different comments into the table: it asks which are missing, writes those, and
// starts over with whatever did not get through.
func (l *Loader) loadPart(ctx context.Context, part []comment.Comment) (LoadCounts, error) {
	var n LoadCounts
	for try, first := 0, true; ; first = false {
		missing, err := l.missing(ctx, part)
		if err == nil {
			there := len(part) - len(missing)
			if first {
				n.Existing = there
			} else {
				n.Written += there // by our own call whose answer was lost
			}
			var left []comment.Comment
			left, err = l.write(ctx, missing)
			n.Written += len(missing) - len(left)
			if len(left) == 0 {
				return n, nil
			}
			if len(left) < len(part) {
				try = 0
			}
			part = left
		} else {
			first = first && true
		}
		try++
		if err != nil && !passing(ctx, err) || try == loadTries {
			return n, cmpErr(err)
		}
		if err := pause(ctx, min(loadFirstWait<<try, loadLongestWait)); err != nil {
			return n, err
		}
	}
}
