package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// keys is the number of items that change in the simulation. The last item represents the leases:
// each write of a lease changes it. A heartbeat changes the item that its key, a number, leads to.
const keys = 9

// simRecord is a record with facts that processes cannot see.
type simRecord struct {
	Record
	key          int
	made         time.Time // when the change really happened
	seen         time.Time // when the stream shows it
	settled      bool      // handed over successfully
	poison       bool
	alone        bool // was tried alone, so it may be dead-lettered
	waited       bool // was handed over in time, and is to be handed over again
	deadLettered bool
	trimmed      bool
	counted      bool // by a rebuild
}

// simShard holds the changes of a range of keys.
type simShard struct {
	Shard
	from, to int // keys
	open     bool
	listed   bool
	records  []*simRecord
	settled  int // number of settled records at the start
}

// world is a table with its stream and its leases, shared by all processes.
type world struct {
	mu         sync.Mutex
	seed       uint64
	label      string
	silent     bool // drops records silently
	faulty     bool
	shards     []*simShard
	history    [keys][]*simRecord
	leases     map[string]Lease
	written    map[string]time.Time // when a lease got a counter, by shard and counter
	heartbeats map[string]Heartbeat // by the numbers of their records
	state      State
	next       int
	broken     []string // violations
	swaps      int
	reads      int
	// late is the longest delay before the stream shows a change.
	late time.Duration
	// ahead is how far the clock of the table is ahead of those of the processes.
	ahead time.Duration
}

const simLabel = "2026-01-01T00:00:00.000"

func newWorld(seed uint64) *world {
	w := &world{seed: seed, label: simLabel, leases: map[string]Lease{}, written: map[string]time.Time{}, heartbeats: map[string]Heartbeat{}, faulty: true}
	w.late = []time.Duration{0, time.Second, 15 * time.Second}[seed%3]
	w.shards = []*simShard{{Shard: Shard{ID: "s0", Parent: "long gone"}, to: keys, open: true, listed: true}}
	return w
}

func (w *world) violate(format string, args ...any) {
	if len(w.broken) < 5 {
		w.broken = append(w.broken, fmt.Sprintf(format, args...))
	}
}

func (w *world) shard(id string) *simShard {
	i := slices.IndexFunc(w.shards, func(s *simShard) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return w.shards[i]
}

// change makes a record and returns its number.
func (w *world) change(key int, poison bool) (sequence string) {
	w.next++
	r := &simRecord{key: key, made: time.Now(), poison: poison}
	r.Sequence = strconv.Itoa(w.next)
	r.Position = PositionOf(w.label, r.Sequence)
	r.Created = r.made.Add(w.ahead).Truncate(time.Second)
	r.Keys = map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: strconv.Itoa(key)}}
	for _, s := range w.shards {
		if s.open && s.from <= key && key < s.to {
			r.seen = w.publication(s)
			s.records = append(s.records, r)
			w.history[key] = append(w.history[key], r)
		}
	}
	return r.Sequence
}

// publication returns the time when the next record of a shard is shown: after a delay, and not
// before an earlier record.
func (w *world) publication(s *simShard) time.Time {
	shown := time.Now()
	if w.late > 0 {
		shown = shown.Add(time.Duration((w.seed + uint64(w.next)) * 0x9E3779B97F4A7C15 % uint64(w.late)))
	}
	if n := len(s.records); n > 0 && s.records[n-1].seen.After(shown) {
		return s.records[n-1].seen
	}
	return shown
}

// close ends a shard. It gets one child, or two if its keys can be split.
func (w *world) close(s *simShard, split bool) {
	s.open = false
	bounds := []int{s.from, s.to}
	if split && s.to-s.from > 1 {
		bounds = []int{s.from, (s.from + s.to) / 2, s.to}
	}
	for i := range len(bounds) - 1 {
		child := &simShard{Shard: Shard{ID: fmt.Sprint("s", len(w.shards)), Parent: s.ID}, from: bounds[i], to: bounds[i+1], open: true, listed: true}
		w.shards = append(w.shards, child)
	}
}

