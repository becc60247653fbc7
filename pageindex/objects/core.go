package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// settings are the settings of a Store.
type settings struct {
	// mergeAt and mergeLogs are the numbers of changes and of log objects that trigger a merge.
	// mergeEvery is how long fewer changes wait.
	mergeAt, mergeLogs int
	mergeEvery         time.Duration
	// most is how many changes may wait for a merge.
	most int
	// lease is how long a merger may be silent, and collectEvery the time between two garbage
	// collections. An unneeded log is kept for logGrace, a chunk for chunkGrace: other processes
	// may be about to read it, or to name it in a root.
	lease, collectEvery, logGrace, chunkGrace time.Duration
	// chunk is how many items a chunk should have, run how many a build sorts in memory.
	chunk, run int
	now        func() time.Time
}

// Each call to a bucket costs money, and other processes use it too. A folder has neither problem.
var (
	bucketSettings = settings{
		mergeAt: 1 << 14, mergeLogs: 128, mergeEvery: 10 * time.Minute, most: 1 << 20, now: time.Now,
		lease: time.Minute, collectEvery: 10 * time.Minute, logGrace: 5 * time.Minute, chunkGrace: 2 * time.Hour,
		chunk: chunkItems, run: runItems,
	}
	folderSettings = settings{mergeAt: 1 << 15, mergeLogs: 1 << 12, mergeEvery: 10 * time.Minute, most: 1 << 20, now: time.Now, chunk: chunkItems, run: runItems}
)

// mostBuildLogs is how many logs a build may hold back. An abandoned build would hold them back for
// ever.
const mostBuildLogs = 50_000

// core is a storage, with this process's copy of its state.
type core struct {
	storage  storage
	settings settings
	cache    *cache
	// name identifies the index in messages; advice is what to check if it cannot be used.
	name, advice string
	// scratch is the folder for the files of builds, empty for the system's temporary folder.
	scratch string
	// appending is held while appending to the log, merging while making or deleting chunks.
	appending, merging *semaphore.Weighted

	mu       sync.Mutex
	snapshot snapshot
	changes  changes
	failed   error // of the last merge, nil if it succeeded
}

// snapshot is what a process knows of the index at one time.
type snapshot struct {
	root    *Root  // must not be changed
	tag     string // of the root, empty if there is none
	last    uint64 // the number of the last log that was read
	waiting int    // the number of changes that are not merged
	// damage is set once an object is found damaged, until the root is replaced.
	damage error
}

func newCore(s storage, set settings) *core {
	return &core{
		storage: s, settings: set, cache: newCache(), appending: semaphore.NewWeighted(1), merging: semaphore.NewWeighted(1),
		snapshot: snapshot{root: &Root{}}, changes: changes{products: map[string]*pending{}},
	}
}

func (c *core) current() snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.snapshot
	now.waiting = c.changes.count
	return now
}

// latest updates the state, and returns it.
func (c *core) latest(ctx context.Context) (snapshot, error) {
	_, err := c.refresh(ctx)
	return c.current(), err
}

// refresh updates the state. It reads the root and the next log in parallel, then further logs,
// twice as many each time, up to 16.
func (c *core) refresh(ctx context.Context) (cost pageindex.Cost, err error) {
	withRoot := true
	for more := 1; ; more = min(2*more, 16) {
		cost.Calls, cost.Waves = cost.Calls+more, cost.Waves+1
		if withRoot {
			cost.Calls++
		}
		found, overtaken, err := c.fetch(ctx, more, withRoot)
		if err != nil || found < more && !overtaken {
			return cost, err
		}
		withRoot = overtaken
	}
}

// fetch reads some logs, and the root if withRoot is set, and returns how many logs it found.
// overtaken reports that another goroutine has replaced the root meanwhile.
func (c *core) fetch(ctx context.Context, more int, withRoot bool) (found int, overtaken bool, err error) {
	was := c.current()
	group, reading := errgroup.WithContext(ctx)
	var root object
	rootErr := errUnchanged
	if withRoot {
		group.Go(func() error {
			root, rootErr = c.storage.get(reading, rootObject, was.tag)
			return failure(rootErr)
		})
	}
	logs, errs := make([]object, more), make([]error, more)
	for i := range more {
		group.Go(func() error {
			logs[i], errs[i] = c.storage.get(reading, logName(was.last+1+uint64(i)), "")
			return failure(errs[i])
		})
	}
	if err := group.Wait(); err != nil {
		return 0, false, err
	}
	same, overtaken, err := c.takeRoot(ctx, was, root, rootErr)
	if !same || err != nil {
		return more, overtaken, err // other logs have to be read
	}
	for found < more && errs[found] == nil {
		number := was.last + 1 + uint64(found)
		last := number
		items, err := decodeFrame(logs[found].data)
		if err != nil {
			_ = c.noteDamage(c.current(), err)
			if last, err = c.lastLog(ctx); err != nil {
				return found, false, err
			}
		}
		c.putLog(was, number, last, items)
		found++
	}
	return found, false, nil
}

