package pageindex

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// NumbersWanted says what to look up for one page.
type NumbersWanted struct {
	List  List
	Slice comment.Slice
	// Place asks where a page by number begins, so that it can be read. At most MostSkip comments
	// may lie between that place and the page.
	Place    bool
	MostSkip int
	// Counts asks for the list's counts by rating.
	Counts bool
	// Numbering says what to find out about other pages.
	Numbering comment.Numbering
	// Total is the expected number of comments in the list, 0 if unknown. If it is right, the first
	// call finds the last page.
	Total int
	// Exact has exact counts of the list, nil if they are not known. They save a call if the list
	// is a chain of links.
	Exact comment.Stats
	// Voted finds places among comments with helpful votes, in the order by votes.
	Voted FindVoted
}

// Numbers looks up the page numbers of a page: where a page by number begins, how many pages there
// are, the number of a page reached by cursor, and where its neighbours begin. It asks the index
// for all of this at once, and a second time only for what depends on the first answer. It is used
// by one goroutine at a time.
type Numbers struct {
	index  Index
	wanted NumbersWanted

	// Counts are the list's comments by rating, known after Begin.
	Counts comment.Counts
	// Start is where to start reading the page, known after Begin if Place was asked for. It is a
	// boundary at or before the page, one behind it, to read backwards from, or one in its middle.
	// Skip and InFront say which.
	Start Start
	// Cost is what the lookup has cost so far.
	Cost Cost

	numbered comment.Numbered
	asked    map[int]bool // pages whose beginnings were looked up
	deep     bool         // whether the page, or its cursor, is too deep among comments with helpful votes
	beyond   []int        // pages that begin too deep there
	after    int          // number of comments up to the slice's cursor After
	before   int          // number of comments before its cursor Before; all without one
}

// NewNumbers returns the lookup of the wanted numbers in an index. Pages without comments have
// none.
func NewNumbers(index Index, wanted NumbersWanted) *Numbers {
	if wanted.Slice.Size == 0 {
		wanted.Numbering = comment.Numbering{}
	}
	return &Numbers{index: index, wanted: wanted, asked: map[int]bool{}, numbered: comment.Numbered{Starts: map[int]comment.Place{}}}
}

// Begin looks up everything that does not depend on another answer.
func (l *Numbers) Begin(ctx context.Context) error {
	var b batch
	w := l.wanted
	if !w.Place && !w.Counts && w.Slice.KnownNumber() == 1 && w.Exact != nil {
		if total := w.Exact.Counts(w.List.Filter).Total(); total <= w.Slice.Size {
			l.count(total) // the first page is the whole list, and has no links to others
			return nil
		}
	}
	if w.Place && !w.Numbering.Links {
		b.add(goal{Rank: w.Slice.Rank(), Size: w.Slice.Size}, l.begins)
	}
	if w.Numbering.Number || w.Numbering.Links {
		l.askCursors(&b)
	}
	if page := w.Slice.KnownNumber(); w.Numbering.Links && page > 0 {
		var pages []int // to be linked, as far as known without the number of pages
		if around := w.Numbering.Around; w.Total > 0 {
			pages = comment.LinkedPages(page, comment.Pages(w.Total, w.Slice.Size), around)
		} else {
			linked := comment.LinkedPages(page, page+around+2, around)
			pages = linked[:len(linked)-1] // all but the last page, which is a guess
		}
		if w.Place {
			pages = append(pages, page) // even if it is expected to be beyond the end
		}
		l.askStarts(&b, pages)
	}
	counts, err := b.find(ctx, l)
	if err != nil {
		return err
	}
	l.Counts = counts
	l.count(counts.Total())
	if l.deep { // the place was not found; a page that is read from there fails
		if l.numbered.Unknown = errTooDeep; w.Place {
			return errTooDeep
		}
		return nil
	}
	if skip, _ := l.Skip(); w.Place && w.Slice.Rank() < l.numbered.Total && skip > w.MostSkip {
		var exactly batch
		l.askStarts(&exactly, []int{w.Slice.Page})
		_, err = exactly.find(ctx, l)
		return err
	}
	return nil
}

// begins notes where the page begins.
func (l *Numbers) begins(at Start) { l.Start, l.deep = at, at.Rank == Beyond }

var errTooDeep = comment.Errorf(comment.BadInput, "in the order %s, page numbers are known for the first %d comments with helpful votes and for those without: page with cursors", comment.MostHelpful, comment.MaxVotedRank)

