package pageindex

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// chain finds places in a list of any order. The list is a chain of links in the order of dates: counts
// tell in which of them a rank is, and the index finds its place there.
type chain struct {
	index Index
	list  List
	// counts are those of the list, nil if the index has to be asked for them.
	counts *comment.Counts
}

// goal is a Target in a list of any order.
type goal struct {
	Rank  int
	Exact bool
	// Size is not for chains: a page may go on in the next link.
	Size int
	At   *comment.Place
}

// Start is a Boundary in a list of any order.
type Start struct {
	// Rank is how many comments of the list come before it.
	Rank int
	// After is a place such that the comments before the boundary are those at or before it. It is
	// nil at the beginning of the list.
	After *comment.Place
}

// starts are the answer to goals, in their order.
type starts struct {
	counts comment.Counts
	starts []Start
	cost   Cost
}

// section is a link, and what is asked of it.
type section struct {
	comment.Link
	before, count int // comments of the list before the link, and in it
	targets       []Target
	goals         []int // of the targets
}

// find finds goals. Of a list of one link, all of the answer is of one state of the index. Otherwise
// comments that come and go meanwhile may shift ranks by as many.
func (c chain) find(ctx context.Context, goals []goal) (out starts, err error) {
	links := c.list.Order.Links(c.list.Filter)
	out.starts = make([]Start, len(goals))
	sections := make([]section, len(links))
	for i, link := range links {
		sections[i].Link = link
	}
	if len(links) > 1 {
		if out, err = c.counted(ctx, out); err != nil {
			return out, err
		}
		place(sections, out.counts)
	}
	for i, g := range goals {
		out.starts[i] = locate(sections, c.list.Order, i, g)
	}
	err = c.ask(ctx, sections, &out)
	return out, err
}

// counted is the answer with the counts of the list.
func (c chain) counted(ctx context.Context, out starts) (starts, error) {
	if c.counts != nil {
		out.counts = *c.counts
		return out, nil
	}
	found, err := c.index.Find(ctx, List{Product: c.list.Product, Filter: c.list.Filter, Order: comment.NewestFirst}, nil)
	out.counts, out.cost = found.Counts, found.Cost
	return out, err
}

// place says what comes before each link of a list, and how much is in it.
func place(sections []section, counts comment.Counts) {
	before := 0
	for i := range sections {
		s := &sections[i]
		s.before, s.count = before, counts.Of(s.Filter.Ratings)
		before += s.count
	}
}

// locate gives a goal to the link that it is in, as a target. Where it lies between links or beyond
// them, it returns its place.
func locate(sections []section, order comment.Order, number int, g goal) Start {
	total := 0
	for i := range sections {
		s := &sections[i]
		target, front := Target{Rank: g.Rank - s.before, Exact: g.Exact}, order.Front(s.Key)
		switch {
		case len(sections) == 1:
			target.Size = g.Size
			if g.At != nil {
				target.At = &g.At.Position
			}
		case g.At != nil && g.At.Key == s.Key:
			target = Target{At: &g.At.Position}
		case g.At != nil && order.Compare(*g.At, front) < 0, s.before == 0 && g.At == nil && g.Rank == 0:
			return Start{Rank: s.before}
		case g.At != nil || s.count == 0 || target.Rank >= s.count:
			total = s.before + s.count
			continue
		case target.Rank == 0:
			return Start{Rank: s.before, After: &front}
		}
		s.targets, s.goals = append(s.targets, target), append(s.goals, number)
		return Start{}
	}
	return Start{Rank: total}
}

// ask asks the index for what is wanted of each link, side by side.
func (c chain) ask(ctx context.Context, sections []section, out *starts) error {
	found := make([]Found, len(sections))
	one := len(sections) == 1
	asked := slices.DeleteFunc(sections, func(s section) bool { return !one && len(s.targets) == 0 })
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range asked {
		find := task.Guarded(func() (err error) {
			found[i], err = c.index.Find(ctx, List{Product: c.list.Product, Filter: s.Filter, Order: c.list.Order.Dated()}, s.targets)
			return err
		})
		if len(asked) > 1 {
			group.Go(find)
		} else if err := find(); err != nil {
			return err
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var cost Cost
	for i, s := range asked {
		cost.Calls, cost.ReadUnits = cost.Calls+found[i].Cost.Calls, cost.ReadUnits+found[i].Cost.ReadUnits
		cost.Waves = max(cost.Waves, found[i].Cost.Waves)
		for j, boundary := range found[i].Boundaries {
			out.starts[s.goals[j]] = s.start(boundary, c.list.Order)
		}
		if one {
			out.counts = found[i].Counts
		}
	}
	out.cost.Add(cost)
	return nil
}

// start is a boundary of the link in the whole list.
func (s section) start(b Boundary, order comment.Order) Start {
	start := Start{Rank: s.before + b.Rank}
	switch {
	case b.After != nil:
		start.After = &comment.Place{Key: s.Key, Position: *b.After}
	case s.before > 0:
		start.After = new(order.Front(s.Key))
	}
	return start
}
