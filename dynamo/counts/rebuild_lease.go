package counts

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// A rebuild saves how far it came in one item of the table, with every heartbeat. A number in the
// item rises with every write. A process that sees the number unchanged for some heartbeats takes
// the work over, so clocks need not agree.
const (
	rebuildHeartbeat = time.Second
	rebuildPatience  = 6 // heartbeats
)

// errRebuildLost is for a rebuild that another process took over.
var errRebuildLost = comment.Errorf(comment.Conflict, "another rebuild has taken over, since this one was silent for too long: wait for the end of that one")

// progressClient is the part of the SDK's client that keeps the progress of a rebuild.
type progressClient interface {
	call.BatchGetter
	itemPutter
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// rebuildLease keeps the progress of this process's rebuild. It is safe for concurrent use.
type rebuildLease struct {
	client    progressClient
	table     string
	heartbeat time.Duration
	owner     string // unique to this rebuild
	engine    string // as in the Rebuilder

	saving   sync.Mutex // held while the item is written; guards ended
	ended    bool       // the work is done, and the item is deleted
	mu       sync.Mutex // guards progress
	progress rebuildProgress
}

// acquire starts a rebuild, or takes over an interrupted one. While another process rebuilds, it
// returns an error that names that process.
func (l *rebuildLease) acquire(ctx context.Context, who string) error {
	var first rebuildProgress
	for heartbeats := 0; ; heartbeats++ {
		now, err := l.read(ctx)
		if err != nil {
			return err
		}
		if heartbeats == 0 {
			first = now
		}
		switch same := now.owner == first.owner && now.heartbeat == first.heartbeat; {
		case now.owner == "" || now.owner == l.owner || l.orphaned(now) || same && heartbeats >= rebuildPatience:
			taken, err := l.take(ctx, now, who)
			if taken || err != nil {
				return err
			}
		case !same:
			return comment.Errorf(comment.Conflict, "a rebuild is under way, by %s: wait until it has ended, or end it; then run this again", now.who)
		}
		if err := task.Wait(ctx, l.heartbeat); err != nil {
			return err
		}
	}
}

// orphaned reports whether the owner of a rebuild worked through an ended run of the engine, and so
// can write no more.
func (l *rebuildLease) orphaned(p rebuildProgress) bool {
	return l.engine != "" && p.engine != "" && p.engine != l.engine
}

// take takes over a rebuild if it is still as it was read. It returns false when another process
// came first, or the answer was lost.
func (l *rebuildLease) take(ctx context.Context, from rebuildProgress, who string) (taken bool, err error) {
	condition, values := from.unchanged()
	from.owner, from.who, from.engine = l.owner, who, l.engine
	from.heartbeat++
	from.saved = time.Now()
	if err := l.put(ctx, from.item(), condition, values); err != nil {
		var refused *types.ConditionalCheckFailedException
		if errors.As(err, &refused) {
			return false, nil
		}
		return false, err
	}
	l.progress = from
	return true, nil
}

func (l *rebuildLease) read(ctx context.Context) (rebuildProgress, error) {
	return call.Retried(ctx, func() (rebuildProgress, error) {
		items, err := fetch(ctx, l.client, l.table, []layout.Item{rebuildKey()})
		if err != nil {
			return rebuildProgress{}, err
		}
		return decodeRebuild(items[keyOf(rebuildKey())])
	})
}

// update changes what is saved with the next heartbeat.
func (l *rebuildLease) update(change func(*rebuildProgress)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.progress)
}

// snapshot returns the current progress.
func (l *rebuildLease) snapshot() rebuildProgress {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.progress
	now.segments = slices.Clone(now.segments)
	return now
}

// save writes the progress, unless another rebuild has taken over.
func (l *rebuildLease) save(ctx context.Context) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	if l.ended {
		return nil // this heartbeat waited until the rebuild was done
	}
	l.mu.Lock()
	l.progress.heartbeat++
	l.progress.saved = time.Now()
	it := l.progress.item()
	l.mu.Unlock()
	err := l.put(ctx, it, attrOwner+" = :me", layout.Item{":me": layout.Text(l.owner)})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return errRebuildLost
	}
	return err
}

func (l *rebuildLease) put(ctx context.Context, it layout.Item, condition string, values layout.Item) error {
	return call.Retry(ctx, func() (further bool, err error) {
		_, err = l.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(l.table), Item: it, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
		})
		return false, call.Wrap(err, "PutItem of the progress of a rebuild")
	})
}

// keep saves the progress with every heartbeat until the context ends or another rebuild has taken
// over.
func (l *rebuildLease) keep(ctx context.Context) error {
	for {
		if err := task.Wait(ctx, l.heartbeat); err != nil {
			return nil
		}
		if err := l.save(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// release leaves the rebuild to the next process. If that fails, others notice the missing
// heartbeats.
func (l *rebuildLease) release(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	l.update(func(p *rebuildProgress) { p.owner = "" })
	_ = l.save(ctx)
}

// finish deletes the progress, so that nothing is left to resume.
func (l *rebuildLease) finish(ctx context.Context) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	return call.Retry(ctx, func() (further bool, err error) {
		_, err = l.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 aws.String(l.table),
			Key:                       rebuildKey(),
			ConditionExpression:       aws.String("attribute_not_exists(" + layout.AttrPK + ") OR " + attrOwner + " = :me"),
			ExpressionAttributeValues: layout.Item{":me": layout.Text(l.owner)},
		})
		var refused *types.ConditionalCheckFailedException
		if errors.As(err, &refused) {
			return false, errRebuildLost
		}
		l.ended = err == nil
		return false, call.Wrap(err, "DeleteItem of the progress of a rebuild")
	})
}

// RebuildStatus is what other processes can see of a rebuild. The zero value is no rebuild.
type RebuildStatus struct {
	// Who describes the process that rebuilds.
	Who string
	// Items is how many items of the table were scanned.
	Items int64
	// Interrupted says that no process continues it.
	Interrupted bool
}

// silence is how long a rebuild may save nothing before it counts as interrupted.
const silence = rebuildPatience * rebuildHeartbeat

// CurrentRebuild returns the rebuild of a table that is under way or was interrupted.
func CurrentRebuild(ctx context.Context, client progressClient, table string) (RebuildStatus, error) {
	now, err := (&rebuildLease{client: client, table: table}).read(ctx)
	if err != nil || now.heartbeat == 0 {
		return RebuildStatus{}, err
	}
	return RebuildStatus{Who: now.who, Items: now.scanned, Interrupted: now.owner == "" || time.Since(now.saved) > silence}, nil
}
