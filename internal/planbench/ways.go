package planbench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// Way is a way to read a page.
type Way int

// The ways.
const (
	// FullPages reads a full page from each chosen rating, or from each cell if languages are
	// chosen, and merges them: the published way.
	FullPages Way = iota
	// OneIndex reads a page at a time from the whole product, or from each chosen language, keeps
	// what the filter allows, and continues until the page is full.
	OneIndex
	// Narrowest reads a full page from each partition that holds nothing else, and merges them. It
	// differs from FullPages where all ratings are chosen.
	Narrowest
	// Cold is the Store's planner without statistics of the product.
	Cold
	// Planned is the Store's planner with the product's counts and the sizes of its comments.
	Planned
	// Again is Planned for a page that the Store read before, with nothing new since.
	Again
	// Foresight knows every comment beforehand: the cheapest cover, with each partition read
	// exactly as far as necessary. No way can cost less.
	Foresight

	ways = int(Foresight) + 1
)

// everyWay has all ways but foresight.
var everyWay = []Way{FullPages, OneIndex, Narrowest, Cold, Planned, Again}

// String returns the name of the way in tables.
func (w Way) String() string {
	return [ways]string{"full pages", "one index", "narrowest", "cold", "planned", "read before", "foresight"}[w]
}

// Cost is the cost of a page.
type Cost struct {
	// Items is the number of comments that the table scanned; 0 for Foresight, whose limits are not
	// chosen one by one.
	Items int
	// Units is in read units.
	Units float64
	// Queries is the number of calls.
	Queries int
	// Waves is the number of calls that had to follow each other.
	Waves int
}

// read reads a page in a way and returns the comments that it shows.
func (p *Product) read(ctx context.Context, way Way, q comment.Query) ([]comment.ID, Cost, error) {
	switch way {
	case FullPages:
		return p.simply(ctx, q, fullPages(q.Filter))
	case OneIndex:
		return p.simply(ctx, q, oneIndex(q.Filter))
	case Narrowest:
		sources := fullPages(q.Filter)
		if len(q.Filter.Ratings) == 0 {
			sources = oneIndex(q.Filter)
		}
		return p.simply(ctx, q, sources)
	case Cold:
		return ask(ctx, p.table.Store(p.options(planner.Knowledge{}, q)), q)
	case Planned:
		return ask(ctx, p.table.Store(p.options(p.known(), q)), q)
	case Again:
		store := p.table.Store(knowing(p.known()))
		if _, _, err := ask(ctx, store, q); err != nil {
			return nil, Cost{}, err
		}
		return ask(ctx, store, q)
	}
	return nil, Cost{}, fmt.Errorf("%v is no way to read", way)
}

// options returns the options of a Store with some knowledge. It has page numbers if the query may
// need them.
func (p *Product) options(known planner.Knowledge, q comment.Query) dynamo.Options {
	options := knowing(known)
	if q.Filter.MayMatchFew() {
		options.PageNumbers = rankedIndex{p}
	}
	return options
}

// known returns the knowledge of a Store that has the product's statistics.
func (p *Product) known() planner.Knowledge {
	return planner.Knowledge{Stats: p.stats, AsOf: time.Unix(0, 0), Trusted: true, Sizes: p.sizes}
}

// ask makes a Store plan and read a page.
func ask(ctx context.Context, store *dynamo.Store, q comment.Query) ([]comment.ID, Cost, error) {
	page, err := store.Comments(ctx, q)
	if err != nil {
		return nil, Cost{}, err
	}
	var shown []comment.ID
	for _, c := range page.Comments {
		shown = append(shown, c.ID)
	}
	return shown, Cost{page.Plan().ItemsRead, page.Plan().ReadUnits, page.Plan().Queries, page.Plan().Waves}, nil
}

// source is a partition to read, and the filter for its comments.
type source struct {
	partition layout.Partition
	keep      comment.Filter
}

// fullPages returns the partitions of the published way. It has one for each rating, even if all
// are chosen.
func fullPages(filter comment.Filter) []source {
	var out []source
	for _, rating := range ratingsOf(filter) {
		if len(filter.Languages) == 0 {
			out = append(out, source{partition: layout.Partition{Index: layout.ByRating, Rating: rating}})
		}
		for _, language := range filter.Languages {
			out = append(out, source{partition: layout.Partition{Index: layout.ByLangAndRating, Language: language, Rating: rating}})
		}
	}
	return out
}

func oneIndex(filter comment.Filter) []source {
	keep := comment.Filter{Ratings: filter.Ratings}
	if len(filter.Languages) == 0 {
		return []source{{layout.Partition{Index: layout.All}, keep}}
	}
	var out []source
	for _, language := range filter.Languages {
		out = append(out, source{layout.Partition{Index: layout.ByLang, Language: language}, keep})
	}
	return out
}

// simply reads every source until it has enough comments for the page alone, or ends, and merges
// them.
func (p *Product) simply(ctx context.Context, q comment.Query, sources []source) ([]comment.ID, Cost, error) {
	var found []string // sort keys
	var cost Cost
	want := wanted(q)
	var from *comment.Position
	if after := q.Slice.After; after != nil {
		from = &after.Position
	}
	for _, s := range sources {
		in := plainInput(s.partition, q.Product, s.keep, from, want)
		for calls, enough := 1, len(found)+want; ; calls++ {
			out, err := p.table.Query(ctx, in)
			if err != nil {
				return nil, Cost{}, err
			}
			cost.Queries++
			cost.Waves = max(cost.Waves, calls)
			cost.Items += int(out.ScannedCount)
			cost.Units += *out.ConsumedCapacity.CapacityUnits
			for _, it := range out.Items {
				found = append(found, text(it[layout.AttrPK]))
			}
			if len(found) >= enough || out.LastEvaluatedKey == nil {
				break
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
	slices.Sort(found)
	slices.Reverse(found)
	if from != nil && len(found) > 0 && found[0] == layout.SortKeyOf(*from) {
		found = found[1:]
	}
	var shown []comment.ID
	for _, sort := range found[:min(q.Slice.Size, len(found))] {
		position, err := layout.PositionOfKey(sort)
		if err != nil {
			return nil, Cost{}, err
		}
		shown = append(shown, comment.IDOf(position))
	}
	return shown, cost, nil
}

// plainInput returns a call for the newest comments of a partition, from a position downwards.
func plainInput(partition layout.Partition, product string, keep comment.Filter, from *comment.Position, limit int) *dynamodb.QueryInput {
	values := layout.Item{":p": layout.Text(partition.Key(product))}
	key := partition.Index.PartitionAttr() + " = :p"
	if from != nil {
		key += " AND " + layout.AttrPK + " <= :from"
		values[":from"] = layout.Text(layout.SortKeyOf(*from))
	}
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(tableName),
		IndexName:                 aws.String(string(partition.Index)),
		KeyConditionExpression:    aws.String(key),
		ExpressionAttributeValues: values,
		ProjectionExpression:      aws.String(layout.ListProjection(true)),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(limit)),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
	if filter := layout.FilterExpression(keep.Conditions(), values); filter != "" {
		in.FilterExpression = aws.String(filter)
	}
	return in
}
