package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// idsAtOnce is how many comments one call fetches. A comment can have 270 KB, and its size is known
// only after the read.
const idsAtOnce = 25

// idsCure is the advice in the error of a fetch that reached its cost bound.
const idsCure = "these comments are large: ask for fewer at once"

// Comment returns the current comment with an ID. It returns a NotFound error if there is none, and
// comment.ErrImproper if its item is not a proper comment.
func (s *Store) Comment(ctx context.Context, id comment.ID) (comment.Comment, error) {
	found, failed, err := s.CommentsByID(ctx, []comment.ID{id}, false)
	if err = errors.Join(err, failed[id]); err != nil {
		return comment.Comment{}, err
	}
	c, ok := found[id]
	if !ok {
		return c, comment.NoComment(id)
	}
	return c, nil
}

// CommentsByID fetches at most MaxKeysPerGet different comments with consistent reads, so it finds
// a comment that was just written. A comment that does not exist is in neither map. A comment has
// an error in failed if DynamoDB left it unprocessed, if its item is damaged, or if it was not
// fetched because the others reached the cost bound.
func (s *Store) CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	get := gettingByID{
		store: s, meter: layout.NewMeter(float64(len(ids))*CommentUnits(), idsCure), withoutText: withoutText,
		found: make(map[comment.ID]comment.Comment, len(ids)), failed: map[comment.ID]error{},
	}
	for part := range slices.Chunk(ids, idsAtOnce) {
		if err := get.some(ctx, part); err != nil {
			return nil, nil, call.Wrap(err, "BatchGetItem of %d comments", len(ids))
		}
	}
	return get.found, get.failed, nil
}

// gettingByID is the state of one CommentsByID.
type gettingByID struct {
	store       *Store
	meter       *layout.Meter
	withoutText bool
	found       map[comment.ID]comment.Comment
	failed      map[comment.ID]error
}

// some fetches some of the comments, in one call unless DynamoDB leaves some unprocessed. It
// fetches none if earlier calls reached the cost bound.
func (g *gettingByID) some(ctx context.Context, ids []comment.ID) error {
	if err := g.meter.Check(); err != nil {
		for _, id := range ids {
			g.failed[id] = err
		}
		return nil
	}
	want := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(layout.TableProjection(!g.withoutText))}
	for _, id := range ids {
		want.Keys = append(want.Keys, layout.CommentKey(id))
	}
	got, err := call.GetItems(ctx, g.store.client, g.store.table, want)
	g.meter.Add(got.Units)
	if err != nil {
		return err
	}
	g.decode(ctx, got.Items)
	for _, key := range got.Left {
		g.failed[layout.IDOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this comment; ask again in a moment")
	}
	return nil
}

// decode decodes comments. Those that the operation has no memory left for become errors.
func (g *gettingByID) decode(ctx context.Context, items []layout.Item) {
	for _, it := range items {
		if layout.NoComment(it) {
			continue
		}
		id := layout.IDOfKey(it)
		c, err := heldComment(ctx, it, !g.withoutText)
		switch {
		case err == nil:
			g.found[id] = c
		case comment.KindOf(err) == comment.Internal: // not for want of memory
			g.failed[id] = fmt.Errorf("%w: %w", comment.ErrImproper, err)
		default:
			g.failed[id] = err
		}
	}
}

// heldComment decodes a comment. Its item counts as memory held by the operation before the text is
// decompressed, and the text is added afterwards.
func heldComment(ctx context.Context, it layout.Item, text bool) (comment.Comment, error) {
	product, err := layout.ProductOf(it)
	if err != nil {
		return comment.Comment{}, err
	}
	l, err := layout.DecodeCompressed(it, product, text)
	if err != nil {
		return comment.Comment{}, err
	}
	if err := usage.From(ctx).Hold(l.Bytes); err != nil {
		return comment.Comment{}, err
	}
	c, err := l.Decompress()
	if err != nil || l.CompressedText == nil {
		return c, err
	}
	return c, usage.From(ctx).Hold(len(c.Text))
}
