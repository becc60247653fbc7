package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

const (
	// KeyLifetime is how long an idempotency key is remembered at least.
	KeyLifetime = 24 * time.Hour
	// clockSkew is how much the clocks of a table's servers may differ before a key expires too
	// early.
	clockSkew = time.Hour
)

// Add writes a new comment with a new ID. With a key, a repeat by the same author within
// KeyLifetime returns the comment that the first call added, as it was then. If the content differs
// from that of the first call, Add returns a KeyReused error. With OnePerCustomer it needs no key:
// a repeat returns the comment as it is now, and another comment about the product is refused with
// an AlreadyWritten error.
func (s *Store) Add(ctx context.Context, c comment.Comment, key string) (comment.Comment, error) {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	if s.options.OnePerCustomer {
		added, err := s.addOnly(ctx, c)
		return added, call.Wrap(err, "add %s as the only one", c)
	}
	if key != "" {
		added, err := s.addOnce(ctx, c, key)
		return added, call.Wrap(err, "add %s with a key", c)
	}
	err := call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		_, err := call.Done(call.Put(ctx, s.client, s.putNew(layout.Encode(c))))
		return err // none if it was refused: an earlier try succeeded, since no other comment has this ID
	})
	return c, call.Wrap(err, "add %s", c)
}

// writing notes that a comment is about to be written, and in which span.
func (s *Store) writing(ctx context.Context, id comment.ID) {
	usage.From(ctx).Write()
	if s.options.Writes != nil {
		s.options.Writes.Note(ctx, layout.NewReader(layout.CommentKey(id)).Text(layout.AttrPK))
	}
}

// addOnce writes the comment and the key in one transaction. If the key exists, it returns the
// comment that the key was first used for, which must have the same content.
func (s *Store) addOnce(ctx context.Context, c comment.Comment, key string) (comment.Comment, error) {
	hash := layout.HashOf(c.Author.ID, key)
	item, keyItem := layout.Encode(c), keyItemOf(c, hash, s.now())
	item[layout.AttrKeyHash] = layout.Binary(hash) // the erasure of the author finds the key by it
	added := c
	err := call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		condition, values := layout.IfAbsent+" OR "+layout.AttrTTL+" < :now", layout.Item{":now": layout.Number(s.now().Unix())}
		err := s.transact(ctx, s.putNew(item), call.PutIf(s.table, keyItem, condition, values))
		if !call.Refused(err) {
			return err
		}
		// After a further error it is unknown whether an earlier try of this call wrote the comment.
		first, err := s.firstAt(ctx, keyItem)
		switch {
		case err != nil:
			return err
		case first.id == "":
			return comment.Errorf(comment.Unavailable, "the idempotency key was just forgotten; try again")
		case first.digest != digestOf(c):
			return comment.Errorf(comment.KeyReused, "this idempotency key was used for another comment; use a new one for each")
		}
		added = c
		added.ID = first.id
		now, err := s.Comment(ctx, first.id)
		if comment.KindOf(err) == comment.NotFound || errors.Is(err, comment.ErrImproper) {
			return nil // deleted since: return it as it was
		}
		if err == nil { // a moderator may have decided about it since
			added.Status, added.Moderation = now.Status, now.Moderation
		}
		return err
	})
	return added, err
}

// keyItemOf returns the item of an author's idempotency key: its hash, and the ID of the comment
// that it was used for. It holds no content of the comment, since that must disappear with the
// comment.
func keyItemOf(c comment.Comment, hash []byte, now time.Time) layout.Item {
	out := layout.KeyOfHash(hash)
	out[layout.AttrTTL] = layout.Number(now.Add(KeyLifetime + clockSkew).Unix())
	out[layout.AttrFirst], out[attrDigest] = layout.Text(string(c.ID)), layout.Text(digestOf(c))
	return out
}

