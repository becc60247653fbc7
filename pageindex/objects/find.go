package objects

import (
	"bytes"
	"context"
	"sort"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// find finds targets in a list. Its error is errMissing if a merge has deleted a file that it
// needs.
func (c *core) find(ctx context.Context, r *reads, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	c.mu.Lock()
	v := c.changes.view(c.snapshot.root, list.Product)
	c.mu.Unlock()
	if v.changes == nil {
		if err := resolve(ctx, r, &v); err != nil {
			return pageindex.Found{}, err
		}
		c.mu.Lock()
		if c.snapshot.root == v.root {
			c.changes.settle(list.Product, v)
		}
		c.mu.Unlock()
	}
	l := &line{reads: r, product: list.Product, filter: list.Filter}
	l.setChanges(v.changes)
	if err := r.until(ctx, func() { l.open(v.root) }); err != nil {
		return pageindex.Found{}, err
	}
	f := finder{line: l, order: list.Order, targets: targets, boundaries: make([]pageindex.Boundary, len(targets))}
	f.low, f.high = list.Filter.Range()
	if err := r.until(ctx, f.measure); err != nil {
		return pageindex.Found{}, err
	}
	if err := r.until(ctx, f.place); err != nil {
		return pageindex.Found{}, err
	}
	found := pageindex.Found{Boundaries: f.boundaries}
	for i := range found.Counts {
		found.Counts[i] = f.to[i] - f.from[i]
	}
	return found, nil
}

// finder finds targets in the part of a line between two positions, inclusive.
type finder struct {
	line       *line
	order      comment.Order
	low, high  comment.Position
	targets    []pageindex.Target
	boundaries []pageindex.Boundary
	// from are the counts before the part, to those up to its end.
	from, to comment.Counts
}

// measure counts the part, and finds the rank of each target position: the comments of the part at
// or before it, in the list's order.
func (f *finder) measure() {
	f.from = f.line.before(f.low)
	f.to = f.from
	if f.low.Compare(f.high) <= 0 {
		f.to = f.through(f.high)
	}
	for i, t := range f.targets {
		if t.At == nil {
			continue
		}
		after, rank := *t.At, 0
		if f.order.Descends() {
			rank = f.to.Total() - f.clip(f.line.before(after).Total())
		} else {
			rank = f.clip(f.through(after).Total()) - f.from.Total()
		}
		f.boundaries[i] = pageindex.Boundary{Rank: rank, After: &after}
	}
}

// through returns the counts of the comments up to a position, inclusive.
func (f *finder) through(p comment.Position) comment.Counts {
	if p == comment.MaxPosition {
		return f.line.all()
	}
	return f.line.before(p.Next())
}

// clip limits a number of comments of the line to those at the part's ends.
func (f *finder) clip(n int) int { return max(f.from.Total(), min(n, f.to.Total())) }

// place finds the positions of target ranks.
func (f *finder) place() {
	from, to := f.from.Total(), f.to.Total()
	for i, t := range f.targets {
		if t.At != nil {
			continue
		}
		rank := min(t.Rank, to-from)
		if rank <= 0 {
			continue
		}
		n := to - rank
		if !f.order.Descends() {
			n = from + rank - 1
		}
		at := f.line.at(n)
		f.boundaries[i] = pageindex.Boundary{Rank: rank, After: &at}
	}
}

// resolve computes the changes of a view, by comparing its items with the chunks.
func resolve(ctx context.Context, r *reads, v *view) error {
	err := r.until(ctx, func() {
		for i := range v.items {
			h := &v.items[i]
			if h.base != nil {
				continue
			}
			if base, ok := r.base(v.root, h.item.Key); ok {
				h.base = &base
			}
		}
	})
	if err != nil {
		return err
	}
	v.changes = make([]change, 0, len(v.items))
	for _, h := range v.items {
		// Neither an older entry changes anything, nor one without Follows where another exists.
		if (h.base.There() || h.base.Guarded()) && h.item.Follows <= h.base.Follows {
			continue
		}
		v.changes = append(v.changes, change{h.item.Position, h.base.Cell, h.item.Cell})
	}
	return nil
}

// base returns the item of a comment in the chunks. If ok is false, something has to be read first.
func (r *reads) base(root *Root, key Key) (item Item, ok bool) {
	item.Key = key
	n := root.At(key)
	if n < 0 {
		return item, true
	}
	c := &root.Chunks[n]
	if c.Single && (c.First.Product != key.Product || key.Position.Compare(c.Last) > 0) {
		return item, true
	}
	there, ok := r.lookUp(c, Records, key)
	guard, guarded := r.lookUp(c, Guards, key)
	return Item{key, there.Cell, guard.Follows, guard.Seen}, ok && guarded
}

// lookUp returns a comment's record in a chunk's file, zero if it has none. If ok is false,
// something has to be read first.
func (r *reads) lookUp(c *Chunk, kind Kind, key Key) (item Item, ok bool) {
	h := r.head(c, kind)
	if h == nil {
		return item, false
	}
	product, found := h.Find(key.Product)
	if !found {
		return item, true
	}
	p := &h.Products[product]
	block := sort.Search(len(p.Blocks), func(i int) bool { return p.Blocks[i].First.Compare(key.Position) > 0 }) - 1
	if block < 0 || key.Position.Compare(p.Last) > 0 {
		return item, true
	}
	data := r.block(c.objectName(kind), h, product, block)
	n, found := sort.Find(len(data)/h.RecordSize, func(i int) int {
		return bytes.Compare(key.Position[:], data[i*h.RecordSize:][:len(key.Position)])
	})
	if found {
		item = h.items(kind, p, data[n*h.RecordSize:(n+1)*h.RecordSize])[0]
	}
	return item, data != nil
}
