package dynamo

import (
	"context"
	"encoding/hex"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// AuthorRecord is one record about an author: a comment with its decisions and key, a report, or a
// vote. The fields of the other kinds are nil.
type AuthorRecord struct {
	// CommentID is the author's comment, or the one that the author reported or voted on.
	CommentID comment.ID
	// Comment is a comment of the author, including the fields that lists do not show.
	Comment *comment.Comment
	// Decisions are the moderators' decisions about the comment, the earliest first.
	Decisions []comment.Decision
	// Key is the idempotency key of the comment; nil if it had none or the key has expired.
	Key *KeyRecord
	// Report is the author's report of a comment of someone else.
	Report *comment.Report
	// Vote is the author's vote about a comment of someone else.
	Vote *comment.CastVote
}

// KeyRecord is an idempotency key as the table stores it.
type KeyRecord struct {
	// Hash is the hash of the author's id and the key.
	Hash string
	// Expires is when the table may delete the key.
	Expires time.Time
}

// AuthorRecords yields every record about an author: comments of all states, newest first, then
// reports and votes. For a customer it reads an index, which follows the table within moments. An
// imported author is in no index, so it scans the whole table and yields the comments in no order.
// Malformed items are left out and passed to Options.Improper. The last pair may be an error.
func (s *Store) AuthorRecords(ctx context.Context, author comment.Author, scanner *Scanner) iter.Seq2[AuthorRecord, error] {
	if author.Imported {
		return records(scanner.OfAuthor(ctx, author.ID), func(c comment.Comment) (AuthorRecord, bool, error) {
			return s.commentRecord(ctx, c.ID, author)
		})
	}
	comments := records(s.keysOfWriter(ctx, layout.WriterOfComment(author.ID)), func(key layout.Item) (AuthorRecord, bool, error) {
		return s.commentRecord(ctx, layout.IDOfKey(key), author)
	})
	reports := records(s.keysOfWriter(ctx, layout.WriterOfReport(author.ID)), func(key layout.Item) (record AuthorRecord, there bool, err error) {
		it, err := s.getWithRetries(ctx, key)
		if err != nil || len(it) == 0 {
			return record, false, err
		}
		if _, isVote := layout.VoteSlice(it); isVote {
			id, vote, err := layout.DecodeVote(it)
			record.CommentID, record.Vote = id, &vote
			return record, s.proper(it, err) && vote.Vote != comment.NoVote, nil
		}
		id, report, err := layout.DecodeReport(it)
		record.CommentID, record.Report = id, &report
		return record, s.proper(it, err), nil
	})
	return func(yield func(AuthorRecord, error) bool) {
		for _, all := range []iter.Seq2[AuthorRecord, error]{comments, reports} {
			for record, err := range all {
				if !yield(record, err) || err != nil {
					return
				}
			}
		}
	}
}

// records yields the record that read returns for each found value. It leaves out values that are
// gone, and ends with the first error.
func records[T any](found iter.Seq2[T, error], read func(T) (record AuthorRecord, there bool, err error)) iter.Seq2[AuthorRecord, error] {
	return func(yield func(AuthorRecord, error) bool) {
		for value, err := range found {
			record, there := AuthorRecord{}, false
			if err == nil {
				record, there, err = read(value)
			}
			if (there || err != nil) && (!yield(record, err) || err != nil) {
				return
			}
		}
	}
}

// keysOfWriter yields the primary keys of a writer's items, those of the newest comments first.
func (s *Store) keysOfWriter(ctx context.Context, writer *types.AttributeValueMemberS) iter.Seq2[layout.Item, error] {
	return call.Items(ctx, s.client, &dynamodb.QueryInput{
		TableName: aws.String(s.table), IndexName: aws.String(string(layout.ByAuthor)),
		KeyConditionExpression:    aws.String(layout.AttrWriter + " = :writer"),
		ExpressionAttributeValues: layout.Item{":writer": writer}, ScanIndexForward: aws.Bool(false),
	}, string(layout.ByAuthor))
}

// commentRecord reads a comment with its decisions and its key. there is false if the comment is
// gone or is another author's.
func (s *Store) commentRecord(ctx context.Context, id comment.ID, author comment.Author) (record AuthorRecord, there bool, err error) {
	items, _, err := call.Partition(ctx, s.client, s.table, layout.CommentKey(id)[layout.AttrPK], "items of a comment")
	if err != nil {
		return record, false, err
	}
	record.CommentID = id
	for _, it := range items {
		switch sortKey := layout.NewReader(it).Text(layout.AttrSK); {
		case sortKey == layout.CommentSK && !layout.NoComment(it):
			c, err := layout.Decode(it)
			if !s.proper(it, err) {
				continue
			}
			record.Comment = &c
			hash := layout.BytesOf(it, layout.AttrKeyHash)
			if hash == nil {
				continue
			}
			item, err := s.getWithRetries(ctx, layout.KeyOfHash(hash))
			if err != nil {
				return record, false, err
			}
			if len(item) > 0 { // the key has not expired
				expires := layout.NewReader(item).Number(layout.AttrTTL)
				record.Key = &KeyRecord{Hash: hex.EncodeToString(hash), Expires: time.Unix(expires, 0).UTC()}
			}
		case strings.HasPrefix(sortKey, layout.DecisionSKPrefix):
			if d, err := decodeDecision(it, id); s.proper(it, err) {
				record.Decisions = append(record.Decisions, d)
			}
		}
	}
	there = record.Comment != nil && record.Comment.Author.ID == author.ID && record.Comment.Author.Imported == author.Imported
	return record, there, nil
}

// getWithRetries reads an item, with the retries of call.Retry.
func (s *Store) getWithRetries(ctx context.Context, key layout.Item) (layout.Item, error) {
	return call.Retried(ctx, func() (layout.Item, error) {
		it, err := s.get(ctx, key)
		return it, call.Wrap(err, "GetItem of what is held about an author")
	})
}
