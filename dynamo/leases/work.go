package leases

import (
	"context"
	"crypto/rand"
	"maps"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// Attributes of the item of work that is under way or was interrupted. WorkOptions.Progress adds
// others.
const (
	attrWorkOwner     = "ow"  // S, the owner of work under way; missing once it is released
	attrWorkWho       = "who" // S, describes the owner to people
	attrWorkEngine    = "en"  // S, the run of the engine that the owner uses, if known
	attrWorkHeartbeat = "bt"  // N, rises with every write
	attrWorkSaved     = "sv"  // N, seconds since 1970, of the last write
)

// WorkHeartbeat is the time between two heartbeats of work.
const WorkHeartbeat = time.Second

// workPatience is how many heartbeats work may miss before it counts as interrupted.
const workPatience = 6

// WorkClient is the part of the SDK's client that Work needs.
type WorkClient interface {
	call.ItemGetter
	call.Putter
	call.Deleter
}

// WorkOptions are the settings of Work. All but Engine are required.
type WorkOptions struct {
	Client WorkClient
	Table  string
	// Key is the primary key of the work's item.
	Key layout.Item
	// Name names the work in errors, such as "a rebuild".
	Name string
	// Who describes this process to people.
	Who string
	// Engine identifies the run of the local engine that serves the table: work that was
	// interrupted together with an earlier run is taken over at once. It is empty where engines
	// outlive their clients.
	Engine    string
	Heartbeat time.Duration
	// Progress returns the attributes with the progress of the work. It is called with each
	// heartbeat, and for the item of new work.
	Progress func() layout.Item
}

// Work is work that only one of the processes using a table does at a time, such as a rebuild. One
// item holds that process and its progress. A number in the item rises with every write. A process
// that sees the number unchanged for some heartbeats takes the work over, so clocks need not agree.
// It is safe for concurrent use.
type Work struct {
	WorkOptions
	owner string // unique to this Work

	saving    sync.Mutex // held while the item is written; guards the fields below
	heartbeat int64
	ended     bool // the work is done, and the item is deleted
}

// NewWork makes work that has not begun.
func NewWork(options WorkOptions) *Work { return &Work{WorkOptions: options, owner: rand.Text()} }

// Holder is the process that does some work, as read from the work's item. The zero value means no
// work.
type Holder struct {
	// Who describes the process to people.
	Who string
	// Interrupted is whether no process does the work.
	Interrupted bool
	// Saved is when its progress was last saved.
	Saved time.Time

	owner, engine string
	heartbeat     int64
}

// HolderOf reads the Holder from the item of some work.
func HolderOf(it layout.Item) Holder {
	r := layout.NewReader(it)
	h := Holder{
		Who: r.OptionalText(attrWorkWho), Saved: time.Unix(r.OptionalNumber(attrWorkSaved), 0),
		owner: r.OptionalText(attrWorkOwner), engine: r.OptionalText(attrWorkEngine), heartbeat: r.OptionalNumber(attrWorkHeartbeat),
	}
	h.Interrupted = len(it) > 0 && !h.Works(WorkHeartbeat)
	return h
}

// Works reports whether a process does the work: whether its last heartbeat is recent. One from far
// in the future does not count, since the clock of a killed process may have been ahead.
func (h Holder) Works(heartbeat time.Duration) bool {
	return h.owner != "" && time.Since(h.Saved).Abs() <= workPatience*heartbeat
}

// Acquire starts the work, or takes over interrupted work. It returns the item as it was before,
// empty for new work. While another process works, it returns a Conflict error that names the
// process.
func (w *Work) Acquire(ctx context.Context) (layout.Item, error) {
	var first Holder
	for heartbeats := 0; ; heartbeats++ {
		it, err := w.Read(ctx)
		if err != nil {
			return nil, err
		}
		now := HolderOf(it)
		if heartbeats == 0 {
			first = now
		}
		// An owner that used an ended run of the engine can no longer write.
		orphaned := w.Engine != "" && now.engine != "" && now.engine != w.Engine
		switch same := now.owner == first.owner && now.heartbeat == first.heartbeat; {
		case now.owner == "" || now.owner == w.owner || orphaned || same && heartbeats >= workPatience:
			taken, err := w.take(ctx, it, now)
			if taken || err != nil {
				return it, err
			}
		case !same:
			return nil, comment.Errorf(comment.Conflict, "%s is under way, by %s: wait until it has ended, or end it; then run this again", w.Name, now.Who)
		}
		if err := task.Wait(ctx, w.Heartbeat); err != nil {
			return nil, err
		}
	}
}

// Read returns the item of the work; empty if there is none.
func (w *Work) Read(ctx context.Context) (layout.Item, error) {
	return call.Retried(ctx, func() (layout.Item, error) {
		return call.Item(ctx, w.Client, w.Table, w.Key, "GetItem of the progress of %s", w.Name)
	})
}

// take takes the work over if its item is still as it was read. It returns false if another process
// came first, or the answer was lost.
func (w *Work) take(ctx context.Context, from layout.Item, was Holder) (taken bool, err error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	progress := from
	if len(from) == 0 {
		progress = w.Progress()
	}
	condition, values := layout.AsRead(from, attrWorkOwner, attrWorkHeartbeat)
	w.heartbeat, w.ended = was.heartbeat+1, false
	return call.Done(w.put(ctx, w.item(progress), condition, values))
}

// item returns the item of this process's work, with the given progress.
func (w *Work) item(progress layout.Item) layout.Item {
	out := maps.Clone(progress)
	maps.Copy(out, w.Key)
	delete(out, attrWorkEngine)
	if w.Engine != "" {
		out[attrWorkEngine] = layout.Text(w.Engine)
	}
	out[attrWorkOwner], out[attrWorkWho] = layout.Text(w.owner), layout.Text(w.Who)
	out[attrWorkHeartbeat], out[attrWorkSaved] = layout.Number(w.heartbeat), layout.Number(time.Now().Unix())
	return out
}

// Save writes the progress. It returns a Conflict error if another process has taken over.
func (w *Work) Save(ctx context.Context) error { return w.save(ctx, func(layout.Item) {}) }

func (w *Work) save(ctx context.Context, change func(layout.Item)) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	if w.ended {
		return nil // a heartbeat that waited until the work was done
	}
	w.heartbeat++
	it := w.item(w.Progress())
	change(it)
	// A write that takes effect late must not undo later progress. A damaged heartbeat does not count
	// as later.
	condition := attrWorkOwner + " = :me AND NOT " + attrWorkHeartbeat + " > :heartbeat"
	return w.lost(w.put(ctx, it, condition, layout.Item{":me": layout.Text(w.owner), ":heartbeat": it[attrWorkHeartbeat]}))
}

