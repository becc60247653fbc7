package auth_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
)

// store has one comment, which others keep editing while it is being deleted.
type store struct {
	auth.Store
	kept   comment.Comment
	edits  int // edits that come before a delete succeeds
	reads  int
	writes int
}

func (s *store) Comment(context.Context, comment.ID) (comment.Comment, error) {
	s.reads++
	return s.kept, nil
}

func (s *store) Add(_ context.Context, c comment.Comment, _ string) (comment.Comment, error) {
	s.writes++
	return c, nil
}

func (s *store) HasApproved(context.Context, comment.Author) (bool, error) { return true, nil }

func (s *store) Replace(_ context.Context, _, after comment.Comment) error {
	s.writes++
	s.kept = after
	return nil
}

func (s *store) Delete(ctx context.Context, c comment.Comment) error {
	s.writes++
	if s.edits > 0 {
		s.edits--
		s.kept.Version++
	}
	if c.Version != s.kept.Version {
		return comment.Errorf(comment.Conflict, "changed")
	}
	return ctx.Err()
}

func (s *store) SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error {
	s.writes++
	if s.edits > 0 {
		s.edits--
		s.kept.Reply = &comment.Reply{Text: "by another", Name: "Shop", CreatedAt: written, Version: c.Reply.Version + 1}
	}
	if !cmp.Equal(c.Reply, s.kept.Reply) {
		return comment.Errorf(comment.Conflict, "changed")
	}
	s.kept.Reply = reply
	return ctx.Err()
}

func (s *store) Report(_ context.Context, _, after comment.Comment, _ comment.Report) error {
	s.writes++
	if s.edits > 0 {
		s.edits--
		return comment.Errorf(comment.Conflict, "changed")
	}
	s.kept = after
	return nil
}

var (
	everyone = sender{Open: true}
	draft    = comment.Draft{ProductID: "p", Rating: 4, Language: "en", Author: comment.Author{ID: "a", Name: "A"}}
)

var written = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newStore(edits int) *store {
	return &store{edits: edits, kept: comment.Comment{
		ID: comment.IDOf(comment.FirstAt(written)), ProductID: "p", Rating: 4, Language: "en",
		Author: comment.Author{ID: "a", Name: "A"}, Version: 1,
	}}
}

// The time of an edit is now, to the millisecond. It is never before the comment was written or
// last edited, even if this server's clock is behind.
func TestTimeOfEditNeverGoesBack(t *testing.T) {
	store := newStore(0)
	for _, row := range []struct{ now, want time.Duration }{
		{-time.Hour, 0},
		{time.Minute + 1500*time.Microsecond, time.Minute + time.Millisecond},
		{time.Second, time.Minute + time.Millisecond},
		{time.Hour, time.Hour},
	} {
		beginning(t, written.Add(row.now), func(t *testing.T) {
			w := auth.Service{Store: store, Authorizer: everyone}
			before, rating := store.kept.Version, 1+store.kept.Rating%comment.MaxRating
			after, problems, err := w.Edit(t.Context(), string(store.kept.ID), before, comment.Change{Rating: &rating})
			if err != nil || len(problems) > 0 || after.Version != before+1 || !after.UpdatedAt.Equal(written.Add(row.want)) {
				t.Errorf("edited at %s: %+v, %v, %v; want %s", row.now, after, problems, err, row.want)
			}
		})
	}
}

// beginning runs a test that begins at a moment of its own clock.
func beginning(t *testing.T, moment time.Time, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(moment))
		test(t)
	})
}