// trim drops the records of some shards that were made before a moment, and the closed shards that
// are then empty.
func (w *world) trim(before time.Time, which func(*simShard) bool) {
	for _, s := range w.shards {
		if !which(s) {
			continue
		}
		left := 0
		for _, r := range s.records {
			if r.made.Before(before) {
				r.trimmed = true
			} else {
				left++
			}
		}
		if parent := w.shard(s.Parent); !s.open && left == 0 && (parent == nil || !parent.listed) {
			s.listed = false
		}
	}
}

// excused reports whether readers of counts learn that a record may be missing.
func (w *world) excused(r *simRecord) bool {
	return r.settled || (r.trimmed || r.deadLettered) && (!w.state.Complete || r.counted)
}

// firstOpen returns the first record of a shard that is neither settled nor excused.
func (w *world) firstOpen(s *simShard) *simRecord {
	for ; s.settled < len(s.records) && s.records[s.settled].settled; s.settled++ {
	}
	for _, r := range s.records[s.settled:] {
		if !w.excused(r) {
			return r
		}
	}
	return nil
}

// firstUncounted returns the first record of a shard that is missing from the counts and not
// excused.
func (w *world) firstUncounted(s *simShard) *simRecord {
	for _, r := range s.records[s.settled:] {
		if !w.excused(r) && !r.counted {
			return r
		}
	}
	return nil
}

// put writes a lease.
func (w *world) put(lease Lease) {
	w.leases[lease.Shard] = lease
	w.written[fmt.Sprint(lease.Shard, " ", lease.Counter)] = time.Now()
}

// checkLease compares a lease with the true state.
func (w *world) checkLease(lease Lease) {
	s := w.shard(lease.Shard)
	proven := w.written[fmt.Sprint(lease.Shard, " ", lease.Proven)]
	if u := w.firstUncounted(s); u != nil && u.made.Before(proven) {
		w.violate("shard %s counts as processed up to write %d of its lease, of %s, and record %s is of %s", s.ID, lease.Proven, proven, u.Sequence, u.made)
	}
	r := w.firstOpen(s)
	if lease.Ended && s.listed && s.open {
		w.violate("shard %s ended, and is open", s.ID)
	}
	if u := w.firstUncounted(s); u != nil && u.made.Before(lease.CaughtUp) {
		w.violate("shard %s counts as processed until %s, and record %s is of %s (trimmed: %v)", s.ID, lease.CaughtUp, u.Sequence, u.made, u.trimmed)
	}
	if r == nil {
		return
	}
	at, _ := strconv.Atoi(lease.Checkpoint)
	mine, _ := strconv.Atoi(r.Sequence)
	switch {
	case mine <= at:
		w.violate("checkpoint %d of shard %s is beyond record %d, which was not processed", at, s.ID, mine)
	case lease.Ended && !r.trimmed:
		w.violate("shard %s ended before record %d", s.ID, mine)
	}
}

// checkProcessedUpTo compares the watermark of all leases with the true state.
func (w *world) checkProcessedUpTo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, known := w.processedUpTo(); known {
		w.checkBefore(before)
	}
}

// checkBefore checks that everything before a watermark is processed.
func (w *world) checkBefore(before time.Time) {
	for _, s := range w.shards {
		if r := w.firstUncounted(s); r != nil && r.made.Before(before) {
			w.violate("everything counts as processed until %s, and record %s of shard %s is of %s (trimmed: %v)", before, r.Sequence, s.ID, r.made, r.trimmed)
		}
	}
}

func (w *world) processedUpTo() (time.Time, bool) {
	if w.state.Label == "" {
		return time.Time{}, false
	}
	return ProcessedUpTo(slices.Collect(maps.Values(w.leases)))
}

// process is a process's view of the world. Calls of a dead process have no effect.
type process struct {
	*world
	name  string
	calls map[string]int
	dead  bool
	// iterators are the iterators that the process has opened.
	iterators []simIterator
}

func (w *world) process(name string) *process {
	return &process{world: w, name: name, calls: map[string]int{}}
}

// consumer returns the consumer of a process, whose random waits depend on the seed.
func (p *process) consumer() *Consumer {
	c := &Consumer{Source: p, Leases: p, Journal: p, Handler: p.handle, Logger: slog.New(slog.DiscardHandler), owner: p.name}
	c.random = func(below time.Duration) time.Duration {
		p.mu.Lock()
		defer p.mu.Unlock()
		return time.Duration(p.draw("random", int(below)))
	}
	return c
}

