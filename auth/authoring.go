package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// Store stores comments with their replies, votes, reports and decisions. It makes no change twice,
// even if answers are lost. Its errors have the kinds of package comment.
type Store interface {
	// Comment returns the current comment with an ID, a NotFound error, or comment.ErrImproper.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	CommentStore
	ReplyStore
	VoteStore
	ModerationStore
	RecordStore
}

// CommentStore writes comments.
type CommentStore interface {
	// Add writes a new comment. With a key, a repeat returns the comment that the first call added, or
	// a KeyReused error if the content differs. A store that keeps one comment of each customer about
	// a product returns an AlreadyWritten error for another, with or without a key.
	Add(ctx context.Context, c comment.Comment, key string) (comment.Comment, error)
	// Replace writes after in place of before. It returns a Conflict error if before is no longer
	// the stored version.
	Replace(ctx context.Context, before, after comment.Comment) error
	// Delete removes a comment. It returns a Conflict error if c is no longer the stored version,
	// unless c has version 0.
	Delete(ctx context.Context, c comment.Comment) error
	// HasApproved reports whether a customer has an approved comment among the latest ones.
	HasApproved(ctx context.Context, author comment.Author) (bool, error)
}

// ReplyStore writes the shop's replies.
type ReplyStore interface {
	// SetReply writes the shop's reply to a comment in place of c.Reply; nil removes it. It returns a
	// Conflict error if c.Reply is no longer the stored reply.
	SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error
}

// VoteStore stores votes about comments.
type VoteStore interface {
	// VotesBy returns votes of customers. Votes that do not exist are in neither result.
	VotesBy(ctx context.Context, keys []comment.VoteKey) (map[comment.VoteKey]comment.CastVote, map[comment.VoteKey]error, error)
	// SetVote replaces before, the vote of a customer about a comment, by after. The time of before is
	// zero if there is no vote yet. It returns a Conflict error if before is no longer the customer's
	// vote.
	SetVote(ctx context.Context, id comment.ID, before, after comment.CastVote) error
}

// ModerationStore stores decisions and reports, and knows what waits.
type ModerationStore interface {
	// Decide writes after in place of before, and the decision, both or neither. It returns a Conflict
	// error if before is no longer the stored state.
	Decide(ctx context.Context, before, after comment.Comment, d comment.Decision) error
	// Report writes a report, and after in place of before, unless the customer has reported the
	// comment already. It returns a Conflict error if before is no longer the stored state.
	Report(ctx context.Context, before, after comment.Comment, r comment.Report) error
	// Queue returns a page of the comments that wait, and Pending how many do.
	Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error)
	Pending(ctx context.Context) (int, error)
}

// RecordStore knows what was decided and said about a comment, and what its author wrote.
type RecordStore interface {
	// Audit returns the latest decisions about a comment, the latest first.
	Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error)
	// Reports returns the reports of a comment, the latest first.
	Reports(ctx context.Context, id comment.ID) ([]comment.Report, error)
	// CommentsBy returns a summary of a customer's comments, in every state.
	CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error)
}

// ErasureStore erases authors.
type ErasureStore interface {
	// Start asks for the erasure of an author, unless one is under way, and returns it.
	Start(ctx context.Context, author comment.Author) (comment.Erasure, error)
	// Status returns the latest erasure of an author, false if there was none.
	Status(ctx context.Context, author comment.Author) (now comment.Erasure, found bool, err error)
}

// Authorizer decides who may write. No other code decides that.
type Authorizer interface {
	// Identify returns who the caller in the context is. It returns an Unauthenticated or a
	// Forbidden error, beside the reason in the Viewer, if the caller may write as no author.
	Identify(ctx context.Context) (comment.Viewer, error)
}

// Service does for callers what they may do: it adds, edits and deletes comments, records replies,
// votes and reports, shows moderators the queue, decides and erases. Store and Authorizer are
// required, and Erasures for [Service.Erase]. It is safe for use by many goroutines.
type Service struct {
	Store      Store
	Erasures   ErasureStore
	Authorizer Authorizer
	// Policy says which comments wait for a moderator. The zero value publishes all.
	Policy moderation.Policy
	// MediaBase is the prefix of the addresses of pictures and videos; empty to take none.
	MediaBase comment.MediaBase
	// HideEdits hides an approved comment while an edit of it waits, instead of showing it as it was.
	HideEdits bool
	// ShopName is the name of replies that give none.
	ShopName string
	// Threshold is how many reports make a comment wait for a moderator.
	Threshold int
}

// Viewer returns who the caller is, and whether it may write.
func (s *Service) Viewer(ctx context.Context) comment.Viewer {
	viewer, _ := s.Authorizer.Identify(ctx)
	return viewer
}

