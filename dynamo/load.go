package dynamo

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
)

// DefaultLoadCalls is the default number of parallel calls of a Loader. The local engine writes one
// comment at a time: a few calls keep it busy while the Loader encodes and reads. A table on AWS
// takes many more.
const DefaultLoadCalls = 16

// rememberedIDs bounds the ids in each of the two maps of loaded comments. Together the maps take
// about 40 MB at most.
const rememberedIDs = 1 << 19

// bulkClient is the part of the SDK's client that a Loader uses.
type bulkClient interface {
	call.BatchGetter
	call.Putter
	call.Updater
}

// LoadCounts says what happened to the comments given to a Loader. Each comment is counted once.
type LoadCounts struct {
	// Written is how many comments were new and have been written.
	Written int
	// Updated is how many comments were in the table before, and have been changed.
	Updated int
	// Changed is how many comments were edited since the import that added them, and were left as
	// they are. Without Loader.Update they count as Existing.
	Changed int
	// Existing is how many comments were in the table before, and were left as they are.
	Existing int
	// Deleted is how many comments had been deleted before, and were not written again.
	Deleted int
	// Repeated is how many comments had the ID of an earlier one of the same load. The earlier one
	// counts.
	Repeated int
	// Erased is how many comments are of authors who were erased, and were not written.
	Erased int
}

// Add adds the counts of more comments.
func (n *LoadCounts) Add(more LoadCounts) {
	n.Written += more.Written
	n.Updated += more.Updated
	n.Changed += more.Changed
	n.Existing += more.Existing
	n.Deleted += more.Deleted
	n.Repeated += more.Repeated
	n.Erased += more.Erased
}

// Loader writes many comments, some of which may already be in the table. It overwrites none that
// may have been edited since. It does not restore deleted comments, unless Revive is set or an
// undone import had added them.
//
// A Loader reads before it writes, consistently, so a second import of the same file costs no
// writes. Each write has a condition: it may take effect long after its answer was lost, and must
// then neither undo an edit nor restore a deleted comment. BatchWriteItem has no conditions. The
// SDK's retries are off, because they hide that an earlier try of the same write is what refuses
// it.
type Loader struct {
	// Revive writes deleted comments like new ones.
	Revive bool
	// Marks names the erased authors, whose comments are not written. Nil leaves out none.
	Marks *erasure.Marks
	// Import is the number of the import, with which its comments are marked; 0 marks none.
	Import int64
	// Update returns the new content of a comment that is in the table, given the loaded one. It
	// does not set the version. A nil Update leaves such comments as they are.
	Update func(before, loaded comment.Comment) comment.Comment

	client bulkClient
	table  string
	calls  chan struct{} // holds one value for each call that is under way
	// recent and older hold the ids of the latest loaded comments. When recent is full, it replaces
	// older.
	recent, older map[comment.ID]struct{}
}

// NewLoader returns a Loader for a table, which must be as layout.Definition says. calls is the
// number of parallel calls, 1 or more; 0 means DefaultLoadCalls.
func NewLoader(client bulkClient, table string, calls int) *Loader {
	if calls < 1 {
		calls = DefaultLoadCalls
	}
	return &Loader{client: client, table: table, calls: make(chan struct{}, calls), recent: map[comment.ID]struct{}{}}
}

// Load writes those comments that are not in the table. Each must pass Comment.Check. On an error
// the counts say how far it got, and loading the same comments again continues from there.
//
// A repeated comment is recognized within at least the last half million comments. One repeated
// later counts as Existing. Load is not safe for concurrent use.
func (l *Loader) Load(ctx context.Context, comments []comment.Comment) (LoadCounts, error) {
	fresh := l.dropRepeated(comments)
	total := LoadCounts{Repeated: len(comments) - len(fresh)}
	parts := slices.Collect(slices.Chunk(fresh, call.MaxKeysPerGet))
	counts := make([]LoadCounts, len(parts))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(cap(l.calls))
	for i, part := range parts {
		group.Go(func() error {
			p := partLoad{pending: part, tried: map[comment.ID]bool{}}
			err := call.Retry(groupCtx, func() (further bool, err error) {
				before := len(p.pending)
				err = l.try(groupCtx, &p)
				return len(p.pending) < before, err
			})
			counts[i] = p.counts
			return err
		})
	}
	err := group.Wait()
	for _, n := range counts {
		total.Add(n)
	}
	if err != nil {
		return total, call.Wrap(err, "load of %s", comment.Amount(len(comments), "comment"))
	}
	l.remember(fresh)
	return total, nil
}

