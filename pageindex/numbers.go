package pageindex

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// NumbersWanted is what to look up for one page.
type NumbersWanted struct {
	// List is the list of the page, Slice the page.
	List  List
	Slice comment.Slice
	// Place asks where a page by number begins, so that it can be read. At most MostSkip comments may
	// stand between that place and the page.
	Place    bool
	MostSkip int
	// Counts asks for the number of comments in the list by rating.
	Counts bool
	// Numbering says what to tell of other pages.
	Numbering comment.Numbering
	// Total is how many comments the list is believed to have, 0 if that is not known. If it is
	// right, the last page is found with the first call.
	Total int
}

// Numbers looks up what a page tells of page numbers: where the page with a number begins, how many
// pages there are, which of them a page reached by cursor is, and where its neighbours begin. It asks
// the index for all of it at once, and a second time only for what depends on the first answer. It is used by one goroutine at a time.
type Numbers struct {
	index  Index
	wanted NumbersWanted

	// Counts is how many comments the list has by rating, known after Begin.
	Counts comment.Counts
	// Start is where the page begins, known after Begin if it was wanted. Its rank may be lower than
	// that of the page.
	Start Boundary
	// Cost is what the lookup has cost so far.
	Cost Cost

	numbered comment.Numbered
	asked    map[int]bool // pages whose beginnings were asked for
	after    int          // how many comments come before the slice: those up to its cursor After
	before   int          // how many come before its cursor Before; all without one
}

// NewNumbers returns the lookup of the wanted numbers in an index.
func NewNumbers(index Index, wanted NumbersWanted) *Numbers {
	return &Numbers{index: index, wanted: wanted, asked: map[int]bool{}, numbered: comment.Numbered{Starts: map[int]comment.Position{}}}
}

// Begin asks for all that can be asked for at once.
func (l *Numbers) Begin(ctx context.Context) error {
	var b batch
	w := l.wanted
	if page := l.pageAtOnce(); page > 0 && !w.Place && !w.Counts && !w.Numbering.Count && !w.Numbering.Links {
		l.numbered.Page = page
		return nil // its number is all that is wanted
	}
	if w.Place && !w.Numbering.Links {
		b.add(Target{Rank: w.Slice.Rank()}, func(at Boundary) { l.Start = at })
	}
	if w.Numbering.Number || w.Numbering.Links {
		l.askCursors(&b)
	}
	if page := l.pageAtOnce(); w.Numbering.Links && page > 0 {
		pages := l.likely(page)
		if w.Place {
			pages = append(pages, page) // also if it is believed to be beyond the end
		}
		l.askStarts(&b, pages)
	}
	found, err := b.find(ctx, l)
	if err != nil {
		return err
	}
	l.Counts = found.Counts
	l.count()
	if rank := w.Slice.Rank(); w.Place && rank < l.numbered.Total && rank-l.Start.Rank > w.MostSkip {
		var exactly batch
		l.askStarts(&exactly, []int{w.Slice.Page})
		_, err = exactly.find(ctx, l)
		return err
	}
	return nil
}

// Finish asks for the rest: the beginnings of pages that were not known to be needed before.
func (l *Numbers) Finish(ctx context.Context) error {
	if !l.wanted.Numbering.Links {
		return nil
	}
	var b batch
	l.askStarts(&b, comment.LinkedPages(l.numbered.Page, l.numbered.Pages, l.wanted.Numbering.Around))
	if len(b.targets) == 0 {
		return nil
	}
	_, err := b.find(ctx, l)
	return err
}

// Numbered returns what is known after Finish.
func (l *Numbers) Numbered() comment.Numbered { return l.numbered }