// Add writes a comment. With a key, a repeat of the same draft by the same author returns the first
// result. All problems of the draft are returned at once.
func (s *Service) Add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, []comment.Problem, error) {
	return outcome(s.add(ctx, draft, key))
}

func (s *Service) add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	if err != nil {
		return comment.Comment{}, err
	}
	draft.MediaBase = s.MediaBase
	c, problems := draft.Comment(comment.Position{})
	repeatable := ""
	if key != nil {
		repeatable = *key
		switch path := []string{"idempotencyKey"}; {
		case *key == "": // a client that fails to generate keys would believe that its requests can be repeated
			problems = append(problems, comment.Problem{Code: comment.ProblemEmpty, Path: path, Message: "an idempotency key is not empty: make a UUID for each comment, or leave the key out"})
		case len(*key) > comment.MaxKeyBytes:
			problems = append(problems, comment.Problem{Code: comment.ProblemTooLong, Path: path, Message: "an idempotency key has at most 128 bytes; a UUID will do"})
		}
	}
	if len(problems) > 0 {
		return c, faults(problems)
	}
	if err := cmp.Or(viewer.CheckAuthor(c.Author), checkVerify(viewer, draft.Verified)); err != nil {
		return c, err
	}
	reasons, err := s.reasons(ctx, viewer, c)
	if err != nil {
		return c, err
	}
	c = moderation.Submit(c, reasons, millisecond())
	c.ID = comment.IDOf(newPosition()) // not before: comment.SettleTime counts from here
	return s.Store.Add(ctx, c, repeatable)
}

// checkVerify returns a Forbidden error if the caller says whether a purchase is verified, but may
// not say so.
func checkVerify(viewer comment.Viewer, verified *bool) error {
	if verified == nil {
		return nil
	}
	return viewer.CheckVerify()
}

// reasons returns why a comment has to wait for a moderator, nil if it need not. Comments that
// moderators write need not.
func (s *Service) reasons(ctx context.Context, viewer comment.Viewer, c comment.Comment) ([]comment.HoldReason, error) {
	if viewer.IsModerator() {
		return nil, nil
	}
	first := false
	if s.Policy.NeedsFirst() {
		approved, err := s.Store.HasApproved(ctx, c.Author)
		if err != nil {
			return nil, err
		}
		first = !approved
	}
	return s.Policy.Hold(c, first), nil
}

// Edit changes a comment that has the given version. If an edit waits beside it, Edit changes that,
// and version is that of the waiting edit. A change without an effect writes nothing: the version
// and the time of the last edit stay.
func (s *Service) Edit(ctx context.Context, id string, version int, change comment.Change) (comment.Comment, []comment.Problem, error) {
	return outcome(again(func() (comment.Comment, error) {
		viewer, before, err := s.writable(ctx, id, &version)
		if err != nil {
			return before, err
		}
		after, err := s.edited(ctx, viewer, before, change)
		if err != nil || after.Same(before) && after.Verified == before.Verified {
			return after, err
		}
		return after, s.Store.Replace(ctx, before, after)
	}))
}

// edited returns a comment after a change; the same, if the change has no effect.
func (s *Service) edited(ctx context.Context, viewer comment.Viewer, before comment.Comment, change comment.Change) (comment.Comment, error) {
	if err := checkVerify(viewer, change.Verified); err != nil {
		return before, err
	}
	base := before.WithHeldEdit()
	if change.MediaBase = s.MediaBase; s.MediaBase == "" && change.Media != nil && len(*change.Media) == 0 {
		change.Media = nil // a form that sends all fields back: without a prefix, none are shown to it
	}
	edited, problems := change.Apply(base)
	if len(problems) > 0 {
		return before, faults(problems)
	}
	after := before
	if !edited.SaysAs(base) {
		reasons, err := s.reasons(ctx, viewer, edited)
		if err != nil {
			return before, err
		}
		edited.UpdatedAt, edited.Version = timeOfEdit(base), before.NextVersion()
		after = moderation.Edit(before, edited, reasons, s.HideEdits, millisecond())
		if before.Status == comment.Withdrawn && after.Moderation != nil { // to take it back settles no reports
			after.Moderation = moderation.Reported(*after.Moderation, s.Threshold, *edited.UpdatedAt)
		}
		if problems := after.HeldProblems(); len(problems) > 0 {
			return before, faults(problems)
		}
	}
	// Whether the purchase is verified is no edit: it waits for no moderator, and keeps the version.
	// The shop says so, not the author.
	after.Verified = edited.Verified
	return after, nil
}

