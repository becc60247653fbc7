package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/task"
)

const (
	// refresh is the time between two reads of the list of hooks, while there are hooks.
	refresh = 10 * time.Second
	// lastWords is how long an ending process may take to save its progress.
	lastWords = 3 * time.Second
	// lookEvery is how many rounds of refresh pass until a process that appends nothing reads whether
	// there are hooks.
	lookEvery = 6
)

// Options are the settings of a Deliverer. The first three are required.
type Options struct {
	// Store has the hooks.
	Store *Store
	// Send delivers events in one request.
	Send func(context.Context, Hook, ...outbox.Event) error
	// Logger logs failures, with the ids of hooks and events.
	Logger *slog.Logger
	// Who describes this process to people, and Engine names the run of the local engine.
	Who, Engine string
	// Ready returns why this process cannot deliver a hook, which it then leaves to other
	// processes. If it is nil, this process can deliver all.
	Ready func(Hook) error
	// Appends reports whether this process reads a shard of the stream, so that it appends to the
	// outbox. If it is nil, it does.
	Appends func() bool
	// Tried is called with the outcome of each delivery attempt. States is called every half minute
	// with the state of all hooks, which takes about three read units for each. Both may be nil.
	Tried  func(hook string, o Outcome)
	States func([]State)
	// Pace is how long to wait after a failure; zero means DefaultPace. Only tests set Refresh and
	// Heartbeat, to shorter times.
	Pace               Pace
	Refresh, Heartbeat time.Duration
}

// Deliverer delivers the hooks of a table, together with other processes: one process delivers each
// hook. Each hook has its own goroutines, so a slow one does not delay the others.
type Deliverer struct {
	options Options
	left    map[string]bool  // ids of hooks that other processes have to deliver
	damaged *layout.Reporter // logs damaged hooks
	unread  *layout.Reporter // logs items of the outbox that cannot be read
}

// NewDeliverer makes a deliverer.
func NewDeliverer(options Options) *Deliverer {
	if options.Pace == (Pace{}) {
		options.Pace = DefaultPace
	}
	if options.Tried == nil {
		options.Tried = func(string, Outcome) {}
	}
	if options.Ready == nil {
		options.Ready = func(Hook) error { return nil }
	}
	if options.Appends == nil {
		options.Appends = func() bool { return true }
	}
	options.Refresh, options.Heartbeat = cmp.Or(options.Refresh, refresh), cmp.Or(options.Heartbeat, heartbeat)
	return &Deliverer{
		options, map[string]bool{},
		layout.NewReporter(func(item layout.Improper) {
			options.Logger.Error("a hook is invalid and gets no events: talkback hooks list says what to do", "key", item.Key, "reason", item.Reason)
		}),
		layout.NewReporter(func(item layout.Improper) {
			options.Logger.Error("events cannot be read and are not delivered to hooks: have their receivers read again what they show", "key", item.Key, "reason", item.Reason)
		}),
	}
}

// running is a hook that this process delivers, or will deliver once it gets the lease.
type running struct {
	hook Hook
	stop context.CancelFunc
	done chan struct{}
}

// Run delivers until the context ends. While the table has no hooks, it makes no calls after the
// first: appending to the outbox reads anyway whether there are any. A process that reads no shard
// appends nothing, and takes half a read unit a minute.
func (d *Deliverer) Run(ctx context.Context) {
	all := map[string]running{}
	defer func() {
		for _, r := range all {
			r.stop()
			<-r.done
		}
	}()
	some := true // there may be hooks
	for n := 0; ctx.Err() == nil; n++ {
		var err error
		if !some {
			some, err = d.wanted(ctx, n)
		}
		if some {
			var hooks []Hook
			var damaged []Damaged
			if hooks, damaged, err = d.options.Store.List(ctx); err == nil {
				some = len(hooks)+len(damaged) > 0
				for _, one := range damaged {
					d.damaged.Report(one.Item)
				}
				d.adjust(ctx, all, hooks)
				err = d.tell(ctx, hooks, n)
			}
		}
		if err != nil && ctx.Err() == nil {
			d.options.Logger.Warn("hooks cannot be read; this is tried again", "kind", int(comment.KindOf(err)), "error", err)
		}
		_ = task.Wait(ctx, d.options.Refresh) // the loop checks the context
	}
}

// wanted reports whether hooks want events, as far as this process knows.
func (d *Deliverer) wanted(ctx context.Context, round int) (is bool, err error) {
	seen := d.options.Store.out.LastSeen()
	if !d.options.Appends() && round%lookEvery == 0 {
		seen, err = d.options.Store.out.Wanted(ctx)
	}
	_, is = seen[interest]
	return is, err
}

// tell passes the states of hooks to Options.States, in every third round.
func (d *Deliverer) tell(ctx context.Context, hooks []Hook, round int) error {
	if d.options.States == nil || len(hooks) > 0 && round%3 != 0 {
		return nil
	}
	states, err := d.options.Store.statesOf(ctx, hooks)
	if err == nil {
		d.options.States(states)
	}
	return err
}

