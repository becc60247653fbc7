// Package authoring writes comments for those who may: it checks what they want, asks whether they may, and keeps it.
package authoring

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/talkback/talkback/comment"
)

// Store keeps comments. It never does a thing twice, whatever is lost on the way, and its errors are of the kinds of the
// package comment.
type Store interface {
	// Comment is the comment of an id as it is now; a NotFound error when there is none.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// Add keeps a new comment. With a key, a repeat returns the comment that the first one added, and a KeyReused error
	// when it was another one.
	Add(ctx context.Context, c comment.Comment, key string) (comment.Comment, error)
	// Replace keeps after in place of before; a Conflict error when before is no longer what is kept.
	Replace(ctx context.Context, before, after comment.Comment) error
	// Delete removes a comment; a Conflict error when it is no longer what is kept.
	Delete(ctx context.Context, c comment.Comment) error
}

// Authorizer decides who may write. It is the one place where that is decided.
type Authorizer interface {
	// MayWrite returns nil if the caller in the context may write as the author, and change the
	// author's comments. It returns an Unauthenticated or a Forbidden error otherwise.
	MayWrite(ctx context.Context, author comment.Author) error
}

// Writer adds, edits and deletes comments for callers who may. It is safe for use by many goroutines.
type Writer struct {
	// Store keeps them. Required.
	Store Store
	// Authorizer says who may. Required.
	Authorizer Authorizer
	// Now is the time. If not provided, it is that of the clock.
	Now func() time.Time
}

// Add writes a comment. The key, if there is one, makes a repeat of the same draft by the same author return the
// first result. What is wrong with the draft comes back as problems, all at once.
func (w *Writer) Add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, []comment.Problem, error) {
	c, problems := draft.Comment(comment.Position{})
	repeatable := ""
	if key != nil {
		problems = append(problems, wrongKey(*key)...)
		repeatable = *key
	}
	if len(problems) > 0 {
		return comment.Comment{}, problems, nil
	}
	if err := w.Authorizer.MayWrite(ctx, c.Author); err != nil {
		return comment.Comment{}, nil, err
	}
	c.ID = comment.IDOf(w.position()) // not before: comment.SettleTime counts from here
	added, err := w.Store.Add(ctx, c, repeatable)
	return outcome(added, err)
}

// wrongKey is what is wrong with an idempotency key. An empty key is refused: a client
// that fails to make keys would believe that it may repeat.
func wrongKey(key string) []comment.Problem {
	problem := comment.Problem{Path: []string{"idempotencyKey"}}
	switch {
	case key == "":
		problem.Code, problem.Message = comment.ProblemEmpty, "an idempotency key is not empty: make a UUID for each comment, or leave the key out"
	case len(key) > comment.MaxKeyBytes:
		problem.Code, problem.Message = comment.ProblemTooLong, "an idempotency key has at most 128 bytes; a UUID will do"
	default:
		return nil
	}
	return []comment.Problem{problem}
}

// Edit changes a comment whose version is the one given. A change that leaves everything as it is writes nothing: version
// and time of the last edit stay.
func (w *Writer) Edit(ctx context.Context, id comment.ID, version int, change comment.Change) (comment.Comment, []comment.Problem, error) {
	before, err := w.writable(ctx, id, &version)
	if err != nil {
		return outcome(before, err)
	}
	after, problems := change.Apply(before)
	if len(problems) > 0 {
		return comment.Comment{}, problems, nil
	}
	if after.SaysAs(before) {
		return before, nil, nil
	}
	after.UpdatedAt, after.Version = w.timeOfEdit(before), before.Version+1
	return outcome(after, w.Store.Replace(ctx, before, after))
}

// timeOfEdit is now, but never before what was written last: the clock of the server that wrote that may be ahead.
func (w *Writer) timeOfEdit(before comment.Comment) *time.Time {
	now, last := w.now().UTC().Truncate(time.Millisecond), before.CreatedAt()
	if before.UpdatedAt != nil {
		last = *before.UpdatedAt
	}
	if now.Before(last) {
		now = last
	}
	return &now
}

// Delete removes a comment and returns it as it last was. With a version, that must be the comment's; without one, an
// edit that comes between is no hindrance.
func (w *Writer) Delete(ctx context.Context, id comment.ID, version *int) (comment.Comment, []comment.Problem, error) {
	for {
		c, err := w.writable(ctx, id, version)
		if err == nil {
			err = w.Store.Delete(ctx, c)
		}
		if version == nil && comment.KindOf(err) == comment.Conflict {
			continue // a faster change is done: this ends, at the latest with the context
		}
		return outcome(c, err)
	}
}

// writable is the comment of an id, if the caller may change it and it has the expected version.
func (w *Writer) writable(ctx context.Context, id comment.ID, version *int) (comment.Comment, error) {
	c, err := w.Store.Comment(ctx, id)
	if err != nil {
		return c, err
	}
	if err := w.Authorizer.MayWrite(ctx, c.Author); err != nil {
		return c, err
	}
	if version != nil && *version != c.Version {
		return c, comment.Errorf(comment.Conflict, "the comment has version %d, not %d: read it again, and decide anew", c.Version, *version)
	}
	return c, nil
}

func (w *Writer) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

// position is a new place in the order: the time, and what no other comment has.
func (w *Writer) position() comment.Position {
	var distinct [10]byte
	_, _ = rand.Read(distinct[:]) // never fails: see its documentation
	return comment.PositionAt(w.now(), distinct)
}

// problemOf tells which errors are the writer's concern, as problems of the input.
var problemOf = map[comment.Kind]struct {
	code comment.ProblemCode
	path []string
}{
	comment.NotFound:  {comment.ProblemNotFound, []string{"id"}},
	comment.Conflict:  {comment.ProblemConflict, []string{"version"}},
	comment.KeyReused: {comment.ProblemKeyReused, []string{"idempotencyKey"}},
}

// outcome turns errors that are the writer's concern into problems.
func outcome(c comment.Comment, err error) (comment.Comment, []comment.Problem, error) {
	if err == nil {
		return c, nil, nil
	}
	if concern, ok := problemOf[comment.KindOf(err)]; ok {
		return comment.Comment{}, []comment.Problem{{Code: concern.code, Message: comment.MessageOf(err), Path: concern.path}}, nil
	}
	return comment.Comment{}, nil, err
}