var errFault = &comment.Error{Kind: comment.Unavailable, Message: "a fault of the test"}

// errDead is the error of every call of a killed process.
var errDead = errors.New("dead")

// draw returns a number below n. It depends on the seed, the process, the kind of call, and the
// number of such calls.
func (p *process) draw(call string, n int) int {
	p.calls[call]++
	sum := p.seed*31 + uint64(p.calls[call])
	for _, text := range []string{p.name, call} {
		for i := range len(text) {
			sum = (sum ^ uint64(text[i])) * 0x9E3779B97F4A7C15
			sum ^= sum >> 29
		}
	}
	return int(sum % uint64(n))
}

// call takes a while, and may fail before or after its effect.
func (p *process) call(ctx context.Context, name string, effect func() error) error {
	p.mu.Lock()
	took, fault := time.Duration(p.draw(name+"'s time", 20))*time.Millisecond, 0
	if p.faulty {
		if fault = p.draw(name, 24); p.draw(name+" is slow", 40) == 0 {
			took *= 50
		}
	}
	p.mu.Unlock()
	if err := task.Wait(ctx, took); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.dead:
		return errDead
	case fault == 1:
		return errFault
	}
	if err := effect(); err != nil || fault != 2 {
		return err
	}
	return errFault
}

// Shards lists shards.
func (p *process) Shards(ctx context.Context) (Listing, error) {
	var listing Listing
	err := p.call(ctx, "list", func() error {
		listing.Label = p.label
		for _, s := range p.shards {
			if s.listed {
				listing.Shards = append(listing.Shards, s.Shard)
			}
		}
		slices.Reverse(listing.Shards)
		return nil
	})
	return listing, err
}

// simIterator is a shard, the index of the next record, and the time when it was made.
type simIterator struct {
	shard *simShard
	at    int
	made  time.Time
}

func (p *process) iterator(s *simShard, at int) string {
	p.iterators = append(p.iterators, simIterator{s, at, time.Now()})
	return strconv.Itoa(len(p.iterators) - 1)
}

// Open returns an iterator.
func (p *process) Open(ctx context.Context, _, shard, after string) (iterator string, err error) {
	err = p.call(ctx, "open", func() error {
		s := p.shard(shard)
		if !s.listed {
			return ErrGone
		}
		at := 0
		if after != "" {
			at = slices.IndexFunc(s.records, func(r *simRecord) bool { return r.Sequence == after }) + 1
		}
		if after != "" && at < len(s.records) && s.records[at].trimmed && !p.silent {
			return ErrTrimmed
		}
		for at < len(s.records) && s.records[at].trimmed {
			at++
		}
		iterator = p.iterator(s, at)
		return nil
	})
	return iterator, err
}

// Read reads up to 7 records.
func (p *process) Read(ctx context.Context, _, iterator string) (batch Batch, err error) {
	err = p.call(ctx, "read", func() error {
		p.reads++
		number, _ := strconv.Atoi(iterator)
		s, at := p.iterators[number].shard, p.iterators[number].at
		switch {
		case !s.listed:
			return ErrGone
		case time.Since(p.iterators[number].made) > 15*time.Minute, p.faulty && p.draw("expire", 30) == 0:
			return ErrExpired
		case at < len(s.records) && s.records[at].trimmed && !p.silent:
			return ErrTrimmed
		}
		for at < len(s.records) && s.records[at].trimmed {
			at++
		}
		for len(batch.Records) < 7 && at < len(s.records) && !s.records[at].seen.After(time.Now()) {
			batch.Records = append(batch.Records, s.records[at].Record)
			at++
		}
		if s.open || at < len(s.records) {
			batch.Next = p.iterator(s, at)
		}
		return nil
	})
	return batch, err
}

// List lists leases.
func (p *process) List(ctx context.Context, _ string) (leases []Lease, err error) {
	err = p.call(ctx, "leases", func() error {
		leases = slices.AppendSeq(leases, maps.Values(p.leases))
		slices.SortFunc(leases, func(a, b Lease) int { return len(a.Shard) - len(b.Shard) })
		return nil
	})
	return leases, err
}

var errConflict = &comment.Error{Kind: comment.Conflict, Message: "someone else was first"}

