package dynamo

import (
	"context"
	"log/slog"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/dynamo/prior"
)

// UsePrior plans pages of products of which nothing is known by a prior that is fixed, instead of
// the one that the Store learns. Call it before the first query.
func (s *Store) UsePrior(fixed *planner.Prior) { s.prior = func() *planner.Prior { return fixed } }

// KeepPrior runs the work. Beside it, it loads what earlier processes learnt of the table's
// products, and saves what this Store learns, at most once in some minutes and at the end of the
// work. It fails nothing: what keeps it from reading or writing is logged once.
func (s *Store) KeepPrior(ctx context.Context, log *slog.Logger, work func(context.Context) error) error {
	return s.keeper(log).Beside(ctx, work)
}

// LoadPrior loads what KeepPrior loads, and returns once plans are made by it. It saves nothing: it
// is for measuring what a process that was just started knows.
func (s *Store) LoadPrior(ctx context.Context, log *slog.Logger) error {
	return s.keeper(log).Load(ctx)
}

func (s *Store) keeper(log *slog.Logger) *prior.Keeper {
	return &prior.Keeper{Client: call.For(s.client, call.ForPlanKnowledge), Table: s.table, Learner: s.learner, Logger: log}
}

// LearnOf has a Counter teach the Store, as LearnFrom says.
func (s *Store) LearnOf(counter *counts.Counter) { LearnFrom(s.learner, counter) }

// LearnFrom has a Counter tell a Learner which products are large, of all that it counts, and how large
// their comments are. It must be called before the Counter is used.
func LearnFrom(learner *prior.Learner, counter *counts.Counter) {
	counter.OnCounted(learner.Counted)
	counter.OnHandled(func(changes []counts.Change) { learnSizes(learner, changes) })
}

// learnSizes has a Learner learn how large comments are from changes that were counted.
func learnSizes(learner *prior.Learner, changes []counts.Change) {
	seen := map[string]*measured{}
	for _, change := range changes {
		if change.After == nil {
			continue
		}
		if seen[change.Product] == nil {
			seen[change.Product] = new(measured)
		}
		seen[change.Product].add(change.After.Rating, change.Bytes)
	}
	for product, sizes := range seen {
		learner.See(product, prior.Seen{Sizes: sizes.forPrior()})
	}
}

// LearnOfAll has a Rebuilder tell the Store the counts of all products. It must be called before the
// Rebuilder runs.
func (s *Store) LearnOfAll(rebuilder *counts.Rebuilder) { rebuilder.OnRight(s.learner.Count) }

// Leaders is Reader.Leaders. The Store remembers which products are large.
func (s *Store) Leaders(ctx context.Context, language comment.Language, first int) ([]comment.Leader, error) {
	leaders, err := s.Reader.Leaders(ctx, language, first)
	if language == "" {
		for _, leader := range leaders {
			s.learner.Lead(leader.Product, leader.Count)
		}
	}
	return leaders, err
}

// learn learns from what the runs for a page showed of its product: how many comments it has, how
// large they are, and of which kinds those are that were taken.
func (s *Store) learn(q comment.Query, runs []*run, sizes measured, taken []layout.Compressed) {
	seen := prior.Seen{Sizes: sizes.forPrior()}
	for _, r := range runs {
		if count, ended := r.countAtLeast(); count > seen.Count || ended {
			seen.Count, seen.Ended = count, ended
		}
	}
	if len(q.Filter.Ratings) == 0 {
		for i := range taken {
			if rating := taken[i].Rating; comment.CheckRating(rating) == nil { // someone may have edited it by hand
				seen.Ratings[rating-1]++
			}
		}
	}
	if len(q.Filter.Languages) == 0 && s.learner.NeedsLanguages(q.Product, len(taken)) {
		seen.Languages = map[comment.Language]int{}
		for i := range taken {
			seen.Languages[taken[i].Language]++
		}
	}
	s.learner.See(q.Product, seen)
}

// countAtLeast is how many comments the product has at least by what a run scanned, and whether it
// has no more. It is 0 for a run that did not read the whole product from one end.
func (r *run) countAtLeast() (count int, ended bool) {
	if r.plan.Low != (comment.Position{}) || r.plan.High != comment.MaxPosition {
		return 0, false
	}
	for i, read := range r.plan.Reads {
		if state := r.reads[i]; read.Index == layout.All && state.queries > 0 {
			return state.scanned, len(state.start) == 0
		}
	}
	return 0, false
}

// forPrior are the sizes as package prior takes them.
func (m measured) forPrior() (out prior.Sizes) {
	for i, one := range m {
		out[i] = prior.Size{Count: one.count, Sum: one.sum, Squares: one.squares}
	}
	return out
}