// Replace changes a comment from before to after, and moves it in every index where its key
// changes. It writes only fields that differ, because a reply, a vote or a report may have come
// meanwhile. It returns a Conflict error if another change of the author's content or of the state
// came first, and a NotFound error if the comment was deleted.
func (s *Store) Replace(ctx context.Context, before, after comment.Comment) error {
	mark := rand.Text()
	sameVersion := before.NextVersion() == after.NextVersion() // the mark alone tells whether another change came first
	if sameVersion {
		mark = layout.SameVersionMark + mark
	}
	write := s.updateOf(before, after, mark)
	if sameVersion {
		*write.Update.ConditionExpression += " AND " + layout.SameMark(before, write.Update.ExpressionAttributeValues)
	}
	err := s.change(ctx, before, after, func(ctx context.Context, again bool) error {
		err := call.Update(ctx, s.client, write)
		there, refused := call.FoundInstead(err)
		if !refused {
			return err
		}
		now, wrong := layout.Decode(there)
		switch {
		case isMarked(there, mark):
			return nil // an earlier try succeeded
		case again && (wrong != nil || sameVersion && !isMarked(there, before.Mark)), now.WithHeldEdit().Version > after.WithHeldEdit().Version:
			return call.OutcomeUnknown(call.ErrOvertaken, nil) // ours may have come before that: DynamoDB may perform a call twice
		case layout.NoComment(there):
			return comment.NoComment(after.ID)
		}
		return comment.Errorf(comment.Conflict, "another change came first: read the comment again, and decide anew")
	})
	return call.Wrap(err, "edit %s", after)
}

// change calls write to change a comment, with retries, and notes the change for pages that are
// read meanwhile.
func (s *Store) change(ctx context.Context, before, after comment.Comment, write func(ctx context.Context, again bool) error) error {
	s.writing(ctx, after.ID)
	defer s.wrote(after.ProductID)
	defer s.noteEdit(before, after)
	return call.RetryWrite(ctx, func(ctx context.Context, again bool) error {
		s.noteEdit(before, after)
		return write(ctx, again)
	})
}

// updateOf returns the update from before to after. Its condition is that the version, state,
// reports and traits that it depends on are unchanged. It stores the mark of an edit, unless mark
// is empty. Decisions and reports are recognized by their own items, and must keep the mark of an
// edit whose answer was lost.
func (s *Store) updateOf(before, after comment.Comment, mark string) types.TransactWriteItem {
	was, changed := layout.Encode(before), layout.Encode(after)
	if mark != "" {
		changed[layout.AttrMark] = layout.Text(mark)
	}
	expression, values := layout.Update(was, changed)
	condition := sameAsRead(before, values) + " AND " + layout.SameReports(before, values) + layout.SameTraits(before, after, values)
	return call.UpdateIf(s.table, layout.CommentKey(after.ID), expression, condition, values)
}

// Delete replaces a comment with a tombstone. It returns a Conflict error if another change came
// first, and a NotFound error if the comment is already deleted. If c has no version, because only
// the ID is known, any version is deleted.
func (s *Store) Delete(ctx context.Context, c comment.Comment) error {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	mark := rand.Text()
	values := layout.Item{":mark": layout.Text(mark)}
	condition := layout.SameVersion(c.Version, values)
	if c.Version > 0 {
		condition = sameAsRead(c, values) // an edit that waits has a version, too
	}
	condition += " AND (attribute_not_exists(" + layout.AttrMark + ") OR " + layout.AttrMark + " <> :mark)" // a revived comment has the mark
	err := call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		err := call.Put(ctx, s.client, call.PutIf(s.table, layout.Tombstone(c.ID, mark, s.now()), condition, values))
		there, refused := call.FoundInstead(err)
		switch {
		case !refused:
			return err
		case isMarked(there, mark):
			return nil // an earlier try succeeded
		case layout.NoComment(there):
			return comment.NoComment(c.ID)
		}
		return comment.Errorf(comment.Conflict, "the comment was changed meanwhile: read it again, and decide anew")
	})
	if err == nil && s.options.OnePerCustomer {
		s.release(ctx, c)
	}
	return call.Wrap(err, "delete %s", c)
}

func isMarked(it layout.Item, mark string) bool {
	r := layout.NewReader(it)
	return r.Text(layout.AttrMark) == mark
}

// sameAsRead returns the condition that a comment still has the version, the state and the held
// edit that were read. It adds the values of the condition to values.
func sameAsRead(c comment.Comment, values layout.Item) string {
	return layout.SameVersion(c.Version, values) + " AND " + layout.SameState(c, values)
}

