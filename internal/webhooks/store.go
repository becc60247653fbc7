package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
)

// interest is the name under which hooks ask the outbox for events.
const interest = "hooks"

// heartbeat is the time between two writes of a hook's progress. A process that takes over a hook
// from a killed one delivers again what the latter delivered since. It first waits for six.
const heartbeat = 5 * time.Second

const keepDead = 30 * 24 * time.Hour

// Store keeps the hooks of a table.
type Store struct {
	client outbox.Client
	table  string
	out    *outbox.Outbox
}

// NewStore makes the store of a table.
func NewStore(client outbox.Client, table string, out *outbox.Outbox) *Store {
	return &Store{client, table, out}
}

// Add adds a hook for future events, and returns it with its id. The error is of the kind Conflict
// if another hook delivers the same events to the same URL.
//
// The outbox keeps events only while they are wanted. Add wants them before the hook begins, so
// that none is missing, and once more after: a Remove that did not see the hook yet may have
// unwanted them in between. Two that add the same hook at the same time may not see each other
// before, so Add looks again, and removes its hook if there is another.
func (s *Store) Add(ctx context.Context, h Hook) (Hook, error) {
	if err := h.Check(); err != nil {
		return h, err
	}
	all, damaged, err := s.List(ctx)
	if err != nil {
		return h, err
	}
	if i := slices.IndexFunc(all, h.repeats); i >= 0 {
		return h, comment.Errorf(comment.Conflict, "hook %[1]s delivers these events to this address already: keep it, or run talkback hooks remove %[1]s first", all[i].ID)
	}
	if n := len(all) + len(damaged); n >= MaxHooks {
		return h, comment.Errorf(comment.BadInput, "the table has %d hooks, which is the most: remove one first", n)
	}
	if err := s.out.Want(ctx, interest, 0); err != nil {
		return h, err
	}
	if h.Begin, err = s.out.Ends(ctx); err != nil {
		return h, err
	}
	h.ID, h.stored = strings.ToLower(rand.Text()[:8]), ""
	if err := s.put(ctx, h); err != nil {
		return h, err
	}
	if all, _, err = s.List(ctx); err != nil {
		return h, err
	}
	if slices.ContainsFunc(all, func(other Hook) bool { return other.ID != h.ID && h.repeats(other) }) {
		busy := comment.Errorf(comment.Conflict, "somebody else adds a hook that delivers these events to this address: see talkback hooks list, and add it again if it is not there")
		return h, errors.Join(s.Remove(ctx, h.ID), busy)
	}
	return h, s.out.Want(ctx, interest, 0)
}

// Change changes a hook, and returns the new one; a Conflict error if it was changed meanwhile.
func (s *Store) Change(ctx context.Context, id string, change func(*Hook)) (Hook, error) {
	h, err := s.Find(ctx, id)
	if err != nil {
		return h, err
	}
	change(&h)
	h.Changes++
	return h, s.put(ctx, h)
}

// Pause stops deliveries to a hook for now. The log keeps events for outbox.Keep.
func Pause(h *Hook) { h.Paused = true }

// Resume continues deliveries where they stopped.
func Resume(h *Hook) { h.Paused = false }

// Replay returns a change that redelivers events since a time, and those of its second: they have
// no fractions.
func Replay(since time.Time) func(*Hook) {
	return func(h *Hook) {
		h.Since, h.Replayed, h.Replays = since.Truncate(time.Second), time.Now().UTC(), h.Replays+1
	}
}

// Remove removes a hook, even a damaged one. After the last one, hooks no longer ask the outbox for
// events. A hook that is added meanwhile may have wanted them before, so Remove looks again. If
// there is no such hook, an earlier Remove may have been interrupted: what it left goes too.
func (s *Store) Remove(ctx context.Context, id string) error {
	_, missing := s.Find(ctx, id)
	if errors.As(missing, new(Damaged)) {
		missing = nil
	}
	if missing != nil && comment.KindOf(missing) != comment.NotFound {
		return missing
	}
	return cmp.Or(s.remove(ctx, id), missing)
}

func (s *Store) remove(ctx context.Context, id string) error {
	for _, key := range []layout.Item{layout.HookKey(id), layout.HookProgressKey(id)} {
		if err := s.delete(ctx, key, id); err != nil {
			return err
		}
	}
	if some, err := s.some(ctx); err != nil || some {
		return err
	}
	if err := s.out.Unwant(ctx, interest); err != nil {
		return err
	}
	some, err := s.some(ctx)
	if err != nil || !some {
		return err
	}
	return s.out.Want(ctx, interest, 0)
}

