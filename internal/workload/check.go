package workload

import (
	"slices"
	"strings"
	"time"
)

const (
	// recent is how long an edit that moves a comment between partitions may hide it: beyond, the
	// indexes have it, whatever is remembered. A server remembers the moves of 10 seconds.
	recent = 12 * time.Second
	// remembered is how many such moves a page can take into account.
	remembered = 25
	// indexLag is how far the index of page numbers may be behind while it answers.
	indexLag = 40 * time.Second
)

// view is a page as a reader got it.
type view struct {
	list
	page
	at    answered
	after string // the id before the first edge; empty if that is unknown or the list begins there
	first bool   // whether the page is known to begin where the list begins
}

// checkPage checks that a page is a stretch of its list: in order, without gaps, and without
// comments that are gone or do not belong there. The caller holds the lock.
func (w *Workload) checkPage(v view) {
	last := v.after
	for i, e := range v.Edges {
		w.checkShown(v, e.Node)
		if (i > 0 || v.after != "") && !v.before(last, e.Node.ID) {
			w.violate("%s: %s comes after %s", v.list, e.Node.ID, last)
		}
		last = e.Node.ID
	}
	w.checkGaps(v, last)
}

// checkShown checks a comment that a list shows.
func (w *Workload) checkShown(v view, got shown) {
	s := w.model.byText[got.Text]
	if s == nil {
		w.violate("%s shows what nobody wrote: %+v", v.list, got)
		return
	}
	if s.id != "" && s.id != got.ID {
		w.violate("%s shows %+v a second time: %s", v.list, got, s)
		return
	}
	if !s.may(got, w.since(s, v.at.sent), v.at.came) {
		w.violate("%s, asked at %s and answered at %s, shows %+v: %s", v.list, clock(v.at.sent), clock(v.at.came), got, s)
	}
	if !v.allows(got.content()) {
		w.violate("%s shows %+v", v.list, got)
	}
	s.seen(got.ID, got.Text)
}

// since returns the earliest time whose state of a comment a list may still show, if it is read at
// the time asked.
func (w *Workload) since(s *story, asked time.Time) time.Time {
	if w.Servers || asked.Before(s.settled) {
		return asked.Add(-lateness)
	}
	return asked
}

// may reports whether an answer may show a comment as it does.
func (s *story) may(got shown, from, to time.Time) bool {
	return slices.ContainsFunc(s.between(from, to), func(state state) bool {
		return state.content != nil && *state.content == *got.content()
	})
}

// checkGaps checks that a page lacks no comment that existed all the time, and that it knows
// whether others come before and after it.
func (w *Workload) checkGaps(v view, last string) {
	shows := map[string]bool{}
	for _, e := range v.Edges {
		shows[e.Node.ID] = true
	}
	begins := v.after
	if begins == "" && !v.first && len(v.Edges) > 0 {
		begins = v.Edges[0].Node.ID
	}
	moved := w.model.moved(v.product, v.at.sent)
	follows := false
	for _, s := range w.model.stories {
		if slices.ContainsFunc(s.between(w.since(s, v.at.sent), v.at.came), func(s state) bool { return v.allows(s.content) }) {
			follows = follows || s.id == "" || last == "" || v.before(last, s.id)
		}
		if s.id == "" || shows[s.id] || !w.mustShow(v, s, moved) {
			continue
		}
		behind := last != "" && v.before(last, s.id)
		ahead := begins != "" && !v.before(begins, s.id)
		if !ahead && (!behind || !v.PageInfo.HasNextPage) && (len(v.Edges) > 0 || v.first || v.after != "") {
			w.violate("%s after %q, asked at %s and answered at %s, lacks a comment; it ends with %q, more follow: %v: %s",
				v.list, v.after, clock(v.at.sent), clock(v.at.came), last, v.PageInfo.HasNextPage, s)
		}
	}
	if v.PageInfo.HasNextPage && !follows {
		w.violate("%s says that more follow behind %q, and there is nothing", v.list, last)
	}
}

// mustShow reports whether a list must show a comment, whenever in its interval it was read.
func (w *Workload) mustShow(v view, s *story, moved int) bool {
	states := s.between(w.since(s, v.at.sent), v.at.came)
	if len(states) == 0 || slices.ContainsFunc(states, func(s state) bool { return !v.allows(s.content) }) {
		return false
	}
	return !s.moves(v.at.sent.Add(-recent), v.at.came) || moved <= remembered && !w.Servers && s.certain()
}

// moves reports whether a comment may have moved to another partition.
func (s *story) moves(from, to time.Time) bool {
	states := s.between(from, to)
	for _, other := range states {
		if a, b := states[0].content, other.content; a != nil && b != nil && (a.rating != b.rating || a.language != b.language) {
			return true
		}
	}
	return false
}