// SetReply replaces the shop's reply to a comment, c.Reply, by reply; nil deletes it. The version
// of a deleted reply stays, so that a late try of the first reply is refused. SetReply writes no
// other field, so edits, votes and decisions may come meanwhile. It returns a Conflict error if
// c.Reply is no longer the comment's reply, and a NotFound error if the comment was deleted. After
// two changes since c was read, the outcome is unknown.
func (s *Store) SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	mark, before := rand.Text(), c.ReplyDeletion // each write adds one, so no version repeats
	if c.Reply != nil {
		before = c.Reply.Version
	}
	update, values := layout.ReplyUpdate(reply, before+1, mark)
	write := call.UpdateIf(s.table, layout.CommentKey(c.ID), update, layout.SameVersion(0, values)+" AND "+layout.SameReply(c, values), values)
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		err := call.Update(ctx, s.client, write)
		there, refused := call.FoundInstead(err)
		if !refused {
			return err
		}
		// The mark is in the reply itself, because an edit of the comment has a mark of its own.
		switch now, version, wrote := layout.ReplyOf(there); {
		case layout.NoComment(there):
			return comment.NoComment(c.ID)
		case reply == nil && now == nil, reply != nil && wrote == mark:
			return nil // an earlier try succeeded, or another caller removed it too
		case version > before+1: // ours may have come before the last one: DynamoDB may perform a call twice
			return call.OutcomeUnknown(call.ErrOvertaken, nil)
		}
		return comment.Errorf(comment.Conflict, "another change of the reply came first: read the comment again, and decide anew")
	}), "reply to %s", c)
}

// hashDigits is the length of a customer's hash in the key of a vote: 128 bits. It is short because
// each recount reads all keys.
const hashDigits = 32

func hashOfVoter(customer string) string { return digestOfAll("vote", customer)[:hashDigits] }

// SetVote replaces a customer's vote about a comment, before, by after. If there was none, the time
// of before is zero. It neither reads nor writes the comment. It returns a Conflict error if before
// is no longer the customer's vote.
func (s *Store) SetVote(ctx context.Context, id comment.ID, before, after comment.CastVote) error {
	s.writing(ctx, id)
	item := layout.VoteItem(id, hashOfVoter(after.By), after)
	put := s.putNew(item)
	if !before.At.IsZero() {
		put = call.PutIf(s.table, item, layout.VoteCast+" = :cast", layout.Item{":cast": layout.Time(before.At)})
	}
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, again bool) error {
		err := call.Put(ctx, s.client, put)
		there, refused := call.FoundInstead(err)
		if _, _, wrong := layout.DecodeVote(there); refused && wrong != nil && before.At.IsZero() { // a vote damaged by hand counts as none
			values := layout.Item{}
			put = call.PutIf(s.table, item, layout.SameAttrs(there, values, layout.AttrWriter, layout.VoteCast), values)
			err = call.Put(ctx, s.client, put)
			there, refused = call.FoundInstead(err)
		}
		switch {
		case !refused:
			return err
		case layout.Casts(there, after):
			return nil // an earlier try succeeded
		case again:
			return call.OutcomeUnknown(call.ErrOvertaken, nil)
		}
		return comment.Errorf(comment.Conflict, "the vote was changed meanwhile: try again")
	}), "vote about %s", id)
}

// VotesBy fetches votes of customers, at most MaxKeysPerGet, consistently. A customer who did not
// vote about a comment is in neither result.
func (s *Store) VotesBy(ctx context.Context, keys []comment.VoteKey) (found map[comment.VoteKey]comment.CastVote, failed map[comment.VoteKey]error, err error) {
	want, of := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, map[[2]string]comment.VoteKey{}
	for _, key := range keys {
		item := layout.VoteKey(key.Comment, hashOfVoter(key.Customer))
		want.Keys = append(want.Keys, item)
		of[keyTexts(item)] = key
	}
	got, err := call.GetItems(ctx, s.client, s.table, want)
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(keys), "vote"))
	}
	found, failed = map[comment.VoteKey]comment.CastVote{}, map[comment.VoteKey]error{}
	for _, it := range got.Items {
		if _, vote, err := layout.DecodeVote(it); s.proper(it, err) {
			found[of[keyTexts(it)]] = vote
		}
	}
	for _, key := range got.Left {
		failed[of[keyTexts(key)]] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this vote; ask again in a moment")
	}
	return found, failed, nil
}

func keyTexts(it layout.Item) [2]string {
	r := layout.NewReader(it)
	return [2]string{r.Text(layout.AttrPK), r.Text(layout.AttrSK)}
}