// An edit that changes nothing writes nothing, however it is expressed. An edit of another version
// is still a conflict.
func TestEditThatChangesNothing(t *testing.T) {
	title, long := "A headline", strings.Repeat("x", 20_000)
	for _, row := range []struct {
		why    string
		kept   func(*comment.Comment)
		change comment.Change
		writes int
	}{
		{"nothing given", nil, comment.Change{}, 0},
		{"the same rating", nil, comment.Change{Rating: new(4)}, 0},
		{"another rating", nil, comment.Change{Rating: new(5)}, 1},
		{"the same language in another form", nil, comment.Change{Language: new("EN")}, 0},
		{"a language that is no longer taken, sent back", func(c *comment.Comment) { c.Language = "und-biske-1994-gb" }, comment.Change{Language: new("und-biske-1994-gb")}, 0},
		{"no headline taken away", nil, comment.Change{Title: new("")}, 0},
		{"a headline taken away", func(c *comment.Comment) { c.Title = &title }, comment.Change{Title: new("")}, 1},
		{"the same headline", func(c *comment.Comment) { c.Title = &title }, comment.Change{Title: new("A headline")}, 0},
		{"all of a form sent back", func(c *comment.Comment) { c.Text = long }, comment.Change{Rating: new(4), Language: new("en"), Title: new(""), Text: &long}, 0},
		{"no media, as a server without a prefix shows them", func(c *comment.Comment) { c.Media = []comment.Media{{Path: "a.jpg"}} }, comment.Change{Media: new([]comment.MediaDraft{})}, 0},
		{"one field of a form changed, beside a text longer than the API takes", func(c *comment.Comment) { c.Text = long }, comment.Change{Rating: new(3), Text: &long}, 1},
	} {
		store := newStore(0)
		if row.kept != nil {
			row.kept(&store.kept)
		}
		before := store.kept
		w := auth.Service{Store: store, Authorizer: everyone}
		after, problems, err := w.Edit(t.Context(), string(before.ID), before.Version, row.change)
		if err != nil || len(problems) > 0 || store.writes != row.writes {
			t.Errorf("%s: %v, %v, %d writes", row.why, problems, err, store.writes)
		}
		if unchanged := cmp.Equal(before, after); unchanged != (row.writes == 0) {
			t.Errorf("%s: %s", row.why, cmp.Diff(before, after))
		}
		if _, problems, _ := w.Edit(t.Context(), string(before.ID), before.Version+7, row.change); len(problems) != 1 || problems[0].Code != comment.ProblemConflict {
			t.Errorf("%s, of another version: %v", row.why, problems)
		}
	}
}

// Without a version, a delete succeeds although edits come between; with one, it does not.
func TestDeleteBesideEdits(t *testing.T) {
	store := newStore(3)
	w := auth.Service{Store: store, Authorizer: everyone}
	if c, problems, err := w.Delete(t.Context(), string(store.kept.ID), nil); err != nil || len(problems) > 0 || c.Version != 4 {
		t.Errorf("whatever the version: %+v, %v, %v", c, problems, err)
	}
	store, version := newStore(1), 1
	w.Store = store
	if _, problems, err := w.Delete(t.Context(), string(store.kept.ID), &version); err != nil || len(problems) != 1 || problems[0].Code != comment.ProblemConflict {
		t.Errorf("version 1 of a comment that is being edited: %v, %v", problems, err)
	}
}

// Callers who may not write never reach the store, whatever the input.
func TestNothingIsWrittenForThoseWhoMayNot(t *testing.T) {
	store, version := newStore(0), 1
	w := auth.Service{Store: store, Authorizer: sender{CannotWriteReason: new(comment.TokenRequired)}}
	_, _, add := w.Add(t.Context(), draft, nil)
	_, _, edit := w.Edit(t.Context(), string(store.kept.ID), 1, comment.Change{})
	_, _, late := w.Edit(t.Context(), string(store.kept.ID), 7, comment.Change{})
	_, _, remove := w.Delete(t.Context(), string(store.kept.ID), &version)
	_, _, removeAny := w.Delete(t.Context(), string(store.kept.ID), nil)
	_, _, addNone := w.Add(t.Context(), comment.Draft{}, new(""))
	_, _, editNone := w.Edit(t.Context(), "none", 1, comment.Change{})
	_, _, removeNone := w.Delete(t.Context(), "none", nil)
	for _, err := range []error{add, edit, late, remove, removeAny, addNone, editNone, removeNone} {
		if comment.KindOf(err) != comment.Unauthenticated {
			t.Errorf("%v, want a sender that is known", err)
		}
	}
	if store.reads+store.writes > 0 {
		t.Errorf("%d reads, %d writes", store.reads, store.writes)
	}
}

// slow takes a while to decide, like a guard that fetches keys.
type slow struct{ sender }

func (s slow) Identify(ctx context.Context) (comment.Viewer, error) {
	time.Sleep(5 * time.Second)
	return s.sender.Identify(ctx)
}

// A new comment has the position of its time of writing, not of the time at which the guard begins
// to decide. No two share a position.
func TestPlaceOfANewComment(t *testing.T) {
	beginning(t, written, func(t *testing.T) {
		seen := map[comment.ID]bool{}
		for i, who := range append([]auth.Authorizer{slow{everyone}}, slices.Repeat([]auth.Authorizer{everyone}, 100)...) {
			w := auth.Service{Store: newStore(0), Authorizer: who}
			c, problems, err := w.Add(t.Context(), draft, nil)
			if err != nil || len(problems) > 0 || !c.CreatedAt().Equal(written.Add(5*time.Second)) || seen[c.ID] {
				t.Fatalf("comment %d: %+v, %v, %v", i, c, problems, err)
			}
			seen[c.ID] = true
		}
	})
}