// Delete removes a comment and returns its last state. A version that is given must be the
// comment's. Without one, an edit at the same time does not prevent the delete. Only moderators can
// delete an item that is no proper comment; its last state is unknown.
func (s *Service) Delete(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error) {
	return outcome(again(func() (comment.Comment, error) {
		_, c, err := s.writable(ctx, id, version)
		if errors.Is(err, comment.ErrImproper) && version == nil && s.Viewer(ctx).MayModerate() {
			c, err = comment.Comment{ID: comment.ID(id)}, nil
		}
		if err == nil {
			err = s.Store.Delete(ctx, c)
		}
		return c, err
	}))
}

// writable returns the comment with an ID, if the caller may change it and it has the expected
// version. A caller who may write nothing learns nothing of the ID.
func (s *Service) writable(ctx context.Context, id string, version *int) (comment.Viewer, comment.Comment, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	if err != nil {
		return viewer, comment.Comment{}, err
	}
	parsed, err := comment.ParseID(id)
	if err != nil {
		return viewer, comment.Comment{}, err
	}
	c, err := s.Store.Comment(ctx, parsed)
	if err != nil {
		return viewer, c, err
	}
	if err := viewer.CheckChange(c.Author); err != nil {
		if !viewer.Sees(c) {
			return viewer, c, comment.NoComment(c.ID)
		}
		return viewer, c, err
	}
	switch latest := c.WithHeldEdit().Version; {
	case version == nil || *version == latest:
		return viewer, c, nil
	case *version == c.Version: // to read that again would not help
		return viewer, c, problemIn(comment.Errorf(comment.Conflict, "an edit of the comment waits for a moderator, with version %d: read it in heldEdit, and give its version, not %d", latest, *version))
	default:
		return viewer, c, problemIn(comment.Errorf(comment.Conflict, "the comment has version %d, not %d: read it again, and decide anew", latest, *version))
	}
}

// shown returns the comment with an ID as a payload may show it to the caller, who finds only
// comments that it may see.
func (s *Service) shown(ctx context.Context, viewer comment.Viewer, id string) (comment.Comment, error) {
	parsed, err := comment.ParseID(id)
	if err != nil {
		return comment.Comment{}, err
	}
	c, err := s.Store.Comment(ctx, parsed)
	if err == nil && !viewer.Sees(c) {
		err = comment.NoComment(parsed)
	}
	if !viewer.SeesModeration(c) {
		c.Moderation = nil
	}
	return c, err
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

	comment.AlreadyWritten: {comment.ProblemAlreadyWritten, []string{"productId"}},
}

// faults are all problems of an input, as an error within this package.
type faults []comment.Problem

// Error implements error.
func (faults) Error() string { return "the input has problems" }

// problemIn turns an error that problemOf lists into faults, and returns others as they are.
func problemIn(err error) error {
	concern, ok := problemOf[comment.KindOf(err)]
	if err == nil || !ok {
		return err
	}
	problem := comment.Problem{Code: concern.code, Message: comment.MessageOf(err), Path: concern.path}
	if known, ok := errors.AsType[*comment.Error](err); ok && known.Earlier != "" {
		problem.CommentID = new(comment.ID(known.Earlier))
	}
	return faults{problem}
}

// outcome returns a comment, or in its place the problems of the input, or another error.
func outcome(c comment.Comment, err error) (comment.Comment, []comment.Problem, error) {
	if err == nil {
		return c, nil, nil
	}
	if problems, ok := errors.AsType[faults](problemIn(err)); ok {
		return comment.Comment{}, problems, nil
	}
	return comment.Comment{}, nil, err
}

// maxTries bounds how often a change is tried because others come first. An item that was damaged
// by hand may never meet the condition of the write.
const maxTries = 20

// again makes a change of a stored comment. If another change comes first, such as an edit, a
// decision or a report, the change returns a Conflict error, and again makes it once more, from the
// comment that is stored by then. A change whose input has another version than the comment returns
// faults instead.
func again(change func() (comment.Comment, error)) (after comment.Comment, err error) {
	for range maxTries {
		if after, err = change(); comment.KindOf(err) != comment.Conflict {
			break
		}
	}
	return after, err
}

// millisecond returns the current time, in UTC to the millisecond.
func millisecond() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// newPosition returns a new position: the current time and random bytes.
func newPosition() comment.Position {
	var distinct [10]byte
	_, _ = rand.Read(distinct[:]) // never fails: see its documentation
	return comment.PositionAt(time.Now(), distinct)
}

// timeOfEdit returns the current time, but never a time before the last write. A server whose clock
// is ahead may have made that one.
func timeOfEdit(before comment.Comment) *time.Time {
	now, last := millisecond(), *cmp.Or(before.UpdatedAt, new(before.CreatedAt()))
	if now.Before(last) {
		now = last
	}
	return &now
}
