package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/chunks"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// settings are those of a Store.
type settings struct {
	// mergeAt is how many changes are merged at once, and mergeEvery how long fewer wait.
	mergeAt    int
	mergeEvery time.Duration
	// most is how many changes may wait for a merge.
	most int
	// logBytes is how large a log becomes before the next one begins.
	logBytes int64
	// chunk is how many items a chunk should have, run how many a build sorts in memory; 0 stands for
	// the defaults of package chunks.
	chunk, run int
	now        func() time.Time
}

var defaults = settings{mergeAt: 1 << 15, mergeEvery: 10 * time.Minute, most: 1 << 20, logBytes: 8 << 20, now: time.Now}

// core is a folder, and what is known of it. Locks are taken in the order merging, appending, mu.
type core struct {
	folder   folder
	settings settings
	lock     *flock.Flock
	cache    *chunks.Cache
	// merging is held by the one who makes chunks and a root.
	merging sync.Mutex

	// appending is held by the one who appends to the log.
	appending sync.Mutex
	log       *appender // nil until there is something to append
	last      uint64    // the number of the last log

	mu       sync.Mutex
	state    *chunks.State
	rootInfo os.FileInfo // of the root that the state is of, nil if there is none
	swapping bool        // the root is being replaced by this process
	mark     *mark       // of the build under way, nil if there is none
	damage   error       // set once a file is found damaged, until the index is built anew
	failed   error       // that of the last merge
	closed   bool
}

// mark is what a build needs of the logs: those after a number. It has a folder for its own files.
type mark struct {
	folder string
	after  uint64
}

// load takes the folder's lock and reads what is in it. The caller holds appending and mu, or is the
// only one.
func (c *core) load() error {
	if err := c.folder.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.folder.path(), privateFolder); err != nil {
		return err
	}
	c.lock = flock.New(c.folder.path(lockFile), flock.SetPermissions(private))
	taken, err := c.lock.TryLock()
	if err != nil {
		return err
	}
	if !taken {
		return comment.Errorf(comment.Unavailable,
			"the page index files:%s is in use by another process: end that one, or give each process a folder of its own; table, redis, postgres and s3 can be shared", c.folder)
	}
	if err := c.folder.prepare(); err != nil {
		return err
	}
	c.damage, c.mark, c.last = nil, nil, 0
	root, info, err := c.folder.root()
	if err != nil {
		return c.loadDamaged(err)
	}
	c.state, c.rootInfo = chunks.NewState(root), info
	if err := c.replay(root.Merged); err != nil {
		return c.loadDamaged(err)
	}
	return errors.Join(os.RemoveAll(c.folder.path(buildFolder)), c.folder.removeChunks(root), c.folder.removeLogs(root.Merged))
}

// loadDamaged opens a folder whose files cannot all be used, so that the index can be built anew. Any
// other error ends the opening.
func (c *core) loadDamaged(damage error) error {
	if !errors.Is(damage, pagefile.ErrDamaged) {
		return damage
	}
	c.damage = damage
	c.state, c.rootInfo = chunks.NewState(&pagefile.Root{}), nil
	if info, err := os.Stat(c.folder.path(rootFile)); err == nil {
		c.rootInfo = info
	}
	numbers, err := c.folder.logs()
	if len(numbers) > 0 {
		c.last = numbers[len(numbers)-1]
	}
	return err
}

// replay brings the logs after a number into the state, and cuts off what is torn. No log may be
// missing.
func (c *core) replay(after uint64) error {
	numbers, err := c.folder.logs()
	if err != nil {
		return err
	}
	c.last = after
	for _, number := range numbers {
		if number <= after {
			continue
		}
		if number != c.last+1 {
			return fmt.Errorf("%w: log %d is missing", pagefile.ErrDamaged, c.last+1)
		}
		items, length, err := c.folder.readLog(number)
		if err != nil {
			return err
		}
		if err := os.Truncate(c.folder.path(logFolder, logName(number)), length); err != nil {
			return err
		}
		c.state.Put(number, items)
		c.last = number
	}
	return nil
}

// look notices that the folder was emptied or replaced, and reads it anew.
func (c *core) look() error {
	if same, err := c.same(); same || err != nil {
		return err
	}
	c.appending.Lock()
	defer c.appending.Unlock()
	return c.lookAppending()
}

// lookAppending is look for a caller that holds appending.
func (c *core) lookAppending() error {
	if same, err := c.same(); err != nil || same && (c.log == nil || c.log.there(c.folder)) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reload()
}

// reload reads the folder anew. The caller holds appending and mu.
func (c *core) reload() error { return errors.Join(c.closeLog(), c.lock.Unlock(), c.load()) }

// same reports whether the root is the one that the state is of.
func (c *core) same() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false, fs.ErrClosed
	}
	if c.swapping {
		return true, nil
	}
	info, err := os.Stat(c.folder.path(rootFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.rootInfo == nil && c.lock.Locked(), nil
	case err != nil:
		return false, err
	}
	known := c.rootInfo
	return known != nil && os.SameFile(info, known) && info.ModTime().Equal(known.ModTime()) && c.lock.Locked(), nil
}

// closeLog closes the log. The next change begins a new one. The caller holds appending.
func (c *core) closeLog() error {
	if c.log == nil {
		return nil
	}
	err := c.log.file.Close()
	c.log = nil
	return err
}

// endLog closes the log. It returns its number, and the state that has its changes.
func (c *core) endLog() (state *chunks.State, through uint64, err error) {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.lookAppending(); err != nil {
		return nil, 0, err
	}
	state, _ = c.current()
	return state, c.last, c.closeLog()
}

// current returns the state, and the error of damaged files.
func (c *core) current() (*chunks.State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, c.damage
}

// setDamage notes that files of a state are damaged.
func (c *core) setDamage(of *chunks.State, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == of && c.damage == nil {
		c.damage = err
	}
}

// apply appends items to the log and brings them into the state.
func (c *core) apply(items []pagefile.Item) error {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.lookAppending(); err != nil {
		return err
	}
	state, _ := c.current()
	if n := state.Len(); n >= c.settings.most {
		return fmt.Errorf("%d changes wait for a merge: %w", n, c.failed)
	}
	if c.log == nil || c.log.broken || c.log.length > c.settings.logBytes {
		if err := c.closeLog(); err != nil {
			return err
		}
		log, err := newAppender(c.folder, c.last+1)
		if err != nil {
			return err
		}
		c.log, c.last = log, log.number
	}
	if err := c.log.append(items); err != nil {
		return err
	}
	state, damage := c.current()
	if damage == nil { // else nothing is answered of it
		state.Put(c.log.number, items)
	}
	return nil
}

// failure returns an error for callers.
func (c *core) failure(err error) error {
	switch {
	case comment.KindOf(err) != comment.Internal:
		return err
	case errors.Is(err, pagefile.ErrDamaged):
		return &comment.Error{Kind: comment.Unavailable, Cause: err, Message: fmt.Sprintf(
			"files of the page index files:%s are damaged: a server builds it anew, or talkback rebuild --pages", c.folder)}
	}
	return &comment.Error{Kind: comment.Unavailable, Cause: err, Message: fmt.Sprintf(
		"the page index files:%s cannot be used: see that the folder can be written to and its disk has room", c.folder)}
}

// setFailed notes the error of the last merge, nil if it succeeded.
func (c *core) setFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}
