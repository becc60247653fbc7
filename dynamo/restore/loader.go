package restore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
)

// Client is the part of the SDK's client that a Loader uses.
type Client interface {
	call.BatchGetter
	dynamodb.ScanAPIClient
	call.Putter
	call.Updater
	call.Deleter
}

// Counts says what happened to items. Each is counted once.
type Counts struct {
	// Written is how many were missing and were added, Replaced how many were changed, and Existing
	// how many stayed as they were.
	Written, Replaced, Existing int
	// Erased is how many were left out, because their authors were erased from the table.
	Erased int
}

// Add adds counts.
func (n *Counts) Add(more Counts) {
	n.Written += more.Written
	n.Replaced += more.Replaced
	n.Existing += more.Existing
	n.Erased += more.Erased
}

// Loader writes items of a copy to a table. Each write has a condition, so a late one, whose answer
// was lost, neither overwrites nor removes newer items.
type Loader struct {
	// Replace changes existing items to those of the copy. Without it, they stay as they are.
	Replace bool
	// Lines means, with Replace, that the copy was written by talkback export. Attributes of
	// comments that its lines do not have stay, and so do all other items.
	Lines bool
	// Marks names erased authors. Their items are not written, nor are items beside their comments,
	// if the comments were loaded before. Nil leaves out none.
	Marks *erasure.Marks

	client   Client
	table    string
	calls    int
	seen     map[[16]byte]struct{} // digests of the keys of all loaded items, with Replace
	comments int                   // how many of these are comments that are not deleted

	mu     sync.Mutex
	erased map[comment.ID]struct{} // comments that were left out
}

// NewLoader returns a Loader for a table, which must be as layout.Definition says. calls is the
// number of parallel calls; 0 means call.MaxAtOnce.
func NewLoader(client Client, table string, calls int) *Loader {
	if calls < 1 {
		calls = call.MaxAtOnce
	}
	return &Loader{client: client, table: table, calls: calls, seen: map[[16]byte]struct{}{}, erased: map[comment.ID]struct{}{}}
}

// digest returns a hash of an item's key: 16 bytes, however long the key is.
func digest(it layout.Item) [16]byte {
	r := layout.NewReader(it)
	sum := sha256.Sum256([]byte(r.Text(layout.AttrPK) + "\x00" + r.Text(layout.AttrSK)))
	return [16]byte(sum[:16])
}

