package dynamo

import (
	"context"
	"maps"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The newest comment with one of some ratings is usually among the newest of all, and then a page
// of these has it. If not, statistics that are trusted say where it is, and one read by its id
// fetches it. So a Store remembers which newest comments no page showed, to fetch them along with
// the statistics the next time.

// Newest returns the id of the newest comment of a product with one of some ratings; no id if there
// is none. The ratings must be normalized. known is false if no statistics are trusted to say so.
// The comment may have been changed since: fetch it and look. among is how many of the newest
// comments of the product the caller has seen, none of which has such a rating.
func (s *Store) Newest(product string, ratings []int, among int) (id comment.ID, known bool) {
	position, known := s.memory.newest(product, ratings, among)
	if !known || position == (comment.Position{}) {
		return "", known
	}
	return comment.IDOf(position), true
}

// newest returns the position of the newest comment with one of some ratings, the zero Position if
// there is none. It remembers that this comment is not among the newest n of the product; among is
// n.
func (m *memory) newest(product string, ratings []int, among int) (position comment.Position, known bool) {
	if m == nil {
		return position, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Get(product)
	now := r.knowledge(m.now(), m.maxAge, m.writes.last(product))
	switch {
	case !now.Trusted:
		return position, false
	case now.Stats.Counts(comment.Filter{Ratings: ratings}).Total() == 0:
		return position, true
	case now.Newest == nil:
		return position, false
	}
	bound := now.Newest.Rated(ratings)
	if !bound.Exact {
		return position, false
	}
	r.apart = r.apart.with(apart{ratings: ratingBits(ratings), position: bound.Position, among: among})
	m.products.Add(product, r)
	return bound.Position, true
}

// likely returns the ids of comments that were not among the newest of all when they were last
// asked for, of those that are wanted now.
func (m *memory) likely(products []string, want comment.Latest) (ids []comment.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, product := range products {
		r, _ := m.products.Peek(product)
		for _, ratings := range want.Ratings {
			if r.newest == nil {
				continue
			}
			if position := r.newest.Rated(ratings).Position; r.apart.has(ratingBits(ratings), position, want.Among) {
				ids = append(ids, comment.IDOf(position))
			}
		}
	}
	return ids
}

// StatsAndLatest fetches statistics as StatsOf does, which Newest relies on from then on. upTo is a
// time up to which all changes are counted, zero if that is unknown. In the same call it fetches
// comments that the caller is likely to want next: an id in comments has nil if there is no such
// comment.
func (s *Store) StatsAndLatest(ctx context.Context, products []string, upTo time.Time, want comment.Latest) (
	found map[string]comment.Stats, comments map[comment.ID]*comment.Comment, failed map[string]error, err error,
) {
	if upTo = s.memory.trusting(upTo); upTo.IsZero() {
		found, failed, err = s.StatsOf(ctx, products)
		return found, nil, failed, err
	}
	products, failed = s.batches.enter(products)
	defer s.batches.leave(products)
	if len(products) == 0 {
		return nil, nil, failed, nil
	}
	ids := s.memory.likely(products, want)
	ids = ids[:min(len(ids), idsAtOnce, call.MaxKeysPerGet-len(products))]
	heard := make([]uint64, len(products))
	for i, product := range products {
		heard[i] = s.memory.heard.number(product)
	}
	read, err := s.StatsBeside(ctx, products, ids, layout.TableProjection(!want.WithoutText))
	if err != nil {
		return nil, nil, nil, err
	}
	found = make(map[string]comment.Stats, len(read.Found))
	for i, product := range products {
		if read.Failed[product] != nil {
			continue
		}
		snapshot, any := read.Found[product]
		if any {
			found[product] = snapshot.Stats
		} else {
			snapshot.Stats = comment.Stats{}
		}
		s.memory.learn(product, snapshot, upTo, heard[i])
	}
	maps.Copy(failed, read.Failed)
	return found, s.besides(ctx, ids, read.Comments, read.Left, want.WithoutText), failed, nil
}

// StatsOf fetches statistics as [counts.Reader.StatsOf] does, except those of products that are in
// too many batches at the moment: these fail with an Overloaded error.
func (s *Store) StatsOf(ctx context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	products, refused := s.batches.enter(products)
	defer s.batches.leave(products)
	if len(products) == 0 {
		return nil, refused, nil
	}
	found, failed, err = s.Reader.StatsOf(ctx, products)
	if err == nil {
		maps.Copy(failed, refused)
	}
	return found, failed, err
}

// besides decodes comments that were fetched by their ids. Those that the table left out, and those
// that cannot be read, are missing. One that is in no list is as good as deleted.
func (s *Store) besides(ctx context.Context, ids []comment.ID, items []layout.Item, left []comment.ID, withoutText bool) map[comment.ID]*comment.Comment {
	out := make(map[comment.ID]*comment.Comment, len(ids))
	for _, id := range ids {
		out[id] = nil
	}
	for _, it := range items {
		if layout.NoComment(it) {
			continue
		}
		id := layout.IDOfKey(it)
		c, err := heldComment(ctx, it, !withoutText)
		if err != nil {
			left = append(left, id)
			continue
		}
		if c.Status != comment.Approved {
			continue
		}
		out[id] = &c
	}
	for _, id := range left {
		delete(out, id)
	}
	return out
}

// trusting returns a time up to which all changes are counted, as far as it can be trusted for
// statistics that are read from now on: zero if it is unknown or too old, or by a clock that is too
// far ahead.
func (m *memory) trusting(upTo time.Time) time.Time {
	if m == nil || m.maxAge == 0 || upTo.IsZero() {
		return time.Time{}
	}
	now := m.now()
	if age := now.Sub(upTo); age > m.maxAge || age < -clockMargin {
		return time.Time{}
	}
	return notAhead(upTo, now)
}
