package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// What is below the prefix, beside chunkFolder.
const (
	rootObject  = "root"
	leaseObject = "lease"
	logFolder   = "logs/"
)

// settings are those of a Store.
type settings struct {
	// mergeAt and mergeLogs are how many changes, and objects of the log, are merged at once, and
	// mergeEvery how long fewer wait.
	mergeAt, mergeLogs int
	mergeEvery         time.Duration
	// most is how many changes may wait for a merge.
	most int
	// lease is how long a merger may be silent, and collectEvery the time between two searches for
	// objects that nothing needs. Such a log is kept for logGrace, a chunk for chunkGrace: others may
	// be about to read it, or to name it in a root.
	lease, collectEvery, logGrace, chunkGrace time.Duration
	// chunk and run are as in package files.
	chunk, run int
}

var defaults = settings{
	mergeAt: 1 << 14, mergeLogs: 128, mergeEvery: 10 * time.Minute, most: 1 << 20,
	lease: time.Minute, collectEvery: 10 * time.Minute, logGrace: 5 * time.Minute, chunkGrace: 2 * time.Hour,
}

// mostBuildLogs is how many logs a build may hold back. One that has ended without a word would do
// so for ever.
const mostBuildLogs = 50_000

// core is what a process knows of a bucket.
type core struct {
	bucket   *bucket
	name     string // for people
	settings settings
	cache    *chunks.Cache
	// appending is held by the one who appends to the log, merging by the one who makes chunks.
	appending, merging turn

	mu    sync.Mutex
	state *chunks.State
	etag  string // that of the root, empty if there is none
	read  uint64 // the number of the last log that the state has
	// damage is set once an object is found damaged, until there is another root.
	damage error
	failed error // that of the last merge
}

// turn is a lock that a context ends the wait for.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }

func logName(number uint64) string { return fmt.Sprintf("%s%020d", logFolder, number) }

// known is what a core knows at a time.
type known struct {
	state  *chunks.State
	root   *pagefile.Root
	etag   string
	read   uint64
	damage error
}

func (c *core) known() known {
	c.mu.Lock()
	defer c.mu.Unlock()
	return known{c.state, c.state.Root(), c.etag, c.read, c.damage}
}

// refresh brings what is known up to date: the root and the next log are read at the same time, and
// then further logs, ever more of them.
func (c *core) refresh(ctx context.Context) (calls, waves int, err error) {
	withRoot := true
	for more := 1; ; more = min(2*more, 16) {
		calls, waves = calls+more, waves+1
		if withRoot {
			calls++
		}
		found, overtaken, err := c.fetch(ctx, more, withRoot)
		if err != nil || found < more && !overtaken {
			return calls, waves, err
		}
		withRoot = overtaken
	}
}

