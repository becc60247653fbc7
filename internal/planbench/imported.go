package planbench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
)

// pagesOfSmall is how many pages are read of a product in MeasureImported, if it is not of the
// largest class, of which all pages are read. Each page is a call or more to an engine.
const pagesOfSmall = 10

// Starter starts a process on the table that products were imported into: it returns a Store that
// knows what such a process knows at its start.
type Starter func(context.Context) (*dynamo.Store, error)

// MeasureImported adds pages of products to a summary, all of which were imported into a table. Each
// process asks for one page of a product, as in a shop where each product is looked at once. What
// the process learns of one product, it knows when it asks for the next. Pages are drawn at random,
// the same ones each time.
func MeasureImported(ctx context.Context, products [][]comment.Comment, start Starter, summary *Summary) error {
	set := SetOf(products)
	products = slices.Clone(products)
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(products), func(i, j int) { products[i], products[j] = products[j], products[i] })
	priors, err := halfPriors(ctx, products)
	if err != nil {
		return err
	}
	asking := processes{start: start}
	return inOrder(ctx, products, func(i int, comments []comment.Comment) ([]Row, error) {
		return asking.measure(ctx, i, comments, priors[1-i%2])
	}, func(rows []Row) { summary.Add(set, rows) })
}

// processes are the Stores of processes, started as they are needed.
type processes struct {
	start Starter

	mu      sync.Mutex
	started []*dynamo.Store
}

// measure reads pages of a product by its number, each in another process, and in ways to compare
// them with.
func (s *processes) measure(ctx context.Context, number int, comments []comment.Comment, prior *planner.Prior) ([]Row, error) {
	p, err := NewProduct(ctx, comments)
	if err != nil {
		return nil, err
	}
	p.prior = prior
	var rows []Row
	for n, v := range p.drawn(uint64(number)) {
		if p.asked, err = s.process(ctx, n); err != nil {
			return nil, err
		}
		row, err := p.measure(ctx, v, Narrowest, Cold, Imported, Planned)
		if err != nil {
			return nil, fmt.Errorf("product %q: %w", p.id, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// drawn are the pages to read of a product, in random order.
func (p *Product) drawn(seed uint64) []visit {
	visits := p.visits(PageSize)
	rand.New(rand.NewPCG(2, seed)).Shuffle(len(visits), func(i, j int) { visits[i], visits[j] = visits[j], visits[i] })
	if sizeClass(len(p.comments)) < math.MaxInt {
		visits = visits[:min(len(visits), pagesOfSmall)]
	}
	return visits
}

// process returns the Store of a process by its number, from 0.
func (s *processes) process(ctx context.Context, number int) (*dynamo.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.started) <= number {
		store, err := s.start(ctx)
		if err != nil {
			return nil, err
		}
		s.started = append(s.started, store)
	}
	return s.started[number], nil
}
