package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/task"
)

const (
	// refresh is the time between two looks at which hooks there are, while there are some.
	refresh = 10 * time.Second
	// heartbeat is the time between two writes of how far a hook came. A process that takes the hook over
	// from one that was killed delivers again what came since. It waits for six heartbeats.
	heartbeat = 5 * time.Second
	// lastWords is how long the end of a process may take to say how far it came.
	lastWords = 3 * time.Second
)

// Options are the settings of a Deliverer. The first three are required.
type Options struct {
	// Store has the hooks.
	Store *Store
	// Send posts an event.
	Send func(context.Context, Hook, outbox.Event) error
	// Logger gets what fails, with the ids of hooks and events.
	Logger *slog.Logger
	// Who describes this process to people, and Engine names the run of the local engine.
	Who, Engine string
	// Tried hears of each try to deliver, with why it failed; nil for nothing.
	Tried func(error)
	// Pace is how long to wait after a failure, DefaultPace if it is zero. Refresh and Heartbeat are
	// shorter for tests only.
	Pace               Pace
	Refresh, Heartbeat time.Duration
}

// Deliverer delivers the hooks of a table, together with other processes: each hook is delivered by one
// of them. Each hook has goroutines of its own, so that none holds up others.
type Deliverer struct{ options Options }

// NewDeliverer makes a deliverer.
func NewDeliverer(options Options) *Deliverer {
	if options.Pace == (Pace{}) {
		options.Pace = DefaultPace
	}
	if options.Tried == nil {
		options.Tried = func(error) {}
	}
	options.Refresh, options.Heartbeat = cmp.Or(options.Refresh, refresh), cmp.Or(options.Heartbeat, heartbeat)
	return &Deliverer{options}
}

// running is a hook that this process delivers, or waits to.
type running struct {
	hook Hook
	stop context.CancelFunc
	done chan struct{}
}

// Run delivers until the context ends. While there are no hooks, it makes no calls after the first: that
// there are some shows in what appending reads.
func (d *Deliverer) Run(ctx context.Context) {
	all := map[string]running{}
	defer func() {
		for _, r := range all {
			r.stop()
			<-r.done
		}
	}()
	for first := true; ctx.Err() == nil; {
		_, wanted := d.options.Store.out.LastSeen()[interest]
		if first || wanted || len(all) > 0 {
			hooks, err := d.options.Store.List(ctx)
			if first = err != nil; err == nil {
				d.adjust(ctx, all, hooks)
			} else if ctx.Err() == nil {
				d.options.Logger.Warn("hooks cannot be read; this is tried again", "kind", int(comment.KindOf(err)), "error", err)
			}
		}
		_ = task.Wait(ctx, d.options.Refresh) // the loop checks the context
	}
}

// adjust stops hooks that were removed, paused or changed, and starts those that do not run.
func (d *Deliverer) adjust(ctx context.Context, all map[string]running, hooks []Hook) {
	now := map[string]Hook{}
	for _, h := range hooks {
		if !h.Paused {
			now[h.ID] = h
		}
	}
	for id, r := range all {
		if !reflect.DeepEqual(r.hook, now[id]) {
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
				d.keep(ctx, h)
			}()
		}
	}
}

// keep delivers a hook until the context ends, whenever no other process does.
func (d *Deliverer) keep(ctx context.Context, h Hook) {
	for ctx.Err() == nil {
		err := task.Guard(func() error { return d.deliver(ctx, h) })
		if ctx.Err() == nil && err != nil && comment.KindOf(err) != comment.Conflict {
			d.options.Logger.Error("a hook is not delivered for now; this is tried again", "hook", h.ID, "kind", int(comment.KindOf(err)), "error", err)
		}
		_ = task.Wait(ctx, d.options.Refresh) // the loop checks the context
	}
}

// deliver delivers a hook until the context ends, or another process takes it over.
func (d *Deliverer) deliver(ctx context.Context, h Hook) error {
	s := d.options.Store
	own := &delivery{hook: h, send: d.options.Send, pace: d.options.Pace, tried: d.options.Tried, dead: func(ctx context.Context, e outbox.Event, why error) error {
		d.options.Logger.Error("a hook is not told of an event, since it refused it for too long", "hook", h.ID, "event", e.ID, "event_kind", string(e.Kind))
		return s.dead(ctx, h, e, why)
	}}
	own.progress = progressOf(nil, h)
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
	own.mu.Lock()
	own.progress = progressOf(was, h)
	own.mu.Unlock()
	return work.Hold(ctx, lastWords, func(ctx context.Context) error {
		for {
			if err := d.follow(ctx, own); !errors.Is(err, outbox.ErrGone) {
				return err
			}
			if err := d.skip(ctx, own); err != nil {
				return err
			}
		}
	})
}

// follow delivers what is in the log, until the context ends or an error.
func (d *Deliverer) follow(ctx context.Context, own *delivery) error {
	var from outbox.Position
	for i, lane := range own.snapshot().Lanes {
		from[i] = lane.Position
	}
	var once sync.Once
	err := d.options.Store.out.Tail(ctx, from, own.take, func(err error) {
		once.Do(func() {
			d.options.Logger.Warn("the events of a hook cannot be read; this is tried again", "hook", own.hook.ID, "kind", int(comment.KindOf(err)), "error", err)
		})
	})
	return cmp.Or(err, ctx.Err())
}

// skip goes on with what is kept in lanes whose events expired before they were delivered.
func (d *Deliverer) skip(ctx context.Context, own *delivery) error {
	for i, lane := range own.snapshot().Lanes {
		_, err := d.options.Store.out.Read(ctx, i, lane.Position, 1)
		switch {
		case errors.Is(err, outbox.ErrGone):
			d.options.Logger.Error("a hook is not told of events that expired before they were delivered", "hook", own.hook.ID)
			own.change(i, func(l *LaneProgress) {
				l.Position, l.LastError = 0, "events expired before they were delivered"
			})
		case err != nil:
			return err
		}
	}
	return nil
}
