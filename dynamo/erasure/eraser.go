package erasure

import (
	"context"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
)

// pollEvery is how often a process looks for erasures on which no process works.
const pollEvery = 30 * time.Second

// Client is the part of the SDK's client that an Eraser works with.
type Client interface {
	call.Querier
	dynamodb.ScanAPIClient
	leases.WorkClient
}

// Options are the settings of an Eraser.
type Options struct {
	// Who describes this process to people.
	Who string
	// Engine names the run of the local engine that serves the table; see leases.WorkOptions.
	Engine string
}

// Eraser erases authors. It is safe for concurrent use.
type Eraser struct {
	Options

	client Client
	table  string
	pace   pace
	wake   chan struct{} // holds a signal after Start was called in this process
}

// lastWords is how long an erasure that ends early may take to save its progress.
const lastWords = 3 * time.Second

// pace has the waits of an erasure.
type pace struct{ heartbeat, settle, poll, lastWords time.Duration }

// New makes an Eraser for a table, whose keys and indexes must be those of layout.Definition.
func New(client Client, table string, options Options) *Eraser {
	return &Eraser{
		Options: options, client: call.For(client, call.ForMaintenance), table: table,
		pace: pace{leases.WorkHeartbeat, settle, pollEvery, lastWords}, wake: make(chan struct{}, 1),
	}
}

// Start requests the erasure of an author, which any serving process then takes on. If it is under
// way already, Start changes nothing.
func (e *Eraser) Start(ctx context.Context, author comment.Author) (comment.Erasure, error) {
	wanted := progress{author: author, report: comment.Erasure{RequestedAt: millisecond(time.Now())}}
	it := wanted.attributes()
	maps.Copy(it, jobKey(author))
	err := call.Retry(ctx, func() (further bool, err error) {
		_, err = e.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(e.table), Item: it, ConditionExpression: aws.String(layout.IfAbsent),
		}, call.NoRetries)
		if call.Refused(err) {
			return false, nil
		}
		return false, call.Wrap(err, "PutItem of an erasure")
	})
	if err != nil {
		return comment.Erasure{}, err
	}
	select {
	case e.wake <- struct{}{}:
	default: // a signal is waiting already
	}
	now, _, err := e.Status(ctx, author)
	return now, err
}

// Status returns the erasure of an author that waits or is under way, or else the last one that
// ended. found is false if there was none.
func (e *Eraser) Status(ctx context.Context, author comment.Author) (now comment.Erasure, found bool, err error) {
	it, err := e.item(ctx, jobKey(author))
	if err != nil {
		return now, false, err
	}
	if len(it) > 0 {
		job, _ := readProgress(it) // its error is about the author, who is known here
		return job.report, true, nil
	}
	it, err = e.item(ctx, markKey(author))
	return reportOf(it), it[attrUntil] != nil, err
}

func (e *Eraser) item(ctx context.Context, key layout.Item) (layout.Item, error) {
	return call.Retried(ctx, func() (layout.Item, error) {
		return call.Item(ctx, e.client, e.table, key, "GetItem of an erasure")
	})
}
