package dynamo

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The newest comment with one of some ratings is usually on the first page of all comments. If it
// is not, trusted statistics have its position, and one read by id fetches it. So a Store remembers
// which newest comments were not on that page, to fetch them along with the statistics the next
// time.

// keepAnswer remembers statistics that were read for an answer.
func (m *memory) keepAnswer(product string, t lastAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Get(product)
	r.answer = t
	m.products.Add(product, r)
}

// reusable returns statistics of an earlier answer, and whether another answer may show them. They
// must be proven unchanged; or they must be young, and include this Store's last write and the last
// change that it knows of.
func (m *memory) reusable(t lastAnswer, product string) (lastAnswer, bool) {
	changed := m.changes.last(product)
	if t.Stats != nil && m.proof.unchanged(t.began, changed) {
		t.asOf = m.now() // no older than any watermark
		return t, true
	}
	young := ageOf(m.now(), t.asOf, t.began) <= m.maxAge && t.asOf.After(m.writes.last(product).Add(clockMargin))
	return t, t.Stats != nil && young && t.began.After(changed)
}

// Newest returns the id of a product's newest comment with one of some ratings; empty if there is
// none. The ratings must be normalized. known is false unless trusted statistics have the answer.
// The comment may have changed since: fetch it and check. Call Newest only after the newest
// comments of the product were read and none has such a rating; among is how many were read.
func (s *Store) Newest(product string, ratings []int, among int) (id comment.ID, known bool) {
	position, known := s.memory.newest(product, ratings, among)
	if !known || position == (comment.Position{}) {
		return "", known
	}
	return comment.IDOf(position), true
}

