package workload

import (
	"context"
	"math/rand/v2"
	"time"
)

// reader reads, one operation after the other, and checks each answer against the model.
type reader struct {
	*Workload
	random *rand.Rand
}

// read makes one read.
func (r *reader) read(ctx context.Context) {
	switch r.random.IntN(6) {
	case 0, 1:
		_, _ = r.walk(ctx, r.list(), 1+r.random.IntN(12), 3) // an error is in the tally
	case 2:
		r.byNumber(ctx)
	case 3:
		r.counts(ctx)
	case 4:
		r.leaders(ctx)
	case 5:
		r.byID(ctx)
	}
}

// list draws a list.
func (r *reader) list() list {
	l := list{product: r.products[r.random.IntN(len(r.products))], oldest: r.random.IntN(2) == 0}
	for rating := 1; rating <= 5; rating++ {
		if r.random.IntN(3) == 0 {
			l.ratings = append(l.ratings, rating)
		}
	}
	for _, language := range languages {
		if r.random.IntN(4) == 0 {
			l.languages = append(l.languages, language)
		}
	}
	return l
}

// walk reads some pages of a list by cursor, checks them, and returns their comments.
func (w *Workload) walk(ctx context.Context, l list, size, pages int) (got []shown, err error) {
	variables, after := l.variables(size), ""
	for range pages {
		p, at, err := w.page(ctx, byCursor, variables)
		if err != nil {
			return nil, err
		}
		w.locked(func() { w.checkPage(view{list: l, page: p, at: at, after: after, first: after == ""}) })
		for _, e := range p.Edges {
			got = append(got, e.Node)
			after = e.Node.ID
		}
		if !p.PageInfo.HasNextPage {
			break
		}
		variables["after"] = p.PageInfo.EndCursor
	}
	return got, nil
}

// byNumber reads a page by its number.
func (r *reader) byNumber(ctx context.Context) {
	l, size, number := r.list(), 1+r.random.IntN(12), 1+r.random.IntN(40)
	variables := l.variables(size)
	variables["page"] = number
	p, at, err := r.page(ctx, byPage, variables)
	if err != nil {
		return
	}
	r.locked(func() {
		v := view{list: l, page: p, at: at, first: number == 1}
		r.checkPage(v)
		r.checkRank(v, (number-1)*size)
	})
}

// counts reads how many comments a list has.
func (r *reader) counts(ctx context.Context) {
	l := r.list()
	p, at, err := r.page(ctx, countList, l.variables(0))
	if err == nil {
		r.locked(func() { r.checkCounts(l, p, at) })
	}
}

// leaders reads a leaderboard.
func (r *reader) leaders(ctx context.Context) {
	language := ""
	if r.random.IntN(2) == 0 {
		language = languages[r.random.IntN(len(languages))]
	}
	asOf := time.Time{}
	r.locked(func() { asOf = r.asOf }) // before the request: the answer is at least as new
	leaders, at, err := r.leaderboard(ctx, language)
	if err == nil {
		r.locked(func() { r.checkLeaders(language, leaders, asOf, at) })
	}
}

// byID reads one comment.
func (r *reader) byID(ctx context.Context) {
	var s *story
	id := ""
	r.locked(func() {
		if n := len(r.model.stories); n > 0 {
			s = r.model.stories[r.random.IntN(n)]
			id = s.id
		}
	})
	if id == "" {
		return
	}
	var data struct{ Comment *shown }
	at, err := r.ask(ctx, commentByID, map[string]any{"id": id}, &data)
	if err == nil {
		r.locked(func() { r.checkOne(s, data.Comment, at) })
	}
}