// fetch reads the root, if it is wanted, and some logs, and returns how many logs it found. What
// another has found meanwhile may be older than what this one was to find: then it was overtaken.
func (c *core) fetch(ctx context.Context, more int, withRoot bool) (found int, overtaken bool, err error) {
	was := c.known()
	group, reading := errgroup.WithContext(ctx)
	var root object
	rootErr := errUnchanged
	if withRoot {
		group.Go(func() error {
			root, rootErr = c.bucket.get(reading, rootObject, was.etag)
			return failure(rootErr)
		})
	}
	logs, errs := make([]object, more), make([]error, more)
	for i := range more {
		group.Go(func() error {
			logs[i], errs[i] = c.bucket.get(reading, logName(was.read+1+uint64(i)), "")
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
		if err := c.takeLog(ctx, was, was.read+1+uint64(found), logs[found].data); err != nil {
			return found, false, err
		}
		found++
	}
	return found, false, nil
}

// failure returns the error of a read, unless it is an outcome that is no failure.
func failure(err error) error {
	if errors.Is(err, errMissing) || errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// takeRoot takes what a read of the root brought. It reports whether the same logs are to be read as
// before, and whether another one has taken a root meanwhile.
func (c *core) takeRoot(ctx context.Context, was known, o object, err error) (same, overtaken bool, _ error) {
	root := &pagefile.Root{}
	var damage error
	switch {
	case errors.Is(err, errUnchanged), errors.Is(err, errMissing) && was.etag == "":
		return true, false, nil
	case err == nil:
		if root, damage = pagefile.DecodeRoot(o.data); damage != nil {
			root = &pagefile.Root{}
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
	if c.etag != was.etag {
		return false, true, nil
	}
	old := c.state.Root()
	c.etag, c.damage = o.etag, damage
	if damage == nil && root.Origin == old.Origin && old.Merged <= root.Merged && root.Merged <= c.read {
		c.state.Replace(root)
		return true, false, nil
	}
	c.state, c.read = chunks.NewState(root), last
	return false, false, nil
}

// takeLog takes a log that was read when so much was known.
func (c *core) takeLog(ctx context.Context, was known, number uint64, data []byte) error {
	items, rest, torn, err := pagefile.ReadFrame(data)
	if err == nil && (torn || len(rest) > 0) {
		err = fmt.Errorf("%w: log %d is not one frame", pagefile.ErrDamaged, number)
	}
	last := number
	if err != nil {
		c.setDamage(err)
		if last, err = c.lastLog(ctx); err != nil {
			return err
		}
	}
	c.putLog(was, number, last, items)
	return nil
}

// putLog brings a log into the state, which has the logs up to last then.
func (c *core) putLog(was known, number, last uint64, items []pagefile.Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number == c.read+1 && c.state.Root().Origin == was.root.Origin {
		c.state.Put(number, items)
		c.read = last
	}
}

// lastLog returns the number of the last log, by listing them.
func (c *core) lastLog(ctx context.Context) (last uint64, err error) {
	found, err := c.bucket.list(ctx, logFolder)
	for _, o := range found {
		if number, ok := logNumber(o.name); ok {
			last = max(last, number)
		}
	}
	return last, err
}

func logNumber(name string) (uint64, bool) {
	digits, isLog := strings.CutPrefix(name, logFolder)
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, isLog && err == nil
}

// setDamage notes that objects which the root names are damaged.
func (c *core) setDamage(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.damage == nil {
		c.damage = err
	}
}

// update replaces the root by what change makes of the present one, until nobody else was faster.
// The error of change ends it.
func (c *core) update(ctx context.Context, change func(now known) (*pagefile.Root, error)) error {
	for {
		if _, _, err := c.refresh(ctx); err != nil {
			return err
		}
		now := c.known()
		root, err := change(now)
		if err != nil {
			return err
		}
		root.Writer = newName()
		if root.Origin == "" {
			root.Origin = newName()
		}
		_, err = c.bucket.put(ctx, rootObject, pagefile.EncodeRoot(root), now.etag)
		if err != nil && !errors.Is(err, errTaken) {
			return err // it may be there; the next refresh tells
		}
		if err == nil || c.wrote(ctx, root.Writer) {
			_, _, err = c.refresh(ctx)
			return err
		}
	}
}

// wrote reports whether the root is one that this process wrote, though the answer was lost.
func (c *core) wrote(ctx context.Context, writer string) bool {
	if _, _, err := c.refresh(ctx); err != nil {
		return false
	}
	return c.known().root.Writer == writer
}

// ensure makes a root if there is none, so that an emptied bucket is noticed.
func (c *core) ensure(ctx context.Context) error {
	if c.known().etag != "" {
		return nil
	}
	err := c.update(ctx, func(now known) (*pagefile.Root, error) {
		if now.etag != "" {
			return nil, errUnchanged
		}
		return &pagefile.Root{Merged: now.read}, nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// append appends items to the log, as an object of the next free number.
func (c *core) append(ctx context.Context, items []pagefile.Item) error {
	if err := c.appending.take(ctx); err != nil {
		return err
	}
	defer c.appending.give()
	frame := pagefile.AppendFrame(nil, items)
	for {
		if err := c.ensure(ctx); err != nil {
			return err
		}
		was := c.known()
		if n := was.state.Len(); n >= c.settings.most {
			return fmt.Errorf("%d changes wait for a merge: %w", n, c.failed)
		}
		number := was.read + 1
		ours, err := c.putFrame(ctx, number, frame)
		if err != nil {
			return err
		}
		if ours {
			c.putLog(was, number, number, items)
		}
		if _, _, err := c.refresh(ctx); err != nil {
			return err
		}
		// A log whose number was merged before is not read again by anyone.
		if then := c.known().root; ours && then.Origin == was.root.Origin && then.Merged < number {
			return nil
		}
	}
}

// putFrame writes a log, unless there is one of that number. It reports whether the frame is in it:
// the answer to an earlier try may have been lost.
func (c *core) putFrame(ctx context.Context, number uint64, frame []byte) (ours bool, err error) {
	_, err = c.bucket.put(ctx, logName(number), frame, "")
	if !errors.Is(err, errTaken) {
		return err == nil, err
	}
	there, err := c.bucket.get(ctx, logName(number), "")
	return err == nil && bytes.Equal(there.data, frame), failure(err)
}

// unavailable returns an error for callers.
func (c *core) unavailable(err error) error {
	switch {
	case err == nil:
		return nil
	case comment.KindOf(err) != comment.Internal:
		return err
	case errors.Is(err, pagefile.ErrDamaged):
		return &comment.Error{Kind: comment.Unavailable, Cause: err, Message: fmt.Sprintf(
			"objects of the page index %s are damaged: a server builds it anew, or talkback rebuild --pages", c.name)}
	}
	return &comment.Error{Kind: comment.Unavailable, Cause: err, Message: fmt.Sprintf(
		"the page index %s does not answer: see that the bucket exists, and that this process may list, read, write and delete its objects", c.name)}
}
