package erasure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/task"
)

// How an erasure becomes complete while others write, and even if it is killed.
//
// First it writes the mark, which keeps imports from adding comments of the author. A customer's
// items are found by an index, and a pass erases all items in it. The index follows the table
// within moments, and an import may add comments until it knows the mark. So passes go on until one
// that began after that time finds nothing. Imported authors are in no index. After that time no
// import adds comments of theirs, and one consistent scan finds all.
//
// A comment becomes a tombstone first, and then the items beside it are deleted. Decisions and
// reports are written on condition that their comment is no tombstone, so none comes later. A
// tombstone does not name its author, so the item of the erasure lists the comments that are being
// erased. It is saved before they are erased, and a process that takes over begins with them.

const (
	// maxPasses ends an erasure whose author keeps writing. Items written later stay.
	maxPasses = 5
	// atOnce is how many comments are erased together.
	atOnce = call.MaxAtOnce
)

// Run erases an author, or continues an interrupted erasure. It calls show now and then. After an
// error, another Run continues where this one stopped. While another process erases the author, it
// returns a Conflict error.
func (e *Eraser) Run(ctx context.Context, author comment.Author, show func(comment.Erasure)) (done comment.Erasure, err error) {
	for over := true; over && err == nil; { // what the author wrote since one was over is erased, too
		done, over, err = e.goOn(ctx, author, show)
	}
	return done, err
}

// goOn is like Run, but if the author's item is of an erasure that is over already, it only deletes
// the item, and what is left beside the comments that it names.
func (e *Eraser) goOn(ctx context.Context, author comment.Author, show func(comment.Erasure)) (done comment.Erasure, over bool, err error) {
	at, err := call.Retried(ctx, func() (time.Time, error) { return e.requestedNow(ctx, author) })
	if err != nil {
		return done, false, err
	}
	run := &erasing{Eraser: e, author: author, show: show, progress: progress{author: author, report: comment.Erasure{RequestedAt: at}}}
	run.work = leases.NewWork(leases.WorkOptions{
		Client: e.client, Table: e.table, Key: jobKey(author), Name: "an erasure of this author", Who: e.who, Engine: e.engine,
		Heartbeat: e.pace.heartbeat, Progress: func() layout.Item { return run.snapshot().attributes() },
	})
	before, err := run.work.Acquire(ctx)
	if err != nil {
		return done, false, err
	}
	err = run.work.Hold(ctx, e.pace.lastWords, func(ctx context.Context) error {
		if len(before) > 0 {
			taken, _ := readProgress(before) // the author is known, even if the item is damaged
			taken.author = author
			taken.report.FinishedAt = nil // only the mark says whether it has ended
			run.update(func(p *progress) { *p = taken })
		}
		if over, err = run.mark(ctx, layout.IfAbsent, nil); err != nil {
			return err
		}
		if err := run.eraseAll(ctx, run.snapshot().underWay); err != nil { // a restore may have brought back what is beside them
			return err
		}
		if over {
			return run.work.Finish(ctx)
		}
		return run.all(ctx)
	})
	return run.snapshot().report, over, err
}

// all finds and erases everything, once the mark is written.
func (r *erasing) all(ctx context.Context) error {
	find := r.findOfCustomer
	if r.author.Imported {
		find = r.findImported
	}
	if err := find(ctx); err != nil {
		return err
	}
	if err := r.work.Save(ctx); err != nil { // fails if another process has ended it while this one was suspended
		return err
	}
	r.update(func(p *progress) {
		p.report.State, p.report.FinishedAt = comment.ErasureDone, new(millisecond(time.Now()))
	})
	if _, err := r.mark(ctx, attrRequested+" = :requested AND attribute_not_exists("+attrUntil+")", layout.Item{":requested": layout.Time(r.snapshot().report.RequestedAt)}); err != nil {
		return err
	}
	return r.work.Finish(ctx)
}

// mark writes the mark with the current report. It writes nothing and returns true if the mark says
// that this erasure has ended. Then a process was killed before it deleted the item of the erasure,
// or its request to write the item arrived late. What the author wrote since then stays. A write
// depends on the condition, or on the mark that was found, so a late one changes no later mark.
func (r *erasing) mark(ctx context.Context, condition string, values layout.Item) (done bool, err error) {
	it := reportItem(r.snapshot().report)
	maps.Copy(it, markKey(r.author))
	for {
		err := call.Retry(ctx, func() (further bool, err error) {
			err = call.Put(ctx, r.client, call.PutIf(r.table, it, condition, values))
			return false, call.Wrap(err, "PutItem of the mark of an erased author")
		})
		there, refused := call.FoundInstead(err)
		if !refused {
			return false, err
		}
		if ended(there, it) {
			r.update(func(p *progress) { p.report = reportOf(there) })
			return true, nil
		}
		condition, values = layout.AsRead(there, attrRequested, attrUntil)
	}
}