// adjust stops hooks that were removed, paused or changed, and starts those that do not run. A hook
// whose secret this process lacks is left to other processes: this one would only fail.
func (d *Deliverer) adjust(ctx context.Context, all map[string]running, hooks []Hook) {
	now := map[string]Hook{}
	for _, h := range hooks {
		if h.Paused {
			continue
		}
		err := d.options.Ready(h)
		if err == nil {
			now[h.ID] = h
		} else if !d.left[h.ID] {
			d.left[h.ID] = true
			d.options.Logger.Warn("a hook is left to other processes, since this one lacks its secret", "hook", h.ID, "error", err)
		}
	}
	for id, r := range all {
		if r.hook.stored != now[id].stored {
			r.stop()
			<-r.done
			delete(all, id)
		}
	}
	for id, h := range now {
		if _, runs := all[id]; !runs {
			ctx, stop := context.WithCancel(ctx)
			r := running{h, stop, make(chan struct{})}
			all[id] = r
			go func() {
				defer close(r.done)
				for ctx.Err() == nil { // even while another process holds it
					err := task.Guard(func() error { return d.deliver(ctx, h) })
					if ctx.Err() == nil && err != nil && comment.KindOf(err) != comment.Conflict {
						d.options.Logger.Error("the events of a hook cannot be delivered for now; this is tried again", "hook", h.ID, "kind", int(comment.KindOf(err)), "error", err)
					}
					_ = task.Wait(ctx, d.options.Refresh) // the loop checks the context
				}
			}()
		}
	}
}

// deliver delivers a hook until the context ends, or another process takes it over.
func (d *Deliverer) deliver(ctx context.Context, h Hook) error {
	s := d.options.Store
	own := &delivery{hook: h, send: d.options.Send, pace: d.options.Pace, tried: func(o Outcome) { d.options.Tried(h.ID, o) }, dead: func(ctx context.Context, e outbox.Event, why error) error {
		d.options.Logger.Error("an event was given up, since its hook refused it for too long: talkback hooks redeliver tries it once more", "hook", h.ID, "event", e.ID, "event_kind", string(e.Kind))
		return s.addDeadLetter(ctx, h, e, why)
	}}
	own.progress, _ = progressOf(nil, h)
	work := leases.NewWork(leases.WorkOptions{
		Client: s.client, Table: s.table, Key: layout.HookProgressKey(h.ID), Name: "delivering hook " + h.ID, Who: d.options.Who, Engine: d.options.Engine,
		Heartbeat: d.options.Heartbeat, Progress: func() layout.Item {
			text, _ := json.Marshal(own.snapshot()) // numbers, times and texts only
			return layout.Item{layout.AttrHook: layout.Text(string(text))}
		},
	})
	was, err := work.Acquire(ctx)
	if err != nil {
		return err
	}
	progress, damaged := progressOf(was, h)
	if damaged {
		d.options.Logger.Error("the progress of a hook cannot be read: it gets all events again that are kept since it was added", "hook", h.ID)
	}
	own.mu.Lock()
	own.progress = progress
	own.mu.Unlock()
	return work.Hold(ctx, lastWords, func(ctx context.Context) error {
		for {
			if err := d.follow(ctx, own); !errors.Is(err, outbox.ErrGone) {
				return err
			}
			d.skip(ctx, own)
		}
	})
}

// follow delivers events from the log until the context ends or an error occurs.
func (d *Deliverer) follow(ctx context.Context, own *delivery) error {
	var from outbox.Position
	for i, lane := range own.snapshot().Lanes {
		from[i] = lane.Position
	}
	var once sync.Once
	take := func(ctx context.Context, lane int, batch outbox.Batch) error {
		d.unread.Report(batch.Improper...)
		if batch.Missing && len(batch.Improper) == 0 {
			d.options.Logger.Error("events of a hook may be missing: have its receiver read again what it shows", "hook", own.hook.ID)
		}
		for _, events := range own.hook.requests(batch.Events) {
			if err := own.deliver(ctx, lane, events); err != nil {
				return err
			}
		}
		own.change(lane, func(l *LaneProgress) { l.Position = batch.Last })
		return nil
	}
	err := d.options.Store.out.Tail(ctx, from, take, func(err error) {
		once.Do(func() {
			d.options.Logger.Warn("the events of a hook cannot be read; this is tried again", "hook", own.hook.ID, "kind", int(comment.KindOf(err)), "error", err)
		})
	})
	return cmp.Or(err, ctx.Err())
}

// skip moves lanes whose next events expired undelivered on to the oldest events kept. A lane that
// cannot be read stays: follow reads it again.
func (d *Deliverer) skip(ctx context.Context, own *delivery) {
	for i, lane := range own.snapshot().Lanes {
		if _, err := d.options.Store.out.Read(ctx, i, lane.Position, 1); errors.Is(err, outbox.ErrGone) {
			d.options.Logger.Error("events of a hook expired before they were delivered: have its receiver read again what it shows", "hook", own.hook.ID)
			own.change(i, func(l *LaneProgress) { *l = l.at(0, "events expired before they were delivered") })
		}
	}
}