// moved returns how many comments of a product moved to another partition lately.
func (m *model) moved(product string, now time.Time) (count int) {
	for _, s := range m.stories {
		if c := s.states[len(s.states)-1].content; c != nil && c.product == product && s.moves(now.Add(-recent), now) {
			count++
		}
	}
	return count
}

// checkRank checks that a page begins at a rank that its list had recently: the index of page
// numbers may lag by indexLag. A page read from an old boundary is shifted by as many comments as
// came or went behind the boundary since.
func (w *Workload) checkRank(v view, rank int) {
	ahead := func(*story) bool { return true }
	if len(v.Edges) > 0 {
		begins := v.Edges[0].Node.ID
		ahead = func(s *story) bool { return s.id == "" || v.before(s.id, begins) }
	}
	from := v.at.sent.Add(-indexLag)
	least, most := w.model.bounds(v.list, from, v.at.came, ahead)
	fewest, all := w.model.bounds(v.list, from, v.at.came, func(s *story) bool { return !ahead(s) })
	shift := all - fewest
	if least > rank+shift || len(v.Edges) > 0 && most < rank-shift {
		w.violate("%s: a page at rank %d has %d to %d comments before it, and %d on it", v.list, rank, least, most, len(v.Edges))
	}
}

// checkCounts checks the counts of a list.
func (w *Workload) checkCounts(l list, got page, at answered) {
	from := time.Time{}
	if got.Stats.AsOf != nil {
		from = *got.Stats.AsOf
		if from.After(w.asOf) {
			w.asOf = from
		}
	}
	any := func(*story) bool { return true }
	if least, most := w.model.bounds(l, from, at.came, any); got.TotalCount < least || got.TotalCount > most {
		w.violate("%s as of %s, answered at %s, has %d to %d comments; totalCount says %d\n%s",
			l, clock(from), clock(at.came), least, most, got.TotalCount, w.model.doubts(l, from, at.came))
	}
	if got.Stats.Total != got.TotalCount {
		w.violate("%s has totalCount %d beside a total of %d", l, got.TotalCount, got.Stats.Total)
	}
	for _, row := range got.Stats.Ratings {
		cell := list{product: l.product, languages: l.languages, ratings: []int{row.Rating}}
		if len(l.ratings) > 0 && !slices.Contains(l.ratings, row.Rating) {
			cell.product = "" // no product, so no comments
		}
		if least, most := w.model.bounds(cell, from, at.came, any); row.Count < least || row.Count > most {
			w.violate("%s as of %s has %d to %d comments with %d stars, and %d are counted", l, clock(from), least, most, row.Rating, row.Count)
		}
	}
}

// doubts lists comments of a list whose state changed, or is uncertain, in an interval. It returns
// at most five.
func (m *model) doubts(l list, from, to time.Time) string {
	var out []string
	for _, s := range m.stories {
		if states := s.between(from, to); len(states) > 1 && slices.ContainsFunc(states, func(s state) bool { return l.allows(s.content) }) {
			out = append(out, s.String())
		}
	}
	return strings.Join(out[:min(len(out), 5)], "\n")
}

// checkLeaders checks a leaderboard as of a time. It ignores products of others.
func (w *Workload) checkLeaders(language string, got []leader, asOf time.Time, at answered) {
	listed := map[string]bool{}
	for i, entry := range got {
		if i > 0 && (entry.Count > got[i-1].Count || entry.Count == got[i-1].Count && entry.Product.ID <= got[i-1].Product.ID) {
			w.violate("the leaderboard of %q is out of order: %v", language, got)
		}
		if entry.Rank != i+1 {
			w.violate("the leaderboard of %q has rank %d at place %d", language, entry.Rank, i+1)
		}
		listed[entry.Product.ID] = true
		if slices.Contains(w.products, entry.Product.ID) {
			w.checkLeader(language, entry.Product.ID, entry.Count, asOf, at)
		}
	}
	for _, product := range w.products {
		if !listed[product] && len(got) < 100 {
			w.checkLeader(language, product, 0, asOf, at)
		}
	}
}

func (w *Workload) checkLeader(language, product string, count int, asOf time.Time, at answered) {
	least, most := w.model.bounds(best(product, language), asOf, at.came, func(*story) bool { return true })
	if count < least || count > most {
		w.violate("the leaderboard of %q has %s with %d, and as of %s it is %d to %d", language, product, count, clock(asOf), least, most)
	}
}

// checkOne checks a comment that was read by its id.
func (w *Workload) checkOne(s *story, got *shown, at answered) {
	states := s.between(at.sent, at.came)
	if got == nil {
		if !slices.ContainsFunc(states, func(s state) bool { return s.content == nil }) {
			w.violate("asked for by its id at %s, a comment is not there: %s", clock(at.sent), s)
		}
		return
	}
	if !s.may(*got, at.sent, at.came) {
		w.violate("asked for by its id at %s, a comment is %+v: %s", clock(at.sent), *got, s)
	}
}
