package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
)

// Store stores comments. It makes no change twice, even if answers are lost, and its errors have
// kinds of package comment.
type Store interface {
	// Comment returns the current comment with an ID, a NotFound error, or comment.ErrImproper.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// Add writes a new comment. With a key, a repeat returns the comment that the first call added,
	// or a KeyReused error if the content differs.
	Add(ctx context.Context, c comment.Comment, key string) (comment.Comment, error)
	// Replace writes after in place of before. It returns a Conflict error if before is no longer
	// the stored version.
	Replace(ctx context.Context, before, after comment.Comment) error
	// Delete removes a comment. It returns a Conflict error if c is no longer the stored version,
	// unless c has version 0.
	Delete(ctx context.Context, c comment.Comment) error
}

// Authorizer decides who may write. No other code decides that.
type Authorizer interface {
	// Identify returns who the caller in the context is. It returns an Unauthenticated or a
	// Forbidden error, beside the reason in the Viewer, if the caller may write as no author.
	Identify(ctx context.Context) (comment.Viewer, error)
}

// Writer adds, edits and deletes comments for callers who may. It is safe for use by many
// goroutines.
type Writer struct {
	// Store stores the comments. Required.
	Store Store
	// Authorizer decides who may write. Required.
	Authorizer Authorizer
	// Now is the time. If not provided, it is that of the clock.
	Now func() time.Time
}

// Viewer returns who the caller is, and whether it may write.
func (w *Writer) Viewer(ctx context.Context) comment.Viewer {
	viewer, _ := w.Authorizer.Identify(ctx)
	return viewer
}

// Add writes a comment. With a key, a repeat of the same draft by the same author returns the first
// result. All problems of the draft are returned at once.
func (w *Writer) Add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, []comment.Problem, error) {
	viewer, err := w.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, nil, err
	}
	c, problems := draft.Comment(comment.Position{})
	repeatable := ""
	if key != nil {
		problems = append(problems, wrongKey(*key)...)
		repeatable = *key
	}
	if len(problems) > 0 {
		return comment.Comment{}, problems, nil
	}
	if err := viewer.CheckAuthor(c.Author); err != nil {
		return comment.Comment{}, nil, err
	}
	c.ID = comment.IDOf(w.position()) // not before: comment.SettleTime counts from here
	added, err := w.Store.Add(ctx, c, repeatable)
	return outcome(added, err)
}

// wrongKey returns the problems of an idempotency key. An empty key is refused: a client that fails
// to generate keys would believe that its requests can be repeated.
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

// Edit changes a comment that has the given version. A change without an effect writes nothing: the
// version and the time of the last edit stay.
func (w *Writer) Edit(ctx context.Context, id string, version int, change comment.Change) (comment.Comment, []comment.Problem, error) {
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

// timeOfEdit returns the current time, but never a time before the last write. That may have been
// made by a server whose clock is ahead.
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

// Delete removes a comment and returns its last state. A version that is given must be the
// comment's. Without one, an edit at the same time does not prevent the delete. A stored item that is
// no proper comment is deleted for a caller who may write as any author; its last state is not known.
func (w *Writer) Delete(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error) {
	for {
		c, err := w.writable(ctx, id, version)
		if errors.Is(err, comment.ErrImproper) && version == nil && w.Viewer(ctx).CustomerID == nil {
			c, err = comment.Comment{ID: comment.ID(id)}, nil
		}
		if err == nil {
			err = w.Store.Delete(ctx, c)
		}
		if version == nil && comment.KindOf(err) == comment.Conflict {
			continue // another change came first; the context bounds these retries
		}
		return outcome(c, err)
	}
}

// writable returns the comment with an ID, if the caller may change it and it has the expected
// version. A caller who may write nothing learns nothing of the ID.
func (w *Writer) writable(ctx context.Context, id string, version *int) (comment.Comment, error) {
	viewer, err := w.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, err
	}
	parsed, err := comment.ParseID(id)
	if err != nil {
		return comment.Comment{}, err
	}
	c, err := w.Store.Comment(ctx, parsed)
	if err != nil {
		return c, err
	}
	if err := viewer.CheckAuthor(c.Author); err != nil {
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

// position returns a new position: the current time, and random bytes that no other comment has.
func (w *Writer) position() comment.Position {
	var distinct [10]byte
	_, _ = rand.Read(distinct[:]) // never fails: see its documentation
	return comment.PositionAt(w.now(), distinct)
}

// problemOf lists the kinds of errors that are problems of the input.
var problemOf = map[comment.Kind]struct {
	code comment.ProblemCode
	path []string
}{
	comment.BadInput:  {comment.ProblemMalformed, []string{"id"}},
	comment.NotFound:  {comment.ProblemNotFound, []string{"id"}},
	comment.Conflict:  {comment.ProblemConflict, []string{"version"}},
	comment.KeyReused: {comment.ProblemKeyReused, []string{"idempotencyKey"}},
}

// outcome turns errors that problemOf lists into problems.
func outcome(c comment.Comment, err error) (comment.Comment, []comment.Problem, error) {
	if err == nil {
		return c, nil, nil
	}
	if concern, ok := problemOf[comment.KindOf(err)]; ok {
		return comment.Comment{}, []comment.Problem{{Code: concern.code, Message: comment.MessageOf(err), Path: concern.path}}, nil
	}
	return comment.Comment{}, nil, err
}
