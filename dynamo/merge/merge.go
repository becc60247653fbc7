// Package merge merges sorted sources, and reads more of a source only when it has run dry. It does
// not know what is read or how, and imports only the standard library.
package merge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Batch is the result of one read of a source.
type Batch[T any] struct {
	// Items are in strictly ascending order, and above all earlier items of the source.
	Items []T
	// Done is whether the source has no further items. An empty batch that is not done is normal:
	// the source is read again.
	Done bool
	// Bound, unless nil, is below all further items of the source. The source is not read again
	// while other sources have items at or below it.
	Bound *T
}

// Fill reads more items of sources. dry has the numbers of the sources that ran dry or soon will,
// ascending, and missing is how many items Take still needs; see Before. Fill returns one Batch for
// each of these sources, in their order. It may add batches of new sources, which get the next
// numbers. It may read in parallel.
type Fill[T any] func(ctx context.Context, dry []int, missing int) ([]Batch[T], error)

// ErrOrder means that a source yielded an item that is not above the one before it.
var ErrOrder = errors.New("merge: a source is out of order")

// Merger merges sources. It is not safe for concurrent use.
type Merger[T any] struct {
	compare func(a, b *T) int
	fill    Fill[T]
	sources []source[T]
	err     error
	// distance is nil if nothing is read ahead. first is the first item; nil until it is known.
	distance func(a, b *T) float64
	first    *T
}

type source[T any] struct {
	items []T // read, not yet taken
	done  bool
	last  *T // the last item yielded, to check that the next is above it
	bound *T // below all further items; nil if unknown

	yielded int // items so far
}

// New returns a merger of sources numbered from 0. It reads nothing before the first Take.
//
// Order: each source is strictly ascending by compare, and so is what Take returns across all
// calls.
//
// Duplicates: of items of different sources that compare as equal, Take returns only that of the
// lowest-numbered source. There are some when an edit moves a comment between two partitions that
// are read at slightly different times.
//
// Errors: an error of fill, or ErrOrder, ends the merge. Take then returns that error and no items,
// in this call and all later ones. So a short list is never mistaken for a whole one.
//
// Cancellation: Take checks its context before each fill, and passes it on.
//
// Limits: fill is called only while items are missing and a source is dry, with all dry sources at
// once and those that ReadAhead adds. The number of calls is the number of waves.
func New[T any](sources int, compare func(a, b *T) int, fill Fill[T]) *Merger[T] {
	return &Merger[T]{compare: compare, fill: fill, sources: make([]source[T], sources)}
}

// ReadAhead makes each fill include sources that will probably run dry before Take has enough, so
// that further fills are rare. distance returns how far b is from a. Call ReadAhead before the
// first Take.
func (m *Merger[T]) ReadAhead(distance func(a, b *T) float64) { m.distance = distance }

// Before returns how many items that were read but not taken come before all unread items of a
// source. At most missing minus that many items of the source are still needed.
func (m *Merger[T]) Before(number int) int {
	bound := m.sources[number].bound
	if bound == nil {
		return len(m.sources[number].items)
	}
	before := 0
	for j := range m.sources {
		s := &m.sources[j]
		for i := 0; i < len(s.items) && m.compare(&s.items[i], bound) <= 0; i++ {
			before++
		}
	}
	return before
}

// Take returns the next n items, or fewer at the end of the sources. It reads while a source is
// dry: only then is the lowest head the next item.
func (m *Merger[T]) Take(ctx context.Context, n int) ([]T, error) {
	var out []T
	for m.err == nil && len(out) < n {
		if dry := m.dry(); len(dry) > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			missing := n - len(out)
			if m.distance != nil {
				dry = m.soonDry(dry, missing)
			}
			var batches []Batch[T]
			if batches, m.err = m.fill(ctx, dry, missing); m.err == nil {
				m.err = m.accept(dry, batches)
			}
			continue
		}
		lowest := m.lowest()
		if lowest < 0 {
			return out, nil
		}
		s := &m.sources[lowest]
		if len(m.sources) == 1 && out == nil { // all at once
			at := min(n, len(s.items))
			out, s.items = s.items[:at:at], s.items[at:]
			continue
		}
		if out == nil {
			out = make([]T, 0, n)
		}
		head := &s.items[0]
		if m.first == nil {
			m.first = head
		}
		for i := lowest; i < len(m.sources); i++ { // remove it, and what is equal to it in the sources after that
			s := &m.sources[i]
			if len(s.items) > 0 && m.compare(&s.items[0], head) == 0 {
				s.items = s.items[1:]
			}
		}
		out = append(out, *head)
	}
	if m.err != nil {
		return nil, m.err
	}
	return out, nil
}

// dry returns the sources without items that may hold the next one.
func (m *Merger[T]) dry() []int {
	var dry []int
	lowest := m.lowest()
	for i := range m.sources {
		s := &m.sources[i]
		if len(s.items) > 0 || s.done {
			continue
		}
		if lowest < 0 || s.bound == nil || m.compare(s.bound, &m.sources[lowest].items[0]) < 0 {
			dry = append(dry, i)
		}
	}
	return dry
}

// soonDry returns the dry sources and those that will probably be dry before missing items are
// taken, ascending.
func (m *Merger[T]) soonDry(dry []int, missing int) []int {
	var soon []int
	for i := range m.sources {
		s := &m.sources[i]
		if slices.Contains(dry, i) || !s.done && s.bound != nil && m.Before(i) < missing && m.expected(i, dry) < float64(missing) {
			soon = append(soon, i)
		}
	}
	return soon
}

// expected returns about how many items come before all unread items of a source, less one standard
// deviation. It extrapolates the items of dry sources from the distances of those that they have
// yielded.
func (m *Merger[T]) expected(number int, dry []int) float64 {
	items, until := 0.0, m.sources[number].bound
	for _, i := range dry {
		s := &m.sources[i]
		if m.first == nil || s.bound == nil || m.compare(s.bound, until) >= 0 {
			continue
		}
		if read := m.distance(m.first, s.bound); read > 0 {
			items += float64(s.yielded) * m.distance(s.bound, until) / read
		}
	}
	return float64(m.Before(number)) + items - math.Sqrt(items)
}

// accept adds batches to their sources.
func (m *Merger[T]) accept(dry []int, batches []Batch[T]) error {
	if len(batches) < len(dry) {
		return fmt.Errorf("merge: %d batches for %d sources", len(batches), len(dry))
	}
	for i, batch := range batches {
		if i == len(dry) {
			dry, m.sources = append(dry, len(m.sources)), append(m.sources, source[T]{})
		}
		s := &m.sources[dry[i]]
		if len(s.items) > 0 {
			s.items = slices.Concat(s.items, batch.Items)
		} else {
			s.items = batch.Items
		}
		s.done, s.bound, s.yielded = batch.Done, batch.Bound, s.yielded+len(batch.Items)
		for j := range batch.Items {
			if s.last != nil && m.compare(s.last, &batch.Items[j]) >= 0 {
				return ErrOrder
			}
			s.last = &batch.Items[j]
		}
	}
	return nil
}

// lowest returns the first source with the lowest head, or -1 if all are empty. A plan has few
// sources, one for each partition, so a linear search is less code than a heap and costs no
// noticeable time: see BenchmarkTake.
func (m *Merger[T]) lowest() int {
	lowest := -1
	for i := range m.sources {
		s := &m.sources[i]
		if len(s.items) > 0 && (lowest < 0 || m.compare(&s.items[0], &m.sources[lowest].items[0]) < 0) {
			lowest = i
		}
	}
	return lowest
}
