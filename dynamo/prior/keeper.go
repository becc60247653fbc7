package prior

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/internal/wait"
)

const (
	// firstSave is how long after its start a process saves at the earliest, saveEvery how long after
	// the time before. Both are drawn at random up to twice as long, so servers that start together
	// seldom meet.
	firstSave = time.Minute
	saveEvery = 10 * time.Minute
	// lastSave bounds the save at the end of a process.
	lastSave = time.Second
	// saveTries is how often a save begins anew because another server was quicker.
	saveTries = 3
)

// Client is the part of the SDK's client that a Keeper works with.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Keeper keeps in the table what a Learner learns. It does its best and fails nothing: without it, a
// process starts with the planner's default.
type Keeper struct {
	// Client and Table say where the item is.
	Client Client
	Table  string
	// Learner is what learns.
	Learner *Learner
	// Logger is told, once for each, that the item is damaged, and that it cannot be read or written
	// and trying again would not help.
	Logger *slog.Logger

	damaged sync.Once
}

// Beside loads what was saved, without delaying the work, and saves what is learnt while the work
// goes on and at its end. It returns what the work returns.
func (k *Keeper) Beside(ctx context.Context, work func(context.Context) error) error {
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() {
		if err := panics.Guard(func() error { k.keep(keeping); return nil }); err != nil {
			k.Logger.Error("what plans learn is not saved any more", "error", err)
		}
	})
	defer group.Wait()
	defer end()
	return work(ctx)
}

// keep loads what was saved, and saves until the context ends, and once more then.
func (k *Keeper) keep(ctx context.Context) {
	k.start(ctx)
	for pause := firstSave; wait.For(ctx, pause+rand.N(pause)) == nil; pause = saveEvery {
		if !k.saves(ctx) {
			return
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
	defer cancel()
	_ = k.save(last) // nobody is left to act on an error
}

// Load has the Learner know what earlier processes saved. A damaged item is none.
func (k *Keeper) Load(ctx context.Context) error {
	stored, err := k.read(ctx, false)
	if err != nil {
		return err
	}
	k.Learner.load(stored.tally)
	return nil
}

// start loads. What keeps it from that is logged.
func (k *Keeper) start(ctx context.Context) {
	if err := k.Load(ctx); err != nil && !passes(ctx, err) {
		k.Logger.Warn("what plans learnt earlier cannot be read; they start without", "error", err)
	}
}

// saves saves, and reports whether a later try may succeed.
func (k *Keeper) saves(ctx context.Context) bool {
	err := k.save(ctx)
	if err == nil || passes(ctx, err) {
		return true
	}
	k.Logger.Warn("what plans learn is not saved, as for a process that may not write", "error", err)
	return false
}

// passes reports whether a later try may succeed.
func passes(ctx context.Context, err error) bool {
	return ctx.Err() != nil || call.Transient(err) || overtaken(err)
}

// overtaken reports whether another server has written the item meanwhile.
func overtaken(err error) bool {
	var refused *types.ConditionalCheckFailedException
	return errors.As(err, &refused)
}

// save adds what was learnt since the last time to what the table holds, which other servers may
// have written meanwhile. After a lost answer the same may be added twice; it fades like all else.
func (k *Keeper) save(ctx context.Context) error {
	news, worth := k.Learner.take()
	if !worth {
		return nil
	}
	merged, err := k.merge(ctx, news)
	if err != nil {
		k.Learner.putBack()
		return err
	}
	k.Learner.saved(merged)
	return nil
}

// merge adds a tally to the item, and returns what the item holds then.
func (k *Keeper) merge(ctx context.Context, news tally) (merged tally, err error) {
	for range saveTries {
		var before stored
		if before, err = k.read(ctx, true); err != nil {
			return tally{}, err
		}
		merged = before.tally.plus(news).bounded()
		if err = k.write(ctx, merged, before); !overtaken(err) {
			break
		}
	}
	return merged, err
}

// read reads the item. A damaged one holds nothing.
func (k *Keeper) read(ctx context.Context, consistent bool) (stored, error) {
	output, err := k.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(k.Table), Key: itemKey(), ConsistentRead: aws.Bool(consistent),
	})
	if err != nil {
		return stored{}, call.Wrap(err, "GetItem %s/%s", itemPK, itemSK)
	}
	found, err := decode(output.Item)
	if err != nil {
		k.damaged.Do(func() {
			k.Logger.Warn("what plans learnt earlier is damaged and not used; what they learn from now on replaces it", "error", err)
		})
	}
	return found, nil
}

// write writes the item if it is as it was read.
func (k *Keeper) write(ctx context.Context, t tally, before stored) error {
	item, err := encode(t, before)
	if err != nil {
		return err
	}
	condition, values := before.unchanged()
	_, err = k.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(k.Table), Item: item, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	})
	return call.Wrap(err, "PutItem %s/%s", itemPK, itemSK)
}