// takeRoot processes a read of the root. same reports that the logs to read are still the same;
// overtaken, that another goroutine replaced the root meanwhile.
func (c *core) takeRoot(ctx context.Context, was snapshot, o object, err error) (same, overtaken bool, _ error) {
	root := &Root{}
	var damage error
	switch {
	case errors.Is(err, errUnchanged), errors.Is(err, errMissing) && was.tag == "":
		return true, false, nil
	case err == nil:
		if root, damage = decodeRoot(o.data); damage != nil {
			root = &Root{}
		}
	}
	last := root.Merged
	if damage != nil {
		if last, err = c.lastLog(ctx); err != nil {
			return false, false, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := &c.snapshot
	if now.tag != was.tag {
		return false, true, nil
	}
	old := now.root
	now.tag, now.damage = o.tag, damage
	if damage == nil && root.Origin == old.Origin && old.Merged <= root.Merged && root.Merged <= now.last {
		if now.root = root; root.Generation != old.Generation || root.Merged != old.Merged { // else only Covers has changed
			c.changes.merged(root.Merged)
		}
		return true, false, nil
	}
	now.root, now.last, c.changes = root, last, changes{products: map[string]*pending{}}
	return false, false, nil
}

// putLog puts a log into the state, whose last log is last from then on.
func (c *core) putLog(was snapshot, number, last uint64, items []Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := &c.snapshot; number == now.last+1 && now.root.Origin == was.root.Origin {
		if number > now.root.Merged {
			c.changes.put(number, items)
		}
		now.last = last
	}
}

// lastLog returns the number of the last log, by listing them.
func (c *core) lastLog(ctx context.Context) (last uint64, err error) {
	found, err := c.storage.list(ctx, logFolder)
	for _, o := range found {
		if number, ok := logNumber(o.name); ok {
			last = max(last, number)
		}
	}
	return last, err
}

// update replaces the root by the result of change on the present one. It retries while other
// processes are faster. An error of change ends it.
func (c *core) update(ctx context.Context, change func(now snapshot) (*Root, error)) error {
	for {
		now, err := c.latest(ctx)
		if err != nil {
			return err
		}
		root, err := change(now)
		if err != nil {
			return err
		}
		root.Writer = uniqueName()
		if root.Origin == "" {
			root.Origin = uniqueName()
		}
		_, err = c.storage.put(ctx, rootObject, encodeRoot(root), now.tag)
		if err != nil && !errors.Is(err, errTaken) {
			return err // it may have been written; the next refresh will tell
		}
		then, failed := c.latest(ctx)
		if err == nil || failed == nil && then.root.Writer == root.Writer { // else the answer was lost
			return failed
		}
	}
}

// append appends items to the log, as an object with the next free number.
func (c *core) append(ctx context.Context, items []Item) error {
	if err := c.appending.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.appending.Release(1)
	frame := encodeFrame(items)
	for {
		if c.current().tag == "" { // write a root, so that an emptied storage is noticed later
			err := c.update(ctx, func(now snapshot) (*Root, error) {
				if now.tag != "" {
					return nil, errUnchanged
				}
				return &Root{Merged: now.last}, nil
			})
			if failure(err) != nil {
				return err
			}
		}
		was := c.current()
		if was.waiting >= c.settings.most {
			return c.tooMany(was.waiting)
		}
		number := was.last + 1
		_, err := c.storage.put(ctx, logName(number), frame, "")
		ours := err == nil
		if errors.Is(err, errTaken) { // perhaps by an earlier attempt, whose answer was lost
			var there object
			there, err = c.storage.get(ctx, logName(number), "")
			ours, err = err == nil && bytes.Equal(there.data, frame), failure(err)
		}
		if err != nil {
			return err
		}
		if ours {
			c.putLog(was, number, number, items)
		}
		now, err := c.latest(ctx)
		if err != nil {
			return err
		}
		// If its number is merged already, nothing will read this log.
		if then := now.root; ours && then.Origin == was.root.Origin && then.Merged < number {
			return nil
		}
	}
}

// tooMany returns the error for n changes that wait for a merge.
func (c *core) tooMany(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		return fmt.Errorf("%d changes wait for a merge", n)
	}
	return fmt.Errorf("%d changes wait for a merge, which failed: %w", n, c.failed)
}

// noteDamage records damage of a root's chunks. A missing chunk is damage, unless the root has been
// replaced.
func (c *core) noteDamage(of snapshot, err error) error {
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, errDamaged) && c.snapshot.tag == of.tag && c.snapshot.damage == nil {
		c.snapshot.damage = err
	}
	return err
}

// unavailable turns an internal error into one of the kind Unavailable, with advice.
func (c *core) unavailable(err error) error {
	if err == nil || comment.KindOf(err) != comment.Internal {
		return err
	}
	message := fmt.Sprintf("the page index %s cannot be used: %s", c.name, c.advice)
	if errors.Is(err, errDamaged) {
		message = fmt.Sprintf("objects of the page index %s are damaged: a server builds it anew, or talkback rebuild --pages", c.name)
	}
	return &comment.Error{Kind: comment.Unavailable, Cause: err, Message: message}
}