// Skip returns how many comments lie between Start and the page, and whether the page is read
// backwards from there.
func (l *Numbers) Skip() (comments int, backwards bool) {
	rank := l.wanted.Slice.Rank()
	if l.Start.Rank <= rank {
		return rank - l.Start.Rank, false
	}
	if l.InFront() > 0 {
		return 0, false
	}
	return l.Start.Rank - l.end(), true
}

// InFront returns how many comments of the page precede a Start in its middle, 0 if Start is not
// there.
func (l *Numbers) InFront() int {
	if l.Start.Rank >= l.end() {
		return 0
	}
	return max(0, l.Start.Rank-l.wanted.Slice.Rank())
}

// end returns how many comments of the list come before the end of the page.
func (l *Numbers) end() int { return min(l.wanted.Slice.Rank()+l.wanted.Slice.Size, l.numbered.Total) }

// Finish looks up the rest: the beginnings of linked pages that Begin did not know.
func (l *Numbers) Finish(ctx context.Context) error {
	if !l.wanted.Numbering.Links || l.deep {
		return nil
	}
	var b batch
	l.askStarts(&b, comment.LinkedPages(l.numbered.Page, l.numbered.Pages, l.wanted.Numbering.Around))
	if len(b.goals) == 0 {
		return nil
	}
	_, err := b.find(ctx, l)
	return err
}

// Numbered returns the result, complete after Finish.
func (l *Numbers) Numbered() comment.Numbered {
	out, reach := l.numbered, max(1, l.wanted.Numbering.Around)
	for _, page := range l.beyond {
		if page <= out.Pages && out.Page-reach <= page && page <= out.Page+reach {
			out.Unlinked = errTooDeep
		}
	}
	return out
}

// count sets what follows from the number of comments in the list.
func (l *Numbers) count(total int) {
	slice, end := l.wanted.Slice, total
	if slice.Before != nil {
		end = l.before
	}
	l.numbered.Counted, l.numbered.Total = true, total
	l.numbered.Pages = comment.Pages(total, slice.Size)
	if l.wanted.Numbering.Number || l.wanted.Numbering.Links || slice.Page > 0 {
		l.numbered.Page = slice.Number(l.after, end, total)
	}
	for page := range l.numbered.Starts {
		if page > l.numbered.Pages {
			delete(l.numbered.Starts, page) // there is no such page: what was found is the end of the list
		}
	}
}

// askCursors adds the cursors of a page that was reached by them, to find their ranks.
func (l *Numbers) askCursors(b *batch) {
	slice := l.wanted.Slice
	if slice.KnownNumber() > 0 {
		return
	}
	if slice.After != nil {
		b.add(goal{At: slice.After}, func(at Start) { l.after, l.deep = at.Rank, l.deep || at.Rank == Beyond })
	}
	if slice.Before == nil || !slice.FromEnd {
		return
	}
	ahead := *slice.Before
	if l.wanted.List.Order.Descends() {
		ahead.Position = ahead.Position.Next()
	} else {
		ahead.Position = ahead.Position.Previous()
	}
	b.add(goal{At: &ahead}, func(at Start) { l.before, l.deep = at.Rank, l.deep || at.Rank == Beyond })
}

// askStarts adds the beginnings of pages that were not looked up yet. A page whose boundary has
// another rank is beyond the end of the list.
func (l *Numbers) askStarts(b *batch, pages []int) {
	for _, page := range pages {
		if l.asked[page] || page == 1 {
			continue
		}
		l.asked[page] = true
		rank := (page - 1) * l.wanted.Slice.Size
		b.add(goal{Rank: rank, Exact: true}, func(at Start) {
			if page == l.wanted.Slice.Page {
				l.begins(at)
			}
			if at.Rank == Beyond {
				l.beyond = append(l.beyond, page)
			}
			if at.Rank == rank && at.After != nil {
				l.numbered.Starts[page] = *at.After
			}
		})
	}
}

// batch is a set of goals for one lookup, each with a function that takes its answer.
type batch struct {
	goals []goal
	take  []func(Start)
}

func (b *batch) add(target goal, take func(Start)) {
	b.goals, b.take = append(b.goals, target), append(b.take, take)
}

// find looks up the goals, and passes on the answers. It returns the counts of the list.
func (b *batch) find(ctx context.Context, l *Numbers) (comment.Counts, error) {
	found, err := chain{index: l.index, voted: l.wanted.Voted, list: l.wanted.List, stats: l.wanted.Exact}.find(ctx, b.goals)
	if err != nil {
		return found.counts, err
	}
	l.Cost.Add(found.cost)
	for i, take := range b.take {
		take(found.starts[i])
	}
	return found.counts, nil
}