// newest returns the position of the newest comment with one of some ratings, the zero Position if
// there is none. It remembers that this comment is not one of the newest comments of the product;
// among is how many of those were read.
func (m *memory) newest(product string, ratings []int, among int) (position comment.Position, known bool) {
	if m == nil {
		return position, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Get(product)
	now := r.knowledge(m.now(), m.maxAge, m.writes.last(product))
	if t, may := m.reusable(r.answer, product); may {
		now.Stats, now.Newest, now.Trusted = t.Stats, t.Newest, true
	}
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
	one := apart{ratings: ratingBits(ratings), position: bound.Position, among: among}
	others := slices.DeleteFunc(slices.Clone(r.apart), func(old apart) bool { return old.ratings == one.ratings })
	r.apart = append(others[max(0, len(others)-apartKept+1):], one)
	m.products.Add(product, r)
	return bound.Position, true
}

// likely returns the ids of wanted comments that were not among the newest of their product the
// last time, and so probably have to be fetched again. It returns each id once: a comment whose
// rating was edited may be the newest known one of both ratings.
func (m *memory) likely(products []string, want comment.Latest) (ids []comment.ID) {
	for _, product := range products {
		r, _ := m.products.Peek(product)
		newest := r.newest
		if r.answer.Stats != nil && !r.answer.asOf.Before(r.asOf) {
			newest = r.answer.Newest
		}
		if newest == nil {
			continue
		}
		for _, ratings := range want.Ratings {
			bits, position := ratingBits(ratings), newest.Rated(ratings).Position
			wasApart := slices.ContainsFunc(r.apart, func(a apart) bool {
				return a.ratings == bits && a.position == position && a.among >= want.Among
			})
			if id := comment.IDOf(position); wasApart && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// StatsAndLatest returns statistics, and remembers them for Newest. It does not read recent ones
// again. upTo is a time up to which all changes are counted, zero if unknown. In the same call it
// fetches comments that the caller is likely to want next.
func (s *Store) StatsAndLatest(ctx context.Context, products []string, upTo time.Time, want comment.Latest) (out comment.StatsAndLatest, err error) {
	if out.AsOf = s.memory.trusting(upTo); out.AsOf.IsZero() {
		out.Found, out.Failed, err = s.StatsOf(ctx, products)
		return out, err
	}
	upTo, out.Found = out.AsOf, make(map[string]comment.Stats, len(products))
	ids := s.memory.likely(products, want)
	products = slices.DeleteFunc(slices.Clone(products), func(product string) bool {
		r, _ := s.memory.products.Get(product)
		t, may := s.memory.reusable(r.answer, product)
		if may {
			out.Found[product] = t.Stats
			out.AsOf = earlier(out.AsOf, t.asOf)
		}
		return may
	})
	ids, kept := s.named.find(ids, want.WithoutText)
	out.Comments = kept
	products, failed, leave := s.batches.enterBatch(products)
	defer leave()
	out.Failed = failed
	ids = ids[:min(len(ids), idsAtOnce, call.MaxKeysPerGet-len(products))]
	if len(products)+len(ids) == 0 {
		return out, nil
	}
	began := s.now()
	read, err := s.StatsBeside(ctx, products, ids, layout.TableProjection(!want.WithoutText))
	if err != nil {
		return comment.StatsAndLatest{}, err
	}
	for _, product := range products {
		if read.Failed[product] != nil {
			continue
		}
		snapshot, any := read.Found[product]
		if any {
			out.Found[product] = snapshot.Stats
		} else {
			snapshot.Stats = comment.Stats{}
		}
		s.memory.keepAnswer(product, lastAnswer{snapshot, upTo, began})
	}
	maps.Copy(out.Failed, read.Failed)
	fetched := s.besides(ctx, ids, read.Comments, read.Left, want.WithoutText)
	s.named.keep(fetched, want.WithoutText, began)
	maps.Copy(out.Comments, fetched)
	return out, nil
}

// LatestByID fetches comments by ids from Newest, at most MaxKeysPerGet. Its reads are eventually
// consistent, as those of lists are. The result lacks comments that are in no list or that cannot
// be read.
func (s *Store) LatestByID(ctx context.Context, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, error) {
	ids, fetched := s.named.find(ids, withoutText)
	if len(ids) > 0 {
		began := s.now()
		read, err := s.StatsBeside(ctx, nil, ids, layout.TableProjection(!withoutText))
		if err != nil {
			return nil, err
		}
		more := s.besides(ctx, ids, read.Comments, read.Left, withoutText)
		s.named.keep(more, withoutText, began)
		maps.Copy(fetched, more)
	}
	found := make(map[comment.ID]comment.Comment, len(fetched))
	for id, c := range fetched {
		if c != nil {
			found[id] = *c
		}
	}
	return found, nil
}

// StatsOf fetches statistics as [counts.Reader.StatsOf] does, eventually consistently. Products
// that are in too many batches at the moment fail with an Overloaded error.
func (s *Store) StatsOf(ctx context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	return s.statsInBatches(ctx, products, false)
}

// CurrentStatsOf does the same with consistent reads. It is for subscribers: if they got statistics
// without the latest change, nothing would correct these until the next change.
func (s *Store) CurrentStatsOf(ctx context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	return s.statsInBatches(ctx, products, true)
}

// statsInBatches reads the statistics of products that are not in too many batches.
func (s *Store) statsInBatches(ctx context.Context, products []string, consistent bool) (found map[string]comment.Stats, failed map[string]error, err error) {
	products, refused, leave := s.batches.enterBatch(products)
	defer leave()
	if len(products) == 0 {
		return nil, refused, nil
	}
	found, failed, err = s.Reader.StatsOf(ctx, products, consistent)
	if err == nil {
		maps.Copy(failed, refused)
	}
	return found, failed, err
}

// besides decodes comments that were fetched by id. Its map lacks the ids in left and those of
// malformed items. A comment that is deleted or in no list is nil. The others have only the fields
// that everyone may see.
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
		c.Moderation = nil // these are shown to everyone, as lists are
		out[id] = &c
	}
	for _, id := range left {
		delete(out, id)
	}
	return out
}

// trusting returns upTo if statistics that are read from now on can be trusted up to it. It returns
// zero if upTo is zero or too old, or comes from a clock that is too far ahead.
func (m *memory) trusting(upTo time.Time) time.Time {
	if m == nil || m.maxAge == 0 || upTo.IsZero() {
		return time.Time{}
	}
	now := m.now()
	if age := now.Sub(upTo); age > m.maxAge || age < -clockMargin {
		return time.Time{}
	}
	return earlier(upTo, now) // upTo is by another server's clock
}