// some reports whether there are hooks, damaged ones included.
func (s *Store) some(ctx context.Context) (bool, error) {
	all, damaged, err := s.List(ctx)
	return len(all)+len(damaged) > 0, err
}

func (s *Store) delete(ctx context.Context, key layout.Item, hook string) error {
	return call.Retry(ctx, func() (bool, error) {
		return false, call.Wrap(call.Delete(ctx, s.client, call.DeleteIf(s.table, key, "", nil)), "DeleteItem of hook %s", hook)
	})
}

// List returns all hooks that can be delivered to, in the order of their ids, and the damaged ones.
func (s *Store) List(ctx context.Context) (all []Hook, damaged []Damaged, err error) {
	items, _, err := call.Partition(ctx, s.client, s.table, layout.HookKey("")[layout.AttrPK], "the hooks")
	if err != nil {
		return nil, nil, err
	}
	for _, it := range items {
		if h, wrong := hookIn(it); wrong != nil {
			damaged = append(damaged, *wrong)
		} else {
			all = append(all, h)
		}
	}
	return all, damaged, nil
}

// Find returns a hook. Its error is of the kind NotFound if there is none, or a Damaged.
func (s *Store) Find(ctx context.Context, id string) (Hook, error) {
	all, damaged, err := s.List(ctx)
	if err != nil {
		return Hook{}, err
	}
	if i := slices.IndexFunc(all, func(h Hook) bool { return h.ID == id }); i >= 0 {
		return all[i], nil
	}
	if i := slices.IndexFunc(damaged, func(d Damaged) bool { return d.Hook == id }); i >= 0 {
		return Hook{}, damaged[i]
	}
	return Hook{}, comment.Errorf(comment.NotFound, "there is no hook %.40q: talkback hooks list prints all", id)
}

// put writes a hook in place of the text that it was read from; a new one in place of nothing.
func (s *Store) put(ctx context.Context, h Hook) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	item := layout.HookKey(h.ID)
	item[layout.AttrHook] = layout.Text(string(text))
	put := call.PutIf(s.table, item, layout.IfAbsent, nil)
	if h.stored != "" {
		put = call.PutIf(s.table, item, layout.AttrHook+" = :before", layout.Item{":before": layout.Text(h.stored)})
	}
	return call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		err := call.Put(ctx, s.client, put)
		there, refused := call.FoundInstead(err)
		switch {
		case refused && layout.NewReader(there).OptionalText(layout.AttrHook) == string(text):
			return nil // by an earlier try
		case refused:
			return comment.Errorf(comment.Conflict, "hook %s was changed or removed meanwhile: list the hooks, and try again", h.ID)
		}
		return call.Wrap(err, "PutItem of hook %s", h.ID)
	})
}

// Progress returns the progress of a hook, some seconds old.
func (s *Store) Progress(ctx context.Context, h Hook) (Progress, error) {
	item, err := call.Retried(ctx, func() (layout.Item, error) {
		output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.table), Key: layout.HookProgressKey(h.ID)})
		if err != nil {
			return nil, call.Wrap(err, "GetItem of the progress of hook %s", h.ID)
		}
		return output.Item, nil
	})
	p, _ := progressOf(item, h)
	if holder := leases.HolderOf(item); holder.Works(heartbeat) {
		p.Who = holder.Who
	}
	return p, err
}

// progressOf reads the progress of a hook, and starts a replay that was not started yet. Damaged
// progress counts as none: deliveries start at Begin.
func progressOf(item layout.Item, h Hook) (p Progress, damaged bool) {
	r := layout.NewReader(item)
	text := r.OptionalText(layout.AttrHook)
	if json.Unmarshal([]byte(text), &p) != nil {
		p, damaged = Progress{}, text != "" || r.Err() != nil
		for i := range p.Lanes {
			p.Lanes[i].Position = h.Begin[i]
		}
	}
	if p.Replays != h.Replays {
		p.Replays = h.Replays
		for i, lane := range p.Lanes {
			p.Lanes[i] = lane.at(0, "")
		}
	}
	return p, damaged
}

func (s *Store) addDeadLetter(ctx context.Context, h Hook, e outbox.Event, why error) error {
	text, err := json.Marshal(DeadLetter{e, why.Error()})
	if err != nil {
		return err
	}
	item := layout.DeadEventKey(h.ID, e.ID)
	item[layout.AttrHook], item[layout.AttrTTL] = layout.Text(string(text)), layout.Number(time.Now().Add(keepDead).Unix())
	return call.Retry(ctx, func() (bool, error) {
		return false, call.Wrap(call.Put(ctx, s.client, call.PutIf(s.table, item, "", nil)), "PutItem of a dead letter of hook %s", h.ID)
	})
}