// Rehearse returns what Load would return for an empty table. It makes no call.
func (l *Loader) Rehearse(comments []comment.Comment) LoadCounts {
	fresh := l.dropRepeated(comments)
	l.remember(fresh)
	return LoadCounts{Written: len(fresh), Repeated: len(comments) - len(fresh)}
}

// dropRepeated keeps the first comment of every ID that was not loaded before. DynamoDB refuses a
// batch that names a key twice.
func (l *Loader) dropRepeated(comments []comment.Comment) []comment.Comment {
	fresh := make([]comment.Comment, 0, len(comments))
	inBatch := make(map[comment.ID]struct{}, len(comments))
	for _, c := range comments {
		_, repeated := inBatch[c.ID]
		_, recent := l.recent[c.ID]
		_, older := l.older[c.ID]
		if repeated || recent || older {
			continue
		}
		inBatch[c.ID] = struct{}{}
		fresh = append(fresh, c)
	}
	return fresh
}

// remember notes the ids of a completed load. A failed load is not remembered, so that it can be
// repeated.
func (l *Loader) remember(loaded []comment.Comment) {
	for _, c := range loaded {
		if len(l.recent) == rememberedIDs {
			l.recent, l.older = map[comment.ID]struct{}{}, l.recent
		}
		l.recent[c.ID] = struct{}{}
	}
}

// partLoad is the progress of a part of a load.
type partLoad struct {
	pending []comment.Comment // whose outcome is not known
	// tombstones has the tombstones of the first look. Later ones are of deletes since.
	tombstones map[comment.ID]layout.Item
	// tried has the comments that an earlier try may have written; true if by an update.
	tried  map[comment.ID]bool
	counts LoadCounts
}

// loading is a write of a comment: a put, or an update.
type loading struct {
	comment.Comment
	types.TransactWriteItem
}

// try reads which pending comments are in the table, and makes the writes that are needed. Without
// an error no comment stays pending.
func (l *Loader) try(ctx context.Context, p *partLoad) error {
	there, tombstones, err := l.look(ctx, p.pending)
	if err != nil {
		return err
	}
	if p.tombstones == nil {
		p.tombstones = tombstones
	}
	var writes []loading
	for _, c := range p.pending {
		deleted := tombstones[c.ID]
		revives := l.Revive || deleted[layout.AttrImport] != nil // it is written again in place of its tombstone
		updating, tried := p.tried[c.ID]
		switch it := there[c.ID]; {
		case it == nil && deleted != nil && !(revives && reflect.DeepEqual(deleted, p.tombstones[c.ID])):
			p.counts.Deleted++
		case it == nil:
			writes = append(writes, loading{c, l.putOf(c, deleted)})
		case tried && !updating:
			p.counts.Written++ // by an earlier try whose answer was lost
		case l.Update == nil:
			p.counts.Existing++
		default:
			update, changed := l.updateOf(it, c)
			switch {
			case update != nil:
				writes = append(writes, loading{c, *update})
			case changed:
				p.counts.Changed++
			case tried:
				p.counts.Updated++
			default:
				p.counts.Existing++
			}
		}
	}
	return l.write(ctx, writes, p)
}

// look returns the comments that are in the table now, and the tombstones of those that were
// deleted.
func (l *Loader) look(ctx context.Context, comments []comment.Comment) (there, tombstones map[comment.ID]layout.Item, err error) {
	keys := make([]layout.Item, len(comments))
	for i, c := range comments {
		keys[i] = layout.CommentKey(c.ID)
	}
	projection := strings.Join([]string{layout.AttrPK, layout.AttrDeleted, layout.AttrImport, layout.AttrMark}, ",")
	if l.Update != nil {
		projection = layout.TableProjection(true) + "," + layout.AttrImport + "," + layout.AttrMark
	}
	l.calls <- struct{}{}
	defer func() { <-l.calls }()
	got, err := call.GetItems(ctx, l.client, l.table, types.KeysAndAttributes{
		Keys:                 keys,
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String(projection),
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(keys), "key"))
	}
	if len(got.Left) > 0 {
		return nil, nil, call.ErrBusy
	}
	there, tombstones = make(map[comment.ID]layout.Item, len(got.Items)), map[comment.ID]layout.Item{}
	for _, it := range got.Items {
		if layout.NoComment(it) {
			tombstones[layout.IDOfKey(it)] = it
			continue
		}
		there[layout.IDOfKey(it)] = it
	}
	return there, tombstones, nil
}

