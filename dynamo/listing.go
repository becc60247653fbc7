package dynamo

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// listing reads one page of a list: it plans, executes, cuts the comments to the page, and probes
// for more beyond its ends.
type listing struct {
	source
	stretch planner.Stretch
	size    int  // how many comments the page shows at most
	fromEnd bool // whether the page is read backwards
	joined  bool // whether the other half of the page, which has comments, precedes the start
	skipped int  // how many comments were read before the page

	execution execution
	page      sharedPage
}

// pageCure is the advice in the error of a page that reached its cost bound.
const pageCure = "these comments are large: ask for a smaller page, or for fewer languages and ratings"

// traitCure is that advice for a list with conditions on traits, which no partition holds alone. It
// names each of these conditions.
const traitCure = "few comments match verified and withMedia: ask for a smaller page, or leave one of them out; an index of page numbers that is up to date would find them"

// begin prepares to read the page of the query.
func (l *listing) begin(known planner.Knowledge) {
	s, q := l.store, l.query
	l.size, l.fromEnd = q.Slice.Size, q.Slice.FromEnd
	cure := pageCure
	if q.Filter.MayMatchFew() {
		cure = traitCure
	}
	l.meter = layout.NewMeter(planner.PageEstimate(q), cure)
	if q.SettledOnly { // comments that are too young are left out
		if end := s.now().Add(-comment.SettleTime); q.Filter.CreatedBefore == nil || end.Before(*q.Filter.CreatedBefore) {
			q.Filter.CreatedBefore = &end
		}
	}
	l.planner.Product, l.planner.Filter, l.planner.Known = q.Product, q.Filter, known
	l.stretch = planner.StretchOf(q)
	mayBeFew := q.Filter.MayMatchFew() || q.Order == comment.MostHelpful // in that order, those without votes
	if s.options.PageNumbers != nil && mayBeFew && q.Filter.OfCells() && (known.Trusted || !q.SettledOnly) {
		l.planner.Ranks = s.lookupPrices.ranks() // SettledOnly must miss nothing, even while counting is late
	}
}

// moveTo selects a slice other than the query's, less its first skip comments.
func (l *listing) moveTo(slice comment.Slice, skip int) {
	q := comment.Query{Product: l.query.Product, Filter: l.planner.Filter, Order: l.query.Order, Slice: slice}
	l.stretch = planner.StretchOf(q).Skipping(skip)
	l.size, l.fromEnd = slice.Size, slice.FromEnd
}

// read reads the page: it takes comments in the direction of reading and cuts them to the page. It
// probes at each end where these comments leave open whether there are more.
func (l *listing) read(ctx context.Context) error {
	taken, all, ended, err := l.skipApart(ctx)
	size := 0
	if err == nil && !ended {
		size = l.size
		want := l.stretch.Want(size)
		if l.query.WithoutNeighbours { // so no comment beyond the page is needed
			want = max(0, want-1)
		}
		page := l.reading(l.stretch, planner.Request{
			Purpose: comment.ReadPage, Want: want, Skip: l.stretch.Skip(), WithoutText: l.query.WithoutText,
		}, attemptFactor*planner.AttemptEstimate(l.query))
		l.execution.page = []*reading{page}
		if taken, err = page.take(ctx); err == nil {
			all = page.all
			l.skipped += min(l.stretch.Skip(), len(taken))
			l.learn(page, taken)
		}
	}
	if err != nil {
		return call.Wrap(err, "comments of product %q", l.query.Product)
	}
	shown, around := l.stretch.Cut(taken, size, all)
	if l.joined {
		around.Behind = planner.Yes
	}
	if around.Behind == planner.Unknown || around.Ahead == planner.Unknown {
		if around, err = l.probe(ctx, around); err != nil {
			return call.Wrap(err, "neighbours of a page of product %q", l.query.Product)
		}
	}
	dropTexts(ctx, taken, shown)
	l.page = sharedPage{comments: shown}
	l.page.HasNext, l.page.HasPrevious = around.Ahead == planner.Yes, around.Behind == planner.Yes
	if l.fromEnd {
		slices.Reverse(shown)
		l.page.HasNext, l.page.HasPrevious = l.page.HasPrevious, l.page.HasNext
	}
	return nil
}

// skipApart reads the comments before the page without their texts if that costs less, and moves
// the stretch behind them. ended reports that the list ends before the page. Then past has the
// comments that were read, and all reports whether they are the whole list.
func (l *listing) skipApart(ctx context.Context) (past []layout.Compressed, all, ended bool, err error) {
	if !planner.SkipApart(l.stretch.Skip(), l.planner.Known.Sizes) {
		return nil, false, false, nil
	}
	skip := l.reading(l.stretch, planner.Request{
		Purpose: comment.ReadSkip, Want: l.stretch.WantSkipped(), Skip: l.stretch.WantSkipped(), WithoutText: true,
	}, planner.SkipUnits(l.query)/2)
	l.execution.skip = []*reading{skip}
	if past, err = skip.take(ctx); err != nil {
		return nil, false, false, err
	}
	l.store.malformed.Report(skip.improper()...)
	l.skipped = min(l.stretch.Skip(), len(past))
	behind, found := l.stretch.LastSkipped(past)
	if !found {
		return past, skip.all, true, nil
	}
	l.stretch = l.stretch.From(behind)
	return nil, false, false, nil
}

// learn remembers what the page held and the sizes of its comments, and reports its malformed
// items.
func (l *listing) learn(page *reading, taken []layout.Compressed) {
	l.store.malformed.Report(page.improper()...)
	for _, r := range page.runs() {
		l.store.sizes.learn(l.query.Product, r.sizes())
	}
	if r := page.only(); r != nil && len(taken) > 0 && l.key.remembers() {
		l.store.recent.learn(l.key, r.held(taken), r.fromNewest(), taken)
	}
}

// probe looks for one comment beyond each end of the page where it is unknown whether there are
// more.
func (l *listing) probe(ctx context.Context, around planner.Neighbours) (planner.Neighbours, error) {
	var stretches []planner.Stretch
	var answers []*planner.Answer
	if around.Behind == planner.Unknown {
		stretches, answers = append(stretches, l.stretch.Behind()), append(answers, &around.Behind)
	}
	if around.Ahead == planner.Unknown {
		stretches, answers = append(stretches, l.stretch.Ahead()), append(answers, &around.Ahead)
	}
	l.execution.probes = make([]*reading, len(stretches))
	for i, stretch := range stretches {
		request := planner.Request{Purpose: comment.ReadProbe, Want: 1, WithoutText: true}
		l.execution.probes[i] = l.reading(stretch, request, planner.ListUnits(l.query, 1))
	}
	err := call.Parallel(ctx, len(stretches), func(ctx context.Context, i int) error {
		found, err := l.execution.probes[i].take(ctx)
		*answers[i] = planner.AnswerOf(len(found) > 0)
		return err
	})
	return around, err
}

// attemptFactor bounds what the attempts of a page may cost, as a multiple of its estimate.
const attemptFactor = 2