// findOfCustomer finds a customer's items by the index, in passes, and erases them.
func (r *erasing) findOfCustomer(ctx context.Context) error {
	for pass := 1; ; pass++ {
		before := r.snapshot().report
		for _, writer := range []*types.AttributeValueMemberS{layout.WriterOfComment(r.author.ID), layout.WriterOfReport(r.author.ID)} {
			for output, err := range call.Answers(ctx, r.client, &dynamodb.QueryInput{
				TableName: aws.String(r.table), IndexName: aws.String(string(layout.ByAuthor)),
				KeyConditionExpression: aws.String(layout.AttrWriter + " = :writer"), ExpressionAttributeValues: layout.Item{":writer": writer},
				Limit: aws.Int32(atOnce), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			}, string(layout.ByAuthor)) {
				if err != nil {
					return err
				}
				r.read(call.UnitsOf(output.ConsumedCapacity))
				if err := r.eraseFound(ctx, output.Items, layout.AttrWriter+" = :writer", layout.Item{":writer": writer}); err != nil {
					return err
				}
			}
		}
		after := r.snapshot().report
		foundNone := after.Comments == before.Comments && after.Reports == before.Reports && after.Votes == before.Votes
		if pass > 1 && foundNone || pass == maxPasses {
			return nil
		}
		if err := task.Wait(ctx, r.pace.settle); err != nil {
			return err
		}
		if err := r.work.Save(ctx); err != nil { // fails if another process has ended it: items written since then stay
			return err
		}
	}
}

// eraseFound erases the items with the keys, if they are the author's: comments, reports and votes,
// and items that were copied by hand.
func (r *erasing) eraseFound(ctx context.Context, keys []layout.Item, condition string, values layout.Item) error {
	var comments []comment.ID
	var others []layout.Item
	for _, key := range keys {
		if id, err := layout.CommentOfKey(key); err == nil {
			comments = append(comments, id)
			continue
		}
		others = append(others, layout.KeyOf(key))
	}
	if err := r.eraseAll(ctx, comments); err != nil {
		return err
	}
	return call.Parallel(ctx, len(others), func(ctx context.Context, i int) error {
		gone, err := r.delete(ctx, others[i], condition, values)
		_, isVote := layout.VoteSlice(others[i])
		switch {
		case gone && isVote:
			r.update(func(p *progress) { p.report.Votes++ })
		case gone:
			r.update(func(p *progress) { p.report.Reports++ })
		}
		return err
	})
}

