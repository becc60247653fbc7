package planbench

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
)

// answerBytes ends a call early, whatever its limit.
const answerBytes = 1 << 20

// parsedQuery is the input of a Query, parsed.
type parsedQuery struct {
	index     layout.Index
	partition []entry
	low, high string // bounds of the sort key, both included; empty for none
	after     string // the sort key to continue after, empty at the beginning
	ascending bool
	limit     int
	filter    []condition
	shown     []string
}

// condition reports whether an item is kept.
type condition func(layout.Item) bool

// The expressions of calls that read lists. A name of a value begins with a colon.
var (
	keyExpression   = regexp.MustCompile(`^(\w+) = (:\w+)(?: AND (\w+) (?:BETWEEN (:\w+) AND (:\w+)|>= (:\w+)|<= (:\w+)))?$`)
	traitExpression = regexp.MustCompile(`^(?:\(attribute_not_exists\(\w+\) OR (NOT) )?contains\((\w+),(:\w+)\)\)?$`)
	dateExpression  = regexp.MustCompile(`^(\w+) ([<>])= (:\w+)$`)
	inExpression    = regexp.MustCompile(`^(\w+) IN \((:\w+(?:,:\w+)*)\)$`)
)

// Query answers as DynamoDB does. The limit counts scanned items, not returned ones. Each call pays
// for all scanned bytes, rounded up once. If the limit or a megabyte ends the answer, it says where
// to continue. Query refuses calls in a form that lists do not use.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q, err := t.understand(in)
	if err != nil {
		return nil, err
	}
	out, bytes := &dynamodb.QueryOutput{}, 0
	span := q.span()
	for n, e := range span {
		if !q.ascending {
			e = span[len(span)-1-n]
		}
		bytes += e.bytes
		out.ScannedCount++
		if !slices.ContainsFunc(q.filter, func(keeps condition) bool { return !keeps(e.item) }) {
			out.Items = append(out.Items, pick(e.item, q.shown...))
		}
		if n+1 == q.limit || bytes >= answerBytes {
			out.LastEvaluatedKey = pick(e.item, q.index.PartitionAttr(), q.index.SortAttr(), layout.AttrPK, layout.AttrSK)
			break
		}
	}
	out.Count = int32(len(out.Items))
	out.ConsumedCapacity = consumed(units(bytes))
	return out, nil
}

func (t *Table) understand(in *dynamodb.QueryInput) (q parsedQuery, err error) {
	q = parsedQuery{index: layout.Index(aws.ToString(in.IndexName)), limit: int(aws.ToInt32(in.Limit))}
	key := keyExpression.FindStringSubmatch(aws.ToString(in.KeyConditionExpression))
	if t.indexes[q.index] == nil || q.limit == 0 || key == nil || key[1] != q.index.PartitionAttr() || key[3] != "" && key[3] != q.index.SortAttr() {
		return q, fmt.Errorf("a table in memory does not know how to answer %s of index %q with limit %d",
			aws.ToString(in.KeyConditionExpression), aws.ToString(in.IndexName), q.limit)
	}
	value := func(name string) string { return text(in.ExpressionAttributeValues[name]) }
	q.partition = t.indexes[q.index][value(key[2])]
	q.low, q.high = value(key[4]+key[6]), value(key[5]+key[7])
	q.after = text(in.ExclusiveStartKey[q.index.SortAttr()])
	q.ascending = in.ScanIndexForward == nil || *in.ScanIndexForward
	q.shown = strings.Split(aws.ToString(in.ProjectionExpression), ",")
	q.filter, err = conditions(aws.ToString(in.FilterExpression), value)
	return q, err
}

// conditions returns the conditions of a filter expression, none for an empty one.
func conditions(expression string, value func(name string) string) ([]condition, error) {
	if expression == "" {
		return nil, nil
	}
	var out []condition
	for _, part := range strings.Split(expression, " AND ") {
		if trait := traitExpression.FindStringSubmatch(part); trait != nil {
			wanted, has := value(trait[3]), trait[1] == ""
			out = append(out, func(it layout.Item) bool { return strings.Contains(text(it[trait[2]]), wanted) == has })
		} else if date := dateExpression.FindStringSubmatch(part); date != nil {
			bound := value(date[3])
			out = append(out, func(it layout.Item) bool {
				at := text(it[date[1]])
				return at == bound || (at > bound) == (date[2] == ">")
			})
		} else if in := inExpression.FindStringSubmatch(part); in != nil {
			var values []string
			for name := range strings.SplitSeq(in[2], ",") {
				values = append(values, value(name))
			}
			out = append(out, func(it layout.Item) bool { return slices.Contains(values, text(it[in[1]])) })
		} else {
			return nil, fmt.Errorf("a table in memory does not know the filter %s", part)
		}
	}
	return out, nil
}

// span returns the requested part of a partition, ascending.
func (q parsedQuery) span() []entry {
	from, to := firstFrom(q.partition, q.low), len(q.partition)
	if q.high != "" {
		to = firstFrom(q.partition, q.high+"\x00")
	}
	if q.after != "" && q.ascending {
		from = max(from, firstFrom(q.partition, q.after+"\x00"))
	}
	if q.after != "" && !q.ascending {
		to = min(to, firstFrom(q.partition, q.after))
	}
	return q.partition[min(from, to):to]
}

// firstFrom returns the index of the first entry at or above a sort key.
func firstFrom(entries []entry, sort string) int {
	i, _ := slices.BinarySearchFunc(entries, sort, func(e entry, sort string) int { return strings.Compare(e.sort, sort) })
	return i
}

// pick returns an item with only some of its attributes.
func pick(it layout.Item, names ...string) layout.Item {
	out := make(layout.Item, len(names))
	for _, name := range names {
		if value := it[name]; value != nil {
			out[name] = value
		}
	}
	return out
}

// BatchGetItem answers as DynamoDB does. Each item is rounded up by itself.
func (t *Table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, total := &dynamodb.BatchGetItemOutput{Responses: map[string][]layout.Item{}}, 0.0
	want := in.RequestItems[tableName]
	for _, key := range want.Keys {
		e := t.comments[text(key[layout.AttrPK])]
		each := units(e.bytes)
		if aws.ToBool(want.ConsistentRead) {
			each *= 2
		}
		if total += each; e.item != nil {
			out.Responses[tableName] = append(out.Responses[tableName], pick(e.item, strings.Split(*want.ProjectionExpression, ",")...))
		}
	}
	out.ConsumedCapacity = []types.ConsumedCapacity{*consumed(total)}
	return out, ctx.Err()
}

// units returns the read units of one eventually consistent call that scans the given bytes. A call
// that finds nothing costs as much as the smallest.
func units(bytes int) float64 { return layout.EventualUnits(max(1, bytes)) }
