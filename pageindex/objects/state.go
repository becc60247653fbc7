package objects

import (
	"maps"
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
)

// State is the content of an index: a root, and the changes from logs that are not merged into it.
// It is safe for concurrent use.
type State struct {
	mu       sync.Mutex
	root     *Root
	products map[string]*pending
	count    int
}

// pending are the changes of one product.
type pending struct {
	items map[comment.Position]held
	// bases are the root's items at these positions, as far as they were read.
	bases map[comment.Position]Item
	// changes is computed from both; nil if that has to be done again.
	changes []change
}

// held is an item, and the number of its log.
type held struct {
	item Item
	log  uint64
}

// view is one product in one state.
type view struct {
	root *Root
	// changes are those of the product. If they are nil, resolve computes them from items and bases.
	changes []change
	items   []Item
	bases   map[comment.Position]Item
}

// change is a comment's cell in the chunks, and its new one. A deleted or new comment has a cell
// without a rating.
type change struct {
	position comment.Position
	was, now comment.Cell
}

// newState returns the state of a root without changes.
func newState(root *Root) *State {
	return &State{root: root, products: map[string]*pending{}}
}

// Root returns the root, which must not be changed.
func (s *State) Root() *Root {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root
}

// Len returns the number of changes.
func (s *State) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Put adds the changes of a log.
func (s *State) Put(log uint64, items []Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if log <= s.root.Merged {
		return
	}
	for _, item := range items {
		p := s.products[item.Product]
		if p == nil {
			p = &pending{items: map[comment.Position]held{}, bases: map[comment.Position]Item{}}
			s.products[item.Product] = p
		}
		before, known := p.items[item.Position]
		if known && item.Follows <= before.item.Follows {
			continue
		}
		if !known {
			s.count++
		}
		p.items[item.Position] = held{item, log}
		p.changes = nil
	}
}

// Replace sets a new root, and drops the changes that are merged into it.
func (s *State) Replace(root *Root) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := s.root.Generation == root.Generation && s.root.Merged == root.Merged
	if s.root = root; same {
		return // only Covers has changed
	}
	for id, p := range s.products {
		for position, h := range p.items {
			if h.log <= root.Merged {
				delete(p.items, position)
				s.count--
			}
		}
		clear(p.bases)
		p.changes = nil
		if len(p.items) == 0 {
			delete(s.products, id)
		}
	}
}

// Pending returns the changes of logs up to a number, inclusive, sorted by key.
func (s *State) Pending(through uint64) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Item
	for _, p := range s.products {
		for _, h := range p.items {
			if h.log <= through {
				out = append(out, h.item)
			}
		}
	}
	return latestSorted(out)
}

func (s *State) pendingProducts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.products))
}

func (s *State) view(product string) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.products[product]
	if p == nil {
		return view{root: s.root, changes: []change{}}
	}
	if p.changes != nil {
		return view{root: s.root, changes: p.changes}
	}
	v := view{root: s.root, items: make([]Item, 0, len(p.items)), bases: maps.Clone(p.bases)}
	for _, h := range p.items {
		v.items = append(v.items, h.item)
	}
	slices.SortFunc(v.items, func(a, b Item) int { return a.Position.Compare(b.Position) })
	return v
}

// settle keeps the result of resolve, unless changes have come since.
func (s *State) settle(product string, v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.products[product]
	if p == nil || s.root != v.root {
		return
	}
	for position, base := range v.bases {
		if _, still := p.items[position]; still {
			p.bases[position] = base
		}
	}
	if len(p.items) == len(v.items) && !slices.ContainsFunc(v.items, func(item Item) bool { return p.items[item.Position].item != item }) {
		p.changes = v.changes
	}
}