// Load writes items with different keys. On an error the counts say how far it got, and loading the
// same items again continues from there.
func (l *Loader) Load(ctx context.Context, items []layout.Item) (total Counts, err error) {
	there, err := l.look(ctx, items)
	if err != nil {
		return total, err
	}
	var group errgroup.Group
	group.SetLimit(l.calls)
	var mu sync.Mutex
	for _, it := range items {
		group.Go(func() error {
			did, err := l.restore(ctx, it, there[digest(it)])
			mu.Lock()
			defer mu.Unlock()
			total.Add(did)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return total, call.Wrap(err, "restore of %s", comment.Amount(len(items), "item"))
	}
	if l.Replace {
		for _, it := range items {
			l.seen[digest(it)] = struct{}{}
			if KindOf(it) == Comment && !layout.NoComment(it) {
				l.comments++
			}
		}
	}
	return total, nil
}

// Loaded reports whether an item with the same key was loaded before. It needs Replace.
func (l *Loader) Loaded(it layout.Item) bool {
	_, loaded := l.seen[digest(it)]
	return loaded
}

// look returns the existing items with the same keys; without Replace, only their keys.
func (l *Loader) look(ctx context.Context, items []layout.Item) (map[[16]byte]layout.Item, error) {
	there := make(map[[16]byte]layout.Item, len(items))
	for part := range slices.Chunk(items, call.MaxKeysPerGet) {
		want := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
		for _, it := range part {
			want.Keys = append(want.Keys, layout.KeyOf(it))
		}
		if !l.Replace {
			want.ProjectionExpression = aws.String(layout.AttrPK + "," + layout.AttrSK)
		}
		err := call.Retry(ctx, func() (progress bool, err error) {
			got, err := call.GetItems(ctx, l.client, l.table, want)
			for _, it := range got.Items {
				there[digest(it)] = it
			}
			if err == nil && len(got.Left) > 0 {
				want.Keys, err = got.Left, call.ErrBusy
			}
			return len(got.Items) > 0, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(want.Keys), "key"))
		})
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

// restore writes one item, unless the existing one stays.
func (l *Loader) restore(ctx context.Context, it, there layout.Item) (did Counts, err error) {
	it = erasure.Copied(it)
	switch out, err := l.leavesOut(ctx, it); {
	case err != nil:
		return did, err
	case out:
		return Counts{Erased: 1}, nil
	}
	var fresh, changed bool
	if there == nil {
		fresh, err = l.put(ctx, it)
	}
	if err == nil && !fresh && l.Replace {
		changed, err = l.replace(ctx, it, there)
	}
	switch {
	case errors.Is(err, erasure.ErrErased):
		l.leftOut(it)
		return Counts{Erased: 1}, nil
	case err != nil:
		return did, err
	case fresh:
		return Counts{Written: 1}, nil
	case changed:
		return Counts{Replaced: 1}, nil
	}
	return Counts{Existing: 1}, nil
}

// leavesOut reports whether an item is left out with a comment of an erased author: the comment
// itself, an item beside it, or an item that names it. For other items, writeUnlessErased checks
// the author at the write.
func (l *Loader) leavesOut(ctx context.Context, it layout.Item) (out bool, err error) {
	if l.Marks == nil {
		return false, nil
	}
	if KindOf(it) != Comment {
		r := layout.NewReader(it)
		id := comment.ID(r.OptionalText(layout.AttrFirst))
		if strings.HasPrefix(r.Text(layout.AttrPK), layout.CommentPKPrefix) {
			id = layout.IDOfKey(it)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		_, out = l.erased[id]
		return out, nil
	}
	author, known := authorOf(it)
	if !known {
		return false, nil
	}
	if out, err = call.Retried(ctx, func() (bool, error) { return l.Marks.Erased(ctx, author) }); out {
		l.leftOut(it)
	}
	return out, err
}

// leftOut remembers a comment that was left out. It ignores other items.
func (l *Loader) leftOut(it layout.Item) {
	if KindOf(it) == Comment {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.erased[layout.IDOfKey(it)] = struct{}{}
	}
}

// writeUnlessErased calls write, unless the item is by an author who was erased from the table.
func (l *Loader) writeUnlessErased(ctx context.Context, it layout.Item, write func(context.Context) error) error {
	author, known := authorOf(it)
	if !known || l.Marks == nil {
		return write(ctx)
	}
	return l.Marks.Write(ctx, author, write, func(ctx context.Context) error {
		if KindOf(it) == Comment {
			return l.Marks.Bury(ctx, author)
		}
		return call.Wrap(call.Delete(ctx, l.client, call.DeleteIf(l.table, layout.KeyOf(it), "", nil)), "DeleteItem") // a vote or a report
	})
}

// authorOf returns a comment with only the author and the time of an item, which may be a comment,
// a vote or a report. An item that someone damaged by hand still names its author.
func authorOf(it layout.Item) (c comment.Comment, known bool) {
	c.Author, known = layout.AuthorOf(it)
	c.ID = comment.IDOf(comment.FirstAt(layout.NewReader(it).OptionalTime(layout.VoteCast)))
	if KindOf(it) == Comment {
		c.ID = layout.IDOfKey(it)
	}
	return c, known
}

// put writes an item if none exists. It reports whether it did, now or in an earlier try whose
// answer was lost.
func (l *Loader) put(ctx context.Context, it layout.Item) (written bool, err error) {
	err = call.Retry(ctx, func() (progress bool, err error) {
		err = l.writeUnlessErased(ctx, it, func(ctx context.Context) error {
			return call.Put(ctx, l.client, call.PutIf(l.table, it, layout.IfAbsent, nil))
		})
		if there, refused := call.FoundInstead(err); refused {
			written = reflect.DeepEqual(there, it)
			return false, nil
		}
		written = err == nil
		return false, call.Wrap(err, "PutItem")
	})
	return written, err
}

// replace changes the existing item, there, to it, and reports whether that changed anything. Votes
// that were counted in this table stay.
func (l *Loader) replace(ctx context.Context, it, there layout.Item) (changed bool, err error) {
	tried := false // an update failed, which may have had an effect
	err = call.Retry(ctx, func() (progress bool, err error) {
		if there == nil {
			found, err := l.look(ctx, []layout.Item{it})
			if err != nil {
				return false, err
			}
			there = found[digest(it)]
		}
		want := it
		if KindOf(it) == Comment && !layout.NoComment(it) && !layout.NoComment(there) {
			if want = layout.WithVotesOf(it, there); l.Lines {
				want = layout.OfLine(it, there)
			}
		}
		if same := reflect.DeepEqual(there, want); same || erasure.Outlasts(there, it) {
			changed = changed || same && tried
			return false, nil
		}
		done, err := l.update(ctx, there, want)
		tried = tried || err != nil
		if err == nil && !done {
			err = call.ErrBusy // another write came first: look again
		}
		changed, there = changed || done, nil
		return done, err
	})
	return changed, err
}

// update changes an item from was, nil if there was none, to want, if it was neither deleted nor
// put meanwhile, and the attributes that differ are still as they were read. It deletes the item if
// want is nil.
func (l *Loader) update(ctx context.Context, was, want layout.Item) (done bool, err error) {
	names, values := map[string]string{}, layout.Item{}
	same := []string{layout.IfAbsent}
	if was == nil {
		was = layout.KeyOf(want)
	} else {
		same = []string{"attribute_exists(" + layout.AttrPK + ")", layout.SameAttrs(was, values, layout.AttrDeleted)}
	}
	var set, remove []string
	for i, attr := range layout.AttributesOf(was, want) {
		before, after := was[attr], want[attr]
		if reflect.DeepEqual(before, after) {
			continue
		}
		name, old, value := fmt.Sprintf("#a%d", i), fmt.Sprintf(":old%d", i), fmt.Sprintf(":new%d", i)
		names[name] = attr
		if before == nil {
			same = append(same, "attribute_not_exists("+name+")")
		} else {
			same, values[old] = append(same, name+" = "+old), before
		}
		if after == nil {
			remove = append(remove, name)
		} else {
			set, values[value] = append(set, name+" = "+value), after
		}
	}
	var expression []string
	if len(set) > 0 {
		expression = append(expression, "SET "+strings.Join(set, ", "))
	}
	if len(remove) > 0 {
		expression = append(expression, "REMOVE "+strings.Join(remove, ", "))
	}
	condition := strings.Join(same, " AND ")
	if want == nil {
		write := call.DeleteIf(l.table, layout.KeyOf(was), condition, values)
		write.Delete.ExpressionAttributeNames = names
		return call.Done(call.Wrap(call.Delete(ctx, l.client, write), "DeleteItem"))
	}
	write := call.UpdateIf(l.table, layout.KeyOf(want), strings.Join(expression, " "), condition, values)
	write.Update.ExpressionAttributeNames = names
	err = l.writeUnlessErased(ctx, want, func(ctx context.Context) error { return call.Update(ctx, l.client, write) })
	return call.Done(call.Wrap(err, "UpdateItem"))
}

// ErrNoComments refuses to empty a table.
var ErrNoComments = errors.New("the copy has no comments, and --replace would delete all of the table: check whether it is the right one; for an empty table, make a new one")

// RemoveOthers removes items that the copy lacks, after all of the copy was loaded with Replace.
// Comments become tombstones. Items of erasures stay. It returns how many items it removed.
func (l *Loader) RemoveOthers(ctx context.Context) (removed int, err error) {
	if l.comments == 0 {
		return 0, ErrNoComments
	}
	input := &dynamodb.ScanInput{TableName: aws.String(l.table), ConsistentRead: aws.Bool(true)} // whole items: removals are conditional on them
	for output, err := range call.ScanAnswers(ctx, l.client, input, "Scan") {
		if err != nil {
			return removed, err
		}
		for _, it := range output.Items {
			kind := KindOf(it)
			_, kept := l.seen[digest(it)]
			if kept || kind != Comment && (l.Lines || kind != Beside) || kind == Comment && layout.NoComment(it) || erasure.Outlasts(it, nil) {
				continue
			}
			if err := l.remove(ctx, it, kind); err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}

// remove deletes an item. It replaces a comment with a tombstone.
func (l *Loader) remove(ctx context.Context, it layout.Item, kind Kind) error {
	if kind == Comment {
		_, err := l.replace(ctx, layout.Tombstone(layout.IDOfKey(it), rand.Text(), time.Now()), it)
		return err
	}
	return call.Retry(ctx, func() (progress bool, err error) {
		if done, err := l.update(ctx, it, nil); done || err != nil {
			return false, err
		}
		found, err := l.look(ctx, []layout.Item{it})
		if err != nil || found[digest(it)] == nil {
			return false, err
		}
		it = found[digest(it)] // another write came first
		return false, call.ErrBusy
	})
}