// Swap writes a lease, which is a change of the table.
func (p *process) Swap(ctx context.Context, _ string, old, new Lease) error {
	return p.call(ctx, "swap", func() error {
		there := p.leases[new.Shard]
		if there.Owner != old.Owner || there.Counter != old.Counter {
			return errConflict
		}
		p.put(new)
		p.swaps++
		p.checkLease(new)
		p.change(keys-1, false)
		return nil
	})
}

// SendHeartbeat writes a heartbeat, which is a change of the item that its key leads to.
func (p *process) SendHeartbeat(ctx context.Context, heartbeat Heartbeat) error {
	return p.call(ctx, "heartbeat", func() error {
		number, err := strconv.Atoi(heartbeat.Key)
		if err != nil {
			return err
		}
		p.heartbeats[p.change(number%keys, false)] = heartbeat
		return nil
	})
}

// HeartbeatOf finds a heartbeat by its record.
func (p *process) HeartbeatOf(record Record) (heartbeat Heartbeat, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heartbeat, ok = p.heartbeats[record.Sequence]
	return heartbeat, ok
}

// Own tells records of leases and heartbeats.
func (p *process) Own(record Record) bool {
	_, heartbeat := p.HeartbeatOf(record)
	return heartbeat || keyOf(record) == keys-1
}

// State reads the state.
func (p *process) State(ctx context.Context) (state State, err error) {
	err = p.call(ctx, "state", func() error { state = p.state; return nil })
	return state, err
}

// SwapState writes the state.
func (p *process) SwapState(ctx context.Context, old, new State) error {
	return p.call(ctx, "swap state", func() error {
		if p.state.Version != old.Version {
			return errConflict
		}
		new.Version = old.Version + 1
		if p.state = new; new.Complete {
			p.count(new.Since)
		}
		return nil
	})
}

// count counts everything up to a time, as a rebuild does.
func (w *world) count(until time.Time) {
	for _, history := range w.history {
		for _, r := range history {
			r.counted = r.counted || r.made.Before(until)
		}
	}
}

// PutDeadLetter keeps a record.
func (p *process) PutDeadLetter(ctx context.Context, _ string, letter DeadLetter) error {
	return p.call(ctx, "dead letter", func() error {
		for _, history := range p.history {
			for _, r := range history {
				if r.Position == letter.Position {
					if r.deadLettered = true; !r.poison {
						p.violate("record %s was dead-lettered without a reason", r.Sequence)
					}
				}
			}
		}
		return nil
	})
}

var errPoison = errors.New("poison")

var errContended = &comment.Error{Kind: comment.Throttled, Message: "others write it"}

// handle processes records up to the first that cannot be processed. Records of the first item wait
// now and then.
func (p *process) handle(ctx context.Context, records []Record) error {
	return p.call(ctx, "handle", func() error {
		waiting, contended := RecordErrors{}, p.faulty && p.draw("contended", 3) > 0
		for i, record := range records {
			if contended && keyOf(record) == 0 {
				history, at := p.place(record)
				waiting[i], history[at].waited = errContended, true
				continue
			}
			if err := p.settle(record, len(records) == 1); err != nil {
				return err
			}
		}
		if len(waiting) > 0 {
			return waiting
		}
		return nil
	})
}

// place returns the changes of a record's item, and the index of the record among them.
func (w *world) place(record Record) (history []*simRecord, at int) {
	history = w.history[keyOf(record)]
	at, _ = slices.BinarySearchFunc(history, record.Position, func(r *simRecord, position Position) int {
		return cmp.Compare(r.Position, position)
	})
	return history, at
}

func keyOf(record Record) int {
	key, _ := strconv.Atoi(record.Keys["PK"].(*types.AttributeValueMemberS).Value)
	return key
}

// settle checks that all earlier changes of the item are settled or known to be lost.
func (p *process) settle(record Record, alone bool) error {
	history, at := p.place(record)
	for i := at - 1; i >= 0; i-- {
		if before := history[i]; !p.excused(before) && !(before.poison && before.alone) && !before.waited {
			p.violate("record %s was handed over before record %s of the same item (trimmed: %v)", record.Sequence, history[i].Sequence, history[i].trimmed)
			break
		}
	}
	if history[at].poison {
		history[at].alone = history[at].alone || alone
		return errPoison
	}
	history[at].settled = true
	return nil
}
