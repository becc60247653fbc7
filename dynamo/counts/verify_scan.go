package counts

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Scans for products read comments with their votes and all items about products. Other items of a
// comment, such as decisions about it, are left out.
var (
	productFilter = "attribute_not_exists(" + layout.AttrDeleted + ") AND (begins_with(" + layout.AttrPK + ",:comments) AND (" + layout.AttrSK + " = :comment OR begins_with(" + layout.AttrSK + ",:votes)) OR begins_with(" + layout.AttrPK + ",:products))"
	productValues = layout.Item{
		":comments": layout.Text(layout.CommentPKPrefix),
		":comment":  layout.Text(layout.CommentSK),
		":votes":    layout.Text(layout.VoteSKPrefix),
		":products": layout.Text(layout.Partition{Index: layout.All}.Key("")),
	}
)

// itemsPerScan bounds the items of one page of a scan, so that progress is reported about every
// second.
const itemsPerScan = 500

// scanPage is a page of a segment of the table.
type scanPage struct {
	// products has the different products that its items name.
	products []string
	// improper lists comments without a product, and others whose keys cannot be derived.
	improper []layout.Improper
	// misfiled has comments with wrong index keys.
	misfiled []layout.IndexKeys
	// voted has comments with items of votes, or that show votes.
	voted []comment.ID
	// items is how many items were scanned.
	items int
	// next is the key after which the next page starts; nil at the end.
	next layout.Item
}

func pageOf(output *dynamodb.ScanOutput) (page scanPage) {
	for _, it := range output.Items {
		_, isVote := layout.VoteSlice(it)
		switch {
		case isVote:
			page.vote(layout.IDOfKey(it))
		case strings.HasPrefix(layout.NewReader(it).Text(layout.AttrPK), layout.CommentPKPrefix):
			keys, err := layout.IndexKeysOf(it)
			if layout.HasVotes(it) {
				page.vote(layout.IDOfKey(it))
			}
			if product, unknown := layout.ProductOf(it); unknown == nil {
				page.products = append(page.products, product)
			}
			if err != nil {
				page.improper = append(page.improper, layout.NewImproper(it, err.Error()))
			} else if len(keys.Wrong()) > 0 {
				page.misfiled = append(page.misfiled, keys)
			}
		default:
			page.products = append(page.products, layout.ProductOfKey(it))
		}
	}
	slices.Sort(page.products)
	page.products, page.items, page.next = slices.Compact(page.products), int(output.ScannedCount), output.LastEvaluatedKey
	return page
}

// vote notes a comment with votes. The items of a comment follow each other.
func (p *scanPage) vote(id comment.ID) {
	if len(p.voted) == 0 || p.voted[len(p.voted)-1] != id {
		p.voted = append(p.voted, id)
	}
}

// eachPage calls do with each page of a segment of the table, from start on, read consistently. If
// a comment's votes are on several pages, only the first has it in voted.
func (e examiner) eachPage(ctx context.Context, segment, segments int, start layout.Item, do func(scanPage) error) error {
	var last comment.ID // the last comment with votes
	for output, err := range call.ScanAnswers(ctx, e.client, &dynamodb.ScanInput{
		TableName:                 aws.String(e.table),
		Segment:                   aws.Int32(int32(segment)),
		TotalSegments:             aws.Int32(int32(segments)),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(itemsPerScan),
		FilterExpression:          aws.String(productFilter),
		ExpressionAttributeValues: productValues,
		ProjectionExpression:      aws.String(layout.IndexProjection),
		ExclusiveStartKey:         start,
	}, "Scan segment %d of %d", segment, segments) {
		if err != nil {
			return err
		}
		page := pageOf(output)
		if len(page.voted) > 0 {
			before := last
			if last = page.voted[len(page.voted)-1]; page.voted[0] == before {
				page.voted = page.voted[1:]
			}
		}
		if err := do(page); err != nil {
			return err
		}
	}
	return nil
}

// productSet has the products that a scan has met, each with its claim. It is safe for concurrent
// use.
type productSet struct{ claims sync.Map }

// claim belongs to the page on which products were first met, and is closed when they are done.
type claim chan struct{}

// fresh claims the products that no page has met before. others are the claims of other pages on
// products: this page must wait for them.
func (s *productSet) fresh(products []string) (fresh []string, ours claim, others []claim) {
	ours = make(claim)
	for _, product := range products {
		theirs, taken := s.claims.Load(product)
		if !taken { // stored as a copy: each of millions of names would keep a part of its page in memory
			theirs, taken = s.claims.LoadOrStore(strings.Clone(product), ours)
		}
		if taken {
			others = append(others, theirs.(claim))
		} else {
			fresh = append(fresh, product)
		}
	}
	return fresh, ours, others
}

// await waits until all products of the claims are done.
func await(ctx context.Context, claims []claim) error {
	for _, c := range claims {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c:
		}
	}
	return nil
}