// count notes what follows from the number of comments in the list.
func (l *Numbers) count() {
	slice := l.wanted.Slice
	l.numbered.Counted, l.numbered.Total = true, l.Counts.Total()
	l.numbered.Pages = comment.Pages(l.numbered.Total, slice.Size)
	if l.wanted.Numbering.Number || l.wanted.Numbering.Links || slice.Page > 0 {
		l.numbered.Page = l.page()
	}
	for page := range l.numbered.Starts {
		if page > l.numbered.Pages {
			delete(l.numbered.Starts, page) // there is no such page: what was found is the end of the list
		}
	}
}

// pageAtOnce returns the number of the page if it is known without asking, else 0.
func (l *Numbers) pageAtOnce() int {
	switch slice := l.wanted.Slice; {
	case slice.Page > 0:
		return slice.Page
	case slice.After == nil && !slice.FromEnd && slice.Size > 0:
		return 1
	}
	return 0
}

// page returns the number of the page, 0 if pages have no comments. A page that was reached by
// cursor may begin in the middle of a numbered one, because comments came and went since. It has
// the number of the page whose beginning is closest.
func (l *Numbers) page() int {
	slice := l.wanted.Slice
	if page := l.pageAtOnce(); page > 0 || slice.Size == 0 {
		return page
	}
	first := l.after
	if slice.FromEnd {
		end := l.numbered.Total
		if slice.Before != nil {
			end = l.before
		}
		first = max(first, end-slice.Size)
	}
	page := (first+slice.Size/2)/slice.Size + 1
	if first < l.numbered.Total {
		page = min(page, l.numbered.Pages) // what is left of the last page may be close to one that is not there
	}
	return page
}

// likely returns the pages to ask for before the number of pages is known.
func (l *Numbers) likely(page int) []int {
	around := l.wanted.Numbering.Around
	if total := l.wanted.Total; total > 0 {
		return comment.LinkedPages(page, comment.Pages(total, l.wanted.Slice.Size), around)
	}
	linked := comment.LinkedPages(page, page+around+2, around)
	return linked[:len(linked)-1] // all but the last, which is made up
}

// askCursors asks for the ranks of the cursors of a page that was reached by them.
func (l *Numbers) askCursors(b *batch) {
	slice := l.wanted.Slice
	if l.pageAtOnce() > 0 {
		return
	}
	if slice.After != nil {
		b.add(Target{At: slice.After}, func(at Boundary) { l.after = at.Rank })
	}
	if slice.Before == nil || !slice.FromEnd {
		return
	}
	ahead := slice.Before.Previous()
	if l.wanted.List.Order.Descends() {
		ahead = slice.Before.Next()
	}
	b.add(Target{At: &ahead}, func(at Boundary) { l.before = at.Rank })
}

// askStarts asks where pages begin, unless that was asked already. A page that turns out to begin
// elsewhere is beyond the end of the list.
func (l *Numbers) askStarts(b *batch, pages []int) {
	for _, page := range pages {
		if l.asked[page] || page == 1 {
			continue
		}
		l.asked[page] = true
		rank := (page - 1) * l.wanted.Slice.Size
		b.add(Target{Rank: rank, Exact: true}, func(at Boundary) {
			if page == l.wanted.Slice.Page {
				l.Start = at
			}
			if at.Rank == rank && at.After != nil {
				l.numbered.Starts[page] = *at.After
			}
		})
	}
}

// batch is the targets of one call.
type batch struct {
	targets []Target
	take    []func(Boundary)
}

func (b *batch) add(target Target, take func(Boundary)) {
	b.targets, b.take = append(b.targets, target), append(b.take, take)
}

// find asks the index, and hands over what it found.
func (b *batch) find(ctx context.Context, l *Numbers) (Found, error) {
	found, err := l.index.Find(ctx, l.wanted.List, b.targets)
	if err != nil {
		return found, err
	}
	l.Cost.Calls += found.Cost.Calls
	l.Cost.Waves += found.Cost.Waves
	l.Cost.ReadUnits += found.Cost.ReadUnits
	for i, take := range b.take {
		take(found.Boundaries[i])
	}
	return found, nil
}
