// Package merge puts several sorted sources into one order, reading on only where a source ran dry. It knows nothing of
// what is read or how: the standard library alone.
package merge

import (
	"context"
	"errors"
	"fmt"
)

// Batch is what one source yields at a time.
type Batch[T any] struct {
	// Items follow each other, and what the source yielded before, in strictly ascending order.
	Items []T
	// Done says that the source yields nothing after these items. An empty batch that is not done is normal: the source
	// is asked again.
	Done bool
	// Bound, unless nil, is such that all further items of the source are above it: then the source need not be asked again
	// as long as the others have lower ones.
	Bound *T
}

// Fill reads on. It gets the numbers of the sources that ran dry, ascending, and how many items are still missing, and
// returns one Batch for each of these sources, in their order. It may read them in parallel.
type Fill[T any] func(ctx context.Context, dry []int, missing int) ([]Batch[T], error)

// ErrOrder is returned when a source yields an item that is not above the one it yielded before.
var ErrOrder = errors.New("merge: a source is out of order")

// Merger merges. It is for one goroutine at a time.
type Merger[T any] struct {
	compare func(a, b T) int
	fill    Fill[T]
	sources []source[T]
	err     error
}

type source[T any] struct {
	items []T // read and not yet taken
	done  bool
	last  *T // the last item yielded, to see that the next is above it
	bound *T // below all that is still to come, nil when nobody knows
}

// New makes a merger of so many sources, numbered from 0. Nothing is read before the first Take.
//
// Order: each source is strictly ascending by compare; what Take returns is strictly ascending across all calls.
//
// Duplicates: items of different sources that compare as equal come out once, the one of the lowest-numbered source.
// That happens while an edit moves a comment between two partitions which are read at slightly different moments.
//
// Errors: an error of fill, or a breach of the order, ends the merge. Take then returns that error and no items, now and
// for ever: a short list never passes for a whole one.
//
// Cancellation: the context of Take is looked at before each fill and handed to it.
//
// Limits: fill is called only while items are missing and some source is dry, with all the dry sources at once, so the
// number of calls is the number of rounds that had to follow each other.
func New[T any](sources int, compare func(a, b T) int, fill Fill[T]) *Merger[T] {
	return &Merger[T]{compare: compare, fill: fill, sources: make([]source[T], sources)}
}

// Take returns the next n items, or fewer when the sources hold no more.
func (m *Merger[T]) Take(ctx context.Context, n int) ([]T, error) {
	var out []T
	for len(out) < n {
		if err := m.refill(ctx, n-len(out)); err != nil {
			return nil, err
		}
		lowest := m.lowest()
		if lowest < 0 {
			break
		}
		if out == nil {
			out = make([]T, 0, n)
		}
		out = append(out, m.pop(lowest))
	}
	return out, nil
}

// refill returns when no source is dry: only then is the lowest head the next item.
func (m *Merger[T]) refill(ctx context.Context, missing int) error {
	for m.err == nil {
		dry := m.dry()
		if len(dry) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m.err = m.read(ctx, dry, missing)
	}
	return m.err
}

// dry are the sources of which it is not known whether the next item of all is theirs.
func (m *Merger[T]) dry() []int {
	var dry []int
	lowest := m.lowest()
	for i, s := range m.sources {
		if len(s.items) > 0 || s.done {
			continue
		}
		if lowest < 0 || s.bound == nil || m.compare(*s.bound, m.sources[lowest].items[0]) < 0 {
			dry = append(dry, i)
		}
	}
	return dry
}

func (m *Merger[T]) read(ctx context.Context, dry []int, missing int) error {
	batches, err := m.fill(ctx, dry, missing)
	if err != nil {
		return err
	}
	if len(batches) != len(dry) {
		return fmt.Errorf("merge: %d batches for %d sources", len(batches), len(dry))
	}
	for i, number := range dry {
		if err := m.accept(&m.sources[number], batches[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Merger[T]) accept(s *source[T], batch Batch[T]) error {
	s.items, s.done, s.bound = batch.Items, batch.Done, batch.Bound
	for i := range batch.Items {
		if s.last != nil && m.compare(*s.last, batch.Items[i]) >= 0 {
			return ErrOrder
		}
		s.last = &batch.Items[i]
	}
	return nil
}

// lowest is the source with the lowest head, the first such, or -1 when all are empty. Sources are few, one for each
// partition of a plan, so looking at each takes less code than a heap and no noticeable time: see BenchmarkTake.
func (m *Merger[T]) lowest() int {
	lowest := -1
	for i, s := range m.sources {
		if len(s.items) > 0 && (lowest < 0 || m.compare(s.items[0], m.sources[lowest].items[0]) < 0) {
			lowest = i
		}
	}
	return lowest
}

// pop takes the head of a source and drops its equals from all others.
func (m *Merger[T]) pop(number int) T {
	head := m.sources[number].items[0]
	for i := number; i < len(m.sources); i++ {
		s := &m.sources[i]
		if len(s.items) > 0 && m.compare(s.items[0], head) == 0 {
			s.items = s.items[1:]
		}
	}
	return head
}
