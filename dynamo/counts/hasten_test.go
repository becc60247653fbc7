package counts

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
)

// Hasten removes nearly all waits of a rebuild. They are not needed, since the engines of tests
// never show part of a transaction.
func Hasten(r *Rebuilder) *Rebuilder {
	r.pace = pace{heartbeat: 20 * time.Millisecond, secondLook: time.Millisecond, shardsKnown: time.Millisecond, lastWords: 100 * time.Millisecond}
	return r
}

// HastenWithFewGuards is Hasten, and has so few guards raised that a rebuild does not make most of
// its calls for them. Nothing else may count meanwhile.
func HastenWithFewGuards(r *Rebuilder) *Rebuilder {
	Hasten(r).guards = 4
	return r
}

// HastenButForHeartbeats shortens all waits except the one for another rebuild's heartbeat.
func HastenButForHeartbeats(r *Rebuilder) *Rebuilder {
	Hasten(r).pace.heartbeat = time.Hour
	return r
}

// HastenButForReaders is Hasten with a longer wait for readers of leaderboards.
func HastenButForReaders(r *Rebuilder) *Rebuilder {
	Hasten(r).pace.shardsKnown = 300 * time.Millisecond
	return r
}

// HastenVerifier removes the waits of a verification.
func HastenVerifier(v *Verifier) *Verifier {
	v.wait = time.Millisecond
	return v
}

// NotPassed returns the comments on pages that an interrupted rebuild has not passed.
func NotPassed(ctx context.Context, client *dynamodb.Client, table string) (comments []layout.Item, err error) {
	it, err := readRebuild(ctx, client, table)
	if err != nil {
		return nil, err
	}
	progress, err := decodeRebuild(it)
	for i, s := range progress.segments {
		if s.done || err != nil {
			continue
		}
		output, failed := client.Scan(ctx, &dynamodb.ScanInput{
			TableName: &table, Segment: aws.Int32(int32(i)), TotalSegments: aws.Int32(int32(len(progress.segments))), ExclusiveStartKey: s.start,
		})
		if failed != nil {
			return nil, failed
		}
		for _, it := range output.Items {
			if strings.HasPrefix(keyOf(it).partition, layout.CommentPKPrefix) {
				comments = append(comments, it)
			}
		}
	}
	return comments, err
}

// SetPatience sets how long a verification waits for proof that changes were counted.
func SetPatience(v *Verifier, patience time.Duration) { v.patience = patience }

// CountFewVotes makes a VoteRecounter keep the counts of slices from this number of votes on, and
// read no more at once.
func CountFewVotes(r *VoteRecounter, votes int) *VoteRecounter {
	r.many, r.atOnce = votes, votes
	return r
}