// findImported finds the comments of an imported author by a scan, and erases them.
func (r *erasing) findImported(ctx context.Context) error {
	if err := task.Wait(ctx, r.pace.settle); err != nil {
		return err
	}
	condition, author := ofAuthor(r.author)
	input := &dynamodb.ScanInput{
		TableName: aws.String(r.table), ConsistentRead: aws.Bool(true), ExclusiveStartKey: r.snapshot().start,
		FilterExpression: aws.String(condition), ExpressionAttributeValues: author,
		ProjectionExpression: aws.String(layout.AttrPK + "," + layout.AttrSK), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	for output, err := range call.ScanAnswers(ctx, r.client, input, "Scan of an erasure") {
		if err != nil {
			return err
		}
		r.read(call.UnitsOf(output.ConsumedCapacity))
		for keys := range slices.Chunk(output.Items, atOnce) {
			if err := r.eraseFound(ctx, keys, condition, author); err != nil {
				return err
			}
		}
		r.update(func(p *progress) { p.start = output.LastEvaluatedKey })
	}
	return nil
}

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

// serveAll does the erasures on which no process works. A failed erasure does not hold up the
// others.
func (e *Eraser) serveAll(ctx context.Context, log *slog.Logger) error {
	var failed error
	input := call.PartitionInput(e.table, layout.Text(jobPK), "")
	input.ConsistentRead = nil
	for it, err := range call.Items(ctx, e.client, input, "erasures") {
		if err != nil {
			return errors.Join(failed, err)
		}
		job, err := readProgress(it)
		switch sortKey := layout.NewReader(it).Text(layout.AttrSK); {
		case err != nil || sortKey != digestOf(job.author): // else it would be erased again and again
			err = fmt.Errorf("%s / %s names no author, or another one: delete the item, and ask for the erasure again", jobPK, sortKey)
		case job.report.State == comment.ErasureWaiting:
			began := time.Now()
			var done comment.Erasure
			if done, _, err = e.goOn(ctx, job.author, func(comment.Erasure) {}); err == nil {
				log.Info("an author is erased", "comments", done.Comments, "reports", done.Reports, "votes", done.Votes, "took", time.Since(began).Round(time.Millisecond))
			}
			if comment.KindOf(err) == comment.Conflict {
				err = nil // another process has begun it
			}
		}
		failed = errors.Join(failed, call.Wrap(err, "item of an erasure"))
	}
	return failed
}

// found is a comment of the author that has to be erased.
type found struct {
	id comment.ID
	// keys has the keys of items elsewhere that name the comment, such as that of its idempotency
	// key.
	keys []layout.Item
	// report has the counts of this comment alone.
	report comment.Erasure
}

// eraseAll erases the given comments as far as they are the author's. Before the first, it saves
// and counts their ids. It does not count ids again that are saved already.
func (r *erasing) eraseAll(ctx context.Context, ids []comment.ID) error {
	all := make([]*found, len(ids))
	err := call.Parallel(ctx, len(ids), func(ctx context.Context, i int) (err error) {
		all[i], err = r.look(ctx, ids[i])
		return err
	})
	if err != nil {
		return err
	}
	again := len(r.snapshot().underWay) > 0 // also those that are tombstones: items may be left beside them
	r.update(func(p *progress) {
		for _, f := range all {
			if f == nil || again {
				continue
			}
			p.underWay = append(p.underWay, f.id)
			counts := counters(&f.report)
			for attr, sum := range counters(&p.report) {
				*sum += *counts[attr]
			}
		}
	})
	if len(r.snapshot().underWay) == 0 {
		return nil
	}
	if err := r.work.Save(ctx); err != nil {
		return err
	}
	if err := call.Parallel(ctx, len(ids), func(ctx context.Context, i int) error {
		if all[i] == nil && !again {
			return nil // not the author's
		}
		return r.erase(ctx, ids[i], all[i])
	}); err != nil {
		return err
	}
	r.update(func(p *progress) { p.underWay = nil })
	r.show(r.snapshot().report)
	return nil
}

// look reads a comment and the items beside it. It returns nil if the comment is not, or no longer,
// the author's.
func (r *erasing) look(ctx context.Context, id comment.ID) (*found, error) {
	items, err := r.partition(ctx, id)
	if err != nil {
		return nil, err
	}
	f := &found{id: id}
	for _, it := range items {
		switch sortKey := layout.NewReader(it).Text(layout.AttrSK); {
		case sortKey == layout.CommentSK && !layout.NoComment(it) && r.isAuthors(it):
			f.report.Comments = 1
			f.report.HeldEdits, f.report.Replies = layout.Extras(it)
			if hash := layout.BytesOf(it, layout.AttrKeyHash); hash != nil {
				f.keys = append(f.keys, layout.KeyOfHash(hash))
			}
			if product, err := layout.ProductOf(it); err == nil && !r.author.Imported {
				f.keys = append(f.keys, layout.OneKey(comment.CustomerProduct{Customer: r.author.ID, Product: product}))
			}
		case strings.HasPrefix(sortKey, layout.DecisionSKPrefix):
			f.report.Decisions++
		case strings.HasPrefix(sortKey, layout.ReportSKPrefix):
			f.report.ReportsAbout++
		}
	}
	if f.report.Comments == 0 {
		return nil, nil
	}
	return f, nil
}

func (r *erasing) isAuthors(it layout.Item) bool {
	reader := layout.NewReader(it)
	if !r.author.Imported {
		return reader.Text(layout.AttrWriter) == layout.WriterOfComment(r.author.ID).Value
	}
	_, id := reader.TextOrBinary(layout.AttrAuthorID)
	return id != nil && string(id) == r.author.ID
}

// erase replaces a comment with a tombstone, and deletes the items that name it or are beside it. f
// is nil if the comment is a tombstone already.
func (r *erasing) erase(ctx context.Context, id comment.ID, f *found) error {
	if f != nil {
		if err := r.bury(ctx, f); err != nil {
			return err
		}
	}
	items, err := r.partition(ctx, id)
	if err != nil {
		return err
	}
	var beside []layout.Item
	for _, it := range items {
		switch {
		case layout.NewReader(it).Text(layout.AttrSK) != layout.CommentSK:
			beside = append(beside, layout.KeyOf(it))
		case !layout.NoComment(it):
			return nil // it is another author's now
		}
	}
	return call.Parallel(ctx, len(beside), func(ctx context.Context, i int) error {
		_, err := r.delete(ctx, beside[i], "attribute_exists("+layout.AttrPK+")", nil)
		return err
	})
}

// bury deletes the items elsewhere that name a comment of the author, and replaces the comment with
// a tombstone, regardless of edits since.
func (r *erasing) bury(ctx context.Context, f *found) error {
	for _, key := range f.keys { // few of the items exist, and a read is cheaper than a write
		it, err := call.Retried(ctx, func() (layout.Item, error) { return r.item(ctx, key) })
		r.read(1)
		if err != nil {
			return err
		}
		if layout.NewReader(it).OptionalText(layout.AttrFirst) != string(f.id) {
			continue
		}
		gone, err := r.delete(ctx, key, layout.AttrFirst+" = :comment", layout.Item{":comment": layout.Text(string(f.id))})
		if gone {
			r.update(func(p *progress) { p.report.Keys++ })
		}
		if err != nil {
			return err
		}
	}
	condition, author := ofAuthor(r.author)
	_, err := r.write(ctx, func() (*types.ConsumedCapacity, error) {
		output, err := r.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(r.table), Item: layout.Tombstone(f.id, rand.Text(), time.Now()),
			ConditionExpression: aws.String(condition), ExpressionAttributeValues: author,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, call.NoRetries)
		if err != nil {
			return nil, err
		}
		return output.ConsumedCapacity, nil
	})
	return call.Wrap(err, "PutItem of the tombstone of %s", f.id)
}
