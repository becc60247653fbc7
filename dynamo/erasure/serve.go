package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// Serve does requested and interrupted erasures, one after the other, until the context ends. It
// looks for them every 30 seconds, which takes half a read unit. It logs and retries those that
// fail. The log names no author.
func (e *Eraser) Serve(ctx context.Context, log *slog.Logger) {
	for ctx.Err() == nil {
		err := task.Try(func() error { return e.serveAll(ctx, log) })
		if err != nil && ctx.Err() == nil {
			log.Error("an erasure of an author stopped and will begin again", "in", e.pace.poll, "kind", int(comment.KindOf(err)), "error", err)
		}
		select {
		case <-ctx.Done():
		case <-e.wake:
		case <-time.After(e.pace.poll):
		}
	}
}

// serveAll does the erasures on which no process works. One that fails does not hold up the others.
func (e *Eraser) serveAll(ctx context.Context, log *slog.Logger) error {
	var failed error
	for it, err := range call.Items(ctx, e.client, &dynamodb.QueryInput{
		TableName: aws.String(e.table), KeyConditionExpression: aws.String(layout.AttrPK + " = :key"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(jobPK)},
	}, "erasures") {
		if err != nil {
			return errors.Join(failed, err)
		}
		job, err := readProgress(it)
		switch sortKey := layout.NewReader(it).Text(layout.AttrSK); {
		case err != nil || sortKey != digestOf(job.author): // else it would be erased again and again
			err = fmt.Errorf("%s / %s names no author, or another one: delete the item, and ask for the erasure again", jobPK, sortKey)
		case job.report.State == comment.ErasureWaiting:
			err = e.serve(ctx, job.author, log)
		}
		failed = errors.Join(failed, call.Wrap(err, "item of an erasure"))
	}
	return failed
}

// serve does one erasure, unless another process has begun it.
func (e *Eraser) serve(ctx context.Context, author comment.Author, log *slog.Logger) error {
	began := time.Now()
	done, err := e.Run(ctx, author, func(comment.Erasure) {})
	switch {
	case comment.KindOf(err) == comment.Conflict:
		return nil
	case err != nil:
		return err
	}
	log.Info("an author is erased", "comments", done.Comments, "reports", done.Reports, "votes", done.Votes, "took", time.Since(began).Round(time.Millisecond))
	return nil
}