// putOf returns the put of a comment. It fails if its key has an item other than the given
// tombstone. The comment keeps the tombstone's mark, so a late try of a delete or an undo does not
// remove it.
func (l *Loader) putOf(c comment.Comment, tombstone layout.Item) types.TransactWriteItem {
	it := layout.Encode(c)
	if l.Import != 0 {
		it[layout.AttrImport] = layout.Text(layout.MarkOf(l.Import, c).String())
	}
	if tombstone == nil {
		return call.PutIf(l.table, it, layout.IfAbsent, nil)
	}
	if mark := tombstone[layout.AttrMark]; mark != nil {
		it[layout.AttrMark] = mark
	}
	return call.PutIf(l.table, it, layout.AttrDeleted+" = :deleted", layout.Item{":deleted": tombstone[layout.AttrDeleted]})
}

// updateOf returns the update of a comment's item by a loaded comment, nil if none is needed.
// changed reports a comment that was edited since its import, or that no import added: it stays as
// it is.
func (l *Loader) updateOf(it layout.Item, loaded comment.Comment) (update *types.TransactWriteItem, changed bool) {
	before, err := layout.Decode(it)
	mark, ok := layout.ImportMarkOf(it)
	if err != nil || !ok || !mark.Unchanged(before) {
		return nil, true
	}
	after := l.Update(before, loaded)
	if reflect.DeepEqual(before, after) {
		return nil, false
	}
	after.Version = before.NextVersion()
	now := layout.Encode(after)
	now[layout.AttrImport] = layout.Text(layout.MarkOf(mark.Import, after).String())
	expression, values := layout.Update(layout.Encode(before), now)
	condition := sameAsRead(before, values) + " AND " + layout.SameReply(before, values) + " AND " + layout.SameReports(before, values) + layout.SameTraits(before, after, values)
	write := call.UpdateIf(l.table, layout.CommentKey(loaded.ID), expression, condition, values)
	return &write, false
}

// write makes the writes in parallel. Comments whose outcome is unknown stay pending, and write
// returns an error.
func (l *Loader) write(ctx context.Context, writes []loading, p *partLoad) (err error) {
	errs := make([]error, len(writes))
	var group sync.WaitGroup
	for i, w := range writes {
		group.Go(func() { errs[i] = l.writeOne(ctx, w) })
	}
	group.Wait()
	p.pending = nil
	for i, w := range writes {
		switch {
		case errors.Is(errs[i], erasure.ErrErased):
			p.counts.Erased++
			continue
		case errs[i] != nil:
			p.pending = append(p.pending, w.Comment)
			p.tried[w.ID] = w.Update != nil
		case w.Update != nil:
			p.counts.Updated++
		default:
			p.counts.Written++
		}
		if err == nil || errs[i] != nil && !call.Transient(errs[i]) {
			err = errs[i]
		}
	}
	return err
}

// writeOne makes a write, unless its condition does not hold or the author was erased.
func (l *Loader) writeOne(ctx context.Context, w loading) (err error) {
	l.calls <- struct{}{}
	defer func() { <-l.calls }()
	write := func(ctx context.Context) (err error) {
		what := "PutItem"
		if w.Update != nil {
			what, err = "UpdateItem", call.Update(ctx, l.client, w.TransactWriteItem)
		} else {
			err = call.Put(ctx, l.client, w.TransactWriteItem)
		}
		if call.Refused(err) {
			return call.ErrBusy // another write came first: look again
		}
		return call.Wrap(err, "%s of %s", what, w.Comment)
	}
	if l.Marks == nil {
		return write(ctx)
	}
	return l.Marks.Write(ctx, w.Comment, write, func(ctx context.Context) error { return l.Marks.Bury(ctx, w.Comment) })
}
