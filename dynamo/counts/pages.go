package counts

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// pages keeps the index behind page numbers in the counting transactions. The nil pages keeps none,
// so that what others keep is dropped.
type pages struct {
	client  call.Querier
	table   string
	merging *merging
}

// heads puts the heads of their indexes into ledgers. It starts indexes that are missing where
// something is to be counted. An index starts from the statistics alone, so a product with languages
// that share a row waits for a rebuild.
func (p *pages) heads(ctx context.Context, ledgers map[string]ledger, parts map[string][]standing, now time.Time) (err error) {
	if p == nil {
		return nil
	}
	for product, l := range ledgers {
		l.page, _ = runs.DecodeHead(l.head) // one that cannot be read is taken as missing
		news := func(s standing) bool { return s.news(l.markers[s.ID]) }
		_, shared := l.stats[comment.OtherLanguages]
		if !l.page.Exists() && l.broken == nil && !shared && slices.ContainsFunc(parts[product], news) {
			if l.page, err = p.start(ctx, product, l.stats, now); err != nil {
				return err
			}
		}
		ledgers[product] = l
	}
	return nil
}

// start returns the head of an index that starts anew.
func (p *pages) start(ctx context.Context, product string, counts comment.Stats, now time.Time) (runs.Head, error) {
	if len(counts) == 0 {
		return startHead(nil, comment.Position{}, now), nil
	}
	newest, err := p.newest(ctx, product)
	return startHead(counts, newest, now), err
}

// newest returns the position of the newest marker of a product.
func (p *pages) newest(ctx context.Context, product string) (comment.Position, error) {
	output, err := p.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(p.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :key AND begins_with(" + layout.AttrSK + ",:markers)"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(layout.ProductPKPrefix + product), ":markers": layout.Text(markerSKPrefix)},
		ProjectionExpression:      aws.String(layout.AttrSK),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(1),
	})
	if err != nil {
		return comment.Position{}, call.Wrap(err, "Query of the newest marker of product %q", product)
	}
	for _, it := range output.Items {
		if id, err := idOfMarker(layout.NewReader(it).Text(layout.AttrSK)); err == nil {
			return id.Position(), nil
		}
	}
	return comment.Position{}, nil
}

// startMerges starts merges that a transaction made due. If its outcome is unknown, it may have.
func (p *pages) startMerges(ctx context.Context, t tally, err error) {
	if p == nil || err != nil && comment.KindOf(err) == comment.Throttled {
		return
	}
	if t.mergeDue || t.emptied {
		p.merging.due(ctx, t.product)
	}
}
