package command_test

import (
	"math/rand/v2"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// scribe writes at random and records the outcome in a model.
type scribe struct {
	*api
	random  *rand.Rand
	model   *commenttest.Model
	product string
}

// write makes one random mutation and checks its answer against the model.
func (s *scribe) write() {
	s.tb.Helper()
	there := s.model.All()
	if len(there) == 0 || s.random.IntN(5) < 2 {
		s.addOne()
		return
	}
	chosen := there[s.random.IntN(len(there))]
	if s.random.IntN(3) == 0 {
		s.deleteOne(chosen)
		return
	}
	s.editOne(chosen)
}

// fresh returns a random comment that can be written: it is not verified, and its pictures have
// nothing but addresses.
func (s *scribe) fresh() comment.Comment {
	c := commenttest.Random(s.random, s.product)
	for i := range c.Media {
		c.Media[i] = comment.Media{Path: strings.ToLower(c.Media[i].Path)}
	}
	c.Verified = false
	return c
}

// addresses returns the pictures of a comment as an input.
func (s *scribe) addresses(c comment.Comment) []any {
	out := []any{}
	for _, m := range c.Media {
		out = append(out, map[string]any{"url": string(s.serve.MediaBase) + m.Path})
	}
	return out
}

func (s *scribe) addOne() {
	s.tb.Helper()
	c := s.fresh()
	input := map[string]any{
		"productId": c.ProductID, "rating": c.Rating, "language": c.Language, "title": c.Title, "text": c.Text,
		"author": map[string]any{"id": c.Author.ID, "name": c.Author.Name}, "media": s.addresses(c),
	}
	if s.random.IntN(2) == 0 {
		input["idempotencyKey"] = c.ID
	}
	got := s.add(input)
	if got.codes() != "" {
		s.tb.Fatalf("add: %s", got.codes())
	}
	c.ID, c.Version, c.UpdatedAt = comment.ID(got.Comment.ID), 1, nil
	s.model.Insert(c)
	s.compare("add", c, got)
	if again := s.add(input); input["idempotencyKey"] != nil {
		s.compare("the same again", c, again)
	} else {
		c.ID = comment.ID(again.Comment.ID)
		s.model.Insert(c)
		s.compare("another of the same", c, again)
	}
}

// editOne changes some of the fields. Its version is usually the right one.
func (s *scribe) editOne(c comment.Comment) {
	s.tb.Helper()
	before, fresh := c, s.fresh()
	input := map[string]any{"id": c.ID, "version": c.Version}
	for name, change := range map[string]func() any{
		"rating":   func() any { c.Rating = fresh.Rating; return c.Rating },
		"language": func() any { c.Language = fresh.Language; return c.Language },
		"title":    func() any { c.Title = fresh.Title; return c.Title },
		"text":     func() any { c.Text = fresh.Text; return c.Text },
		"media":    func() any { c.Media = fresh.Media; return s.addresses(c) },

		"isVerifiedPurchase": func() any { c.Verified = !c.Verified; return c.Verified },
	} {
		if s.random.IntN(2) == 0 {
			input[name] = change()
		}
	}
	if s.random.IntN(5) == 0 {
		input["version"] = c.Version + s.random.IntN(2)*2 - 1
		if got := s.edit(input); got.codes() != "CONFLICT version" {
			s.tb.Fatalf("edit of another version: %s", got.codes())
		}
		return
	}
	got := s.edit(input)
	if c.SaysAs(before) {
		before.Verified = c.Verified // which keeps the version
		s.model.Replace(before)
		s.compare("edit that changes nothing, or whether it is verified", before, got)
		return
	}
	if got.codes() != "" || got.Comment.UpdatedAt == nil {
		s.tb.Fatalf("edit: %s", got.codes())
	}
	c.Version, c.UpdatedAt = c.Version+1, got.Comment.UpdatedAt
	s.model.Replace(c)
	s.compare("edit", c, got)
}

func (s *scribe) deleteOne(c comment.Comment) {
	s.tb.Helper()
	got := s.remove(map[string]any{"id": c.ID})
	s.model.Delete(c.ID)
	s.compare("delete", c, got)
	if twice := s.remove(map[string]any{"id": c.ID}); twice.codes() != "NOT_FOUND id" {
		s.tb.Fatalf("delete of what is gone: %s", twice.codes())
	}
}

// compare compares an answer with the expected comment.
func (s *scribe) compare(what string, want comment.Comment, got payload) {
	s.tb.Helper()
	if got.Comment == nil {
		s.tb.Fatalf("%s: %s", what, got.codes())
	}
	shown, expected := *got.Comment, showing(want)
	expected.CreatedAt = nil // not asked for
	if diff := cmp.Diff(expected, shown); diff != "" {
		s.tb.Fatalf("%s: %s", what, diff)
	}
}

// question returns a random list query for the product.
func (s *scribe) question() list {
	l := list{product: s.product, order: anyOrder(s.random), size: 1 + s.random.IntN(30)}
	l.filter.Ratings = ratingSets()[s.random.IntN(32)]
	sets := languageSets(s.random)
	l.filter.Languages = sets[s.random.IntN(len(sets))]
	l.filter.Verified, l.filter.WithMedia = anyTruth(s.random), anyTruth(s.random)
	if s.model == nil || s.random.IntN(3) > 0 {
		return l
	}
	if there := s.model.All(); len(there) > 0 { // a range that begins or ends at a comment
		end := new(there[s.random.IntN(len(there))].CreatedAt())
		if l.filter.CreatedAfter = end; s.random.IntN(2) == 0 {
			l.filter.CreatedAfter, l.filter.CreatedBefore = nil, end
		}
	}
	return l
}