// lost turns the error of a failed condition into a Conflict error.
func (w *Work) lost(err error) error {
	if call.Refused(err) {
		return comment.Errorf(comment.Conflict, "another process has taken over %s, since this one was silent for too long: wait for its end", w.Name)
	}
	return err
}

func (w *Work) put(ctx context.Context, it layout.Item, condition string, values layout.Item) error {
	return call.Retry(ctx, func() (further bool, err error) {
		err = call.Put(ctx, w.Client, call.PutIf(w.Table, it, condition, values))
		return false, call.Wrap(err, "PutItem of the progress of %s", w.Name)
	})
}

// Hold does the work that this process acquired, and saves its progress with every heartbeat. It
// stops the work if another process takes over. If the work fails, Hold releases it to the next
// process, within lastWords. If that fails too, others notice the missing heartbeats.
func (w *Work) Hold(ctx context.Context, lastWords time.Duration, work func(context.Context) error) error {
	ours, stop := context.WithCancel(ctx)
	defer stop()
	kept := make(chan error, 1)
	go func() {
		defer stop()
		kept <- task.Guard(func() error {
			for task.Wait(ours, w.Heartbeat) == nil {
				if err := w.Save(ours); err != nil && ours.Err() == nil {
					return err
				}
			}
			return nil
		})
	}()
	err := work(ours)
	stop()
	if lost := <-kept; lost != nil {
		err = lost
	}
	if err != nil {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		_ = w.save(release, func(it layout.Item) { delete(it, attrWorkOwner) })
	}
	return err
}

// Finish deletes the item, so that nothing is left to resume.
func (w *Work) Finish(ctx context.Context) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	write := call.DeleteIf(w.Table, w.Key, layout.IfAbsent+" OR "+attrWorkOwner+" = :me", layout.Item{":me": layout.Text(w.owner)})
	return call.Retry(ctx, func() (further bool, err error) {
		err = call.Delete(ctx, w.Client, write)
		w.ended = err == nil
		return false, w.lost(call.Wrap(err, "DeleteItem of the progress of %s", w.Name))
	})
}
