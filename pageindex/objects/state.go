package objects

import (
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// pending are the changes of one product that are not merged into the root.
type pending struct {
	items map[comment.Position]held
	// changes is computed from items; nil if that has to be done again.
	changes []change
}

// held is an item, the number of its log, and the root's item at its position, nil until it was
// read.
type held struct {
	item Item
	log  uint64
	base *Item
}

// view is one product in one state.
type view struct {
	root *Root
	// changes are the changes of the product. If they are nil, resolve computes them from items.
	changes []change
	items   []held
}

// change is a comment's cell in the chunks, and its new one. A deleted or new comment has a cell
// without a rating.
type change struct {
	position comment.Position
	was, now comment.Cell
}

// changes are the changes of logs that are not merged into the root.
type changes struct {
	products map[string]*pending
	count    int
}

// put adds the changes of a log.
func (c *changes) put(log uint64, items []Item) {
	for _, item := range items {
		p := c.products[item.Product]
		if p == nil {
			p = &pending{items: map[comment.Position]held{}}
			c.products[item.Product] = p
		}
		before, known := p.items[item.Position]
		if known && item.Follows <= before.item.Follows {
			continue
		}
		if !known {
			c.count++
		}
		p.items[item.Position] = held{item, log, before.base}
		p.changes = nil
	}
}

// merged drops the changes of logs up to a number, which are in new chunks.
func (c *changes) merged(through uint64) {
	for id, p := range c.products {
		for position, h := range p.items {
			if h.base = nil; h.log <= through {
				delete(p.items, position)
				c.count--
				continue
			}
			p.items[position] = h
		}
		if p.changes = nil; len(p.items) == 0 {
			delete(c.products, id)
		}
	}
}

// items returns the changes of logs up to a number, inclusive, sorted by key.
func (c *changes) items(through uint64) []Item {
	var out []Item
	for _, p := range c.products {
		for _, h := range p.items {
			if h.log <= through {
				out = append(out, h.item)
			}
		}
	}
	return latestSorted(out)
}

// view returns a product in the state of a root and these changes.
func (c *changes) view(root *Root, product string) view {
	v, p := view{root: root}, c.products[product]
	switch {
	case p == nil:
		v.changes = []change{}
	case p.changes != nil:
		v.changes = p.changes
	default:
		v.items = slices.SortedFunc(maps.Values(p.items), func(a, b held) int { return a.item.Position.Compare(b.item.Position) })
	}
	return v
}

// settle keeps the result of resolve, unless changes have come since.
func (c *changes) settle(product string, v view) {
	p := c.products[product]
	if p == nil {
		return
	}
	same := len(p.items) == len(v.items)
	for _, h := range v.items {
		now, still := p.items[h.item.Position]
		if same = same && now.item == h.item; still {
			now.base = h.base
			p.items[h.item.Position] = now
		}
	}
	if same {
		p.changes = v.changes
	}
}
