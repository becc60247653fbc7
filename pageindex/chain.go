package pageindex

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// chain finds places in a list of any order. The list is a chain of links: counts tell which link
// contains a rank. The index finds the place in the link if that is ordered by date.
type chain struct {
	index Index
	voted FindVoted
	list  List
	// stats has the exact counts of the list; if it is nil, the index is asked for them.
	stats comment.Stats
	total int // comments of the list, for voted
}

// VotedTarget is a target among the comments with helpful votes: a rank or, if At is given, the
// rank of that place.
type VotedTarget struct {
	Rank int
	At   *comment.Place
}

// FindVoted finds targets in the part of a list that is ordered by net votes, which no page index
// covers. The whole list has the given number of comments. It returns one Start for each target,
// with rank Beyond if the target is too deep.
type FindVoted func(ctx context.Context, list int, targets []VotedTarget) ([]Start, Cost, error)

// Beyond is the rank of a Start for a target that is too deep to be found.
const Beyond = -1

// goal is a Target in a list of any order.
type goal struct {
	Rank  int
	Exact bool
	// Size is used for lists of one link only: in a chain, a page may continue in the next link.
	Size int
	At   *comment.Place
}

// Start is a Boundary in a list of any order.
type Start struct {
	// Rank is how many comments of the list come before the boundary, or Beyond.
	Rank int
	// After is a place such that the comments before the boundary are those at or before it. It is
	// nil at the beginning of the list.
	After *comment.Place
}

// starts is the answer to goals, in their order.
type starts struct {
	counts comment.Counts
	starts []Start
	cost   Cost
}

// section is a link, and the targets to find in it.
type section struct {
	comment.Link
	before, count int // comments of the list before the link, and in it
	targets       []Target
	voted         []VotedTarget // in place of targets
	goals         []int         // indexes of the goals that the targets are for
}

// find finds goals. In a list of one link, the whole answer is of one state of the index. In a
// chain, concurrent changes may shift ranks by as many comments.
func (c chain) find(ctx context.Context, goals []goal) (out starts, err error) {
	links := c.list.Order.Links(c.list.Filter)
	out.starts = make([]Start, len(goals))
	sections := make([]section, len(links))
	for i, link := range links {
		sections[i].Link = link
	}
	if len(links) > 1 {
		if err = c.count(ctx, sections, &out); err != nil {
			return out, err
		}
	}
	for i, g := range goals {
		out.starts[i] = locate(sections, c.list.Order, i, g)
	}
	c.total = out.counts.Total()
	err = c.ask(ctx, sections, &out)
	return out, err
}

// count counts the list and each of its links, and sums up how many comments precede each link. In
// an order by rating, one count by rating suffices; in any other, each link is counted.
func (c chain) count(ctx context.Context, sections []section, out *starts) error {
	filters, byRating := []comment.Filter{c.list.Filter}, c.list.Order == comment.HighestRated || c.list.Order == comment.LowestRated
	if !byRating {
		filters = nil
		for _, s := range sections {
			filters = append(filters, s.Filter)
		}
	}
	counts := make([]comment.Counts, len(filters))
	for i, filter := range filters {
		if counts[i] = c.stats.Counts(filter); c.stats == nil {
			found, err := c.index.Find(ctx, List{Product: c.list.Product, Filter: filter, Order: comment.NewestFirst}, nil)
			if err != nil {
				return err
			}
			out.cost.Add(found.Cost)
			counts[i] = found.Counts
		}
		out.counts = out.counts.Plus(counts[i])
	}
	before := 0
	for i := range sections {
		s := &sections[i]
		if s.before, s.count = before, counts[0].Of(s.Filter.Ratings); !byRating {
			s.count = counts[i].Total()
		}
		before += s.count
	}
	return nil
}

// locate adds a goal to the targets of the link that contains it. If the goal lies between links or
// behind the last one, locate returns its place at once.
func locate(sections []section, order comment.Order, number int, g goal) Start {
	total := 0
	for i := range sections {
		s := &sections[i]
		target, front := Target{Rank: g.Rank - s.before, Exact: g.Exact}, order.Front(s.High)
		switch {
		case len(sections) == 1:
			target.Size = g.Size
			if g.At != nil {
				target.At = &g.At.Position
			}
		case g.At != nil && s.Has(g.At.Key):
			target = Target{At: &g.At.Position}
		case g.At != nil && order.Compare(*g.At, front) < 0, s.before == 0 && g.At == nil && g.Rank == 0:
			return Start{Rank: s.before}
		case g.At != nil || s.count == 0 || target.Rank >= s.count:
			total = s.before + s.count
			continue
		case target.Rank == 0:
			return Start{Rank: s.before, After: &front}
		}
		if s.goals = append(s.goals, number); s.ByVotes() {
			s.voted = append(s.voted, VotedTarget{Rank: target.Rank, At: g.At})
		} else {
			s.targets = append(s.targets, target)
		}
		return Start{}
	}
	return Start{Rank: total}
}

// ask looks up the targets of all links in parallel.
func (c chain) ask(ctx context.Context, sections []section, out *starts) error {
	answers := make([]starts, len(sections))
	one := len(sections) == 1
	asked := slices.DeleteFunc(sections, func(s section) bool { return !one && len(s.goals) == 0 })
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range asked {
		find := task.Guarded(func() (err error) {
			out := &answers[i]
			if s.ByVotes() {
				out.starts, out.cost, err = c.voted(ctx, c.total, s.voted)
				return err
			}
			found, err := c.index.Find(ctx, List{Product: c.list.Product, Filter: s.Filter, Order: c.list.Order.Dated()}, s.targets)
			out.counts, out.cost = found.Counts, found.Cost
			for _, b := range found.Boundaries {
				start := Start{Rank: s.before + b.Rank} // in the whole list
				switch {
				case b.After != nil:
					start.After = &comment.Place{Key: s.Low, Position: *b.After}
				case s.before > 0:
					start.After = new(c.list.Order.Front(s.High))
				}
				out.starts = append(out.starts, start)
			}
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
		cost.Calls, cost.ReadUnits = cost.Calls+answers[i].cost.Calls, cost.ReadUnits+answers[i].cost.ReadUnits
		cost.Waves = max(cost.Waves, answers[i].cost.Waves)
		for j, start := range answers[i].starts {
			out.starts[s.goals[j]] = start
		}
		if one {
			out.counts = answers[i].counts
		}
	}
	out.cost.Add(cost)
	return nil
}
