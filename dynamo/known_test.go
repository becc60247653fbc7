package dynamo

import (
	"cmp"
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// warehouse is a table in memory that answers reads of all its indexes.
type warehouse struct {
	client   // methods that the tests do not call
	comments []comment.Comment
	cut      int // how many items a call scans at most, 0 for no bound
	calls    atomic.Int32
}

// Query implements client. Like DynamoDB it applies the partition key, the range of the sort key
// and the limit, and then the filter.
func (s *warehouse) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	s.calls.Add(1)
	kept := s.partition(in)
	looked := len(kept)
	if in.Limit != nil {
		looked = min(looked, int(*in.Limit))
	}
	if s.cut > 0 {
		looked = min(looked, s.cut)
	}
	out := &dynamodb.QueryOutput{ScannedCount: int32(looked)}
	if looked < len(kept) {
		out.LastEvaluatedKey = layout.Encode(kept[looked-1])
	}
	for _, c := range kept[:looked] {
		it := layout.Encode(c)
		if !passes(it, in) {
			continue
		}
		out.Count++
		if in.Select != types.SelectCount {
			out.Items = append(out.Items, it)
		}
	}
	return out, nil
}

// BatchGetItem implements client. A comment costs a read unit.
func (s *warehouse) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	var found []layout.Item
	for _, key := range in.RequestItems["comments"].Keys {
		if i := slices.IndexFunc(s.comments, func(c comment.Comment) bool { return c.ID == layout.IDOfKey(key) }); i >= 0 {
			found = append(found, layout.Encode(s.comments[i]))
		}
	}
	return &dynamodb.BatchGetItemOutput{
		Responses:        map[string][]layout.Item{"comments": found},
		ConsumedCapacity: []types.ConsumedCapacity{{CapacityUnits: aws.Float64(float64(len(found)))}},
	}, nil
}

// partition returns the comments that a call may scan, in its order.
func (s *warehouse) partition(in *dynamodb.QueryInput) []comment.Comment {
	bound := func(name, otherwise string) string {
		if value, ok := in.ExpressionAttributeValues[name].(*types.AttributeValueMemberS); ok {
			return value.Value
		}
		return otherwise
	}
	index, low, high := layout.Index(*in.IndexName), bound(":low", ""), bound(":high", "~")
	keys := map[comment.ID]string{}
	ascending := in.ScanIndexForward == nil || *in.ScanIndexForward
	last := ""
	if in.ExclusiveStartKey != nil {
		last = textIn(in.ExclusiveStartKey, index.SortAttr())
	}
	var out []comment.Comment
	for _, c := range s.comments {
		at := attrText(layout.Encode(c)[index.SortAttr()])
		keys[c.ID] = at
		inside := at != "" && layout.PartitionOf(index, c).Key(c.ProductID) == partitionKey(in) && at >= low && at <= high
		if inside && (last == "" || (at > last) == ascending && at != last) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b comment.Comment) int {
		if !ascending {
			a, b = b, a
		}
		return cmp.Compare(keys[a.ID], keys[b.ID])
	})
	return out
}

// passes reports whether DynamoDB returns a scanned item: whether it meets the residual filter of
// the call.
func passes(it layout.Item, in *dynamodb.QueryInput) bool {
	if in.FilterExpression == nil {
		return true
	}
	for _, condition := range strings.Split(*in.FilterExpression, " AND ") {
		if trait, of := strings.CutPrefix(strings.TrimSuffix(condition, ")"), "contains(k,"); of {
			if !strings.Contains(attrText(it[layout.AttrTraits]), attrText(in.ExpressionAttributeValues[trait])) {
				return false
			}
			continue
		}
		if trait, of := strings.CutPrefix(strings.TrimSuffix(condition, "))"), "(attribute_not_exists(k) OR NOT contains(k,"); of {
			if strings.Contains(attrText(it[layout.AttrTraits]), attrText(in.ExpressionAttributeValues[trait])) {
				return false
			}
			continue
		}
		if key, comparison, of := strings.Cut(condition, "= :"); of {
			low, high := textIn(in.ExpressionAttributeValues, ":from"), textIn(in.ExpressionAttributeValues, ":to")
			if at := textIn(it, key[:2]); comparison == "from" && at < low || comparison == "to" && at > high {
				return false
			}
			continue
		}
		attr, names, among := strings.Cut(strings.TrimSuffix(condition, ")"), " IN (")
		if !among {
			panic("passes cannot check the condition " + condition + ": teach it, if DynamoDB is to check it")
		}
		meets := func(name string) bool { return reflect.DeepEqual(in.ExpressionAttributeValues[name], it[attr]) }
		if !slices.ContainsFunc(strings.Split(names, ","), meets) {
			return false
		}
	}
	return true
}

// anyQuery draws a query for a page, sometimes with cursors whose comments were deleted or that no
// answer gave.
func anyQuery(t *rapid.T, comments []comment.Comment) comment.Query {
	q := comment.Query{Product: "42", Filter: commenttest.AnyFilter(t), Order: commenttest.AnyOrder(t)}
	q.Slice = comment.Slice{Size: rapid.IntRange(0, 5).Draw(t, "size"), FromEnd: rapid.Bool().Draw(t, "from the end")}
	cursor := func(name string) *comment.Place {
		if rapid.Bool().Draw(t, "without "+name) {
			return nil
		}
		return commenttest.AnyPlace(t, q.Order, rapid.SampledFrom(comments).Draw(t, name))
	}
	q.Slice.After, q.Slice.Before = cursor("after"), cursor("before")
	if q.Slice.Check(q.Order) != nil {
		q.Slice.Before = nil
	}
	if rapid.Bool().Draw(t, "dated") {
		from := commenttest.Epoch.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "from")) * time.Second)
		q.Filter.CreatedAfter = &from
	}
	if rapid.Bool().Draw(t, "ends") {
		to := commenttest.Epoch.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "to")) * time.Second)
		if q.Filter.CreatedAfter == nil || q.Filter.CreatedAfter.Before(to) {
			q.Filter.CreatedBefore = &to
		}
	}
	q.Count = comment.Counting(rapid.IntRange(0, 2).Draw(t, "count"))
	return q
}

// checkAnswer compares a page with the whole list.
func checkAnswer(t *rapid.T, q comment.Query, page comment.Page, list []comment.Comment) {
	low, high := 0, len(list)
	behind := func(at comment.Place, inclusive bool) int {
		n := 0
		for _, c := range list {
			order := q.Order.Compare(q.Order.PlaceOf(c), at)
			if order < 0 || order == 0 && inclusive {
				n++
			}
		}
		return n
	}
	if q.Slice.After != nil {
		low = behind(*q.Slice.After, true)
	}
	if q.Slice.Before != nil {
		high = behind(*q.Slice.Before, false)
	}
	if q.Slice.FromEnd {
		low = max(low, high-q.Slice.Size)
	} else {
		high = min(high, low+q.Slice.Size)
	}
	same := slices.EqualFunc(list[low:high], page.Comments, func(a, b comment.Comment) bool { return a.ID == b.ID })
	if !same || page.HasPrevious != (low > 0) || page.HasNext != (high < len(list)) {
		t.Fatalf("%+v\nshows %v, previous %v, next %v; want %d to %d of %v\n%s", q, page.Comments, page.HasPrevious, page.HasNext, low, high, list, page.Plan().Summary())
	}
	if q.Count == comment.CountNothing {
		return
	}
	var byRating comment.Counts
	for _, c := range list {
		byRating[c.Rating-1]++
	}
	if page.Counted.Err != nil || page.Counted.Total != len(list) || q.Count == comment.CountByRating && page.Counted.ByRating != byRating {
		t.Fatalf("%+v\ncounted %+v, want %v\n%s", q, page.Counted, byRating, page.Plan().Summary())
	}
}

// anyWorld draws a table with some comments of a product. The comments at cursors may have been
// deleted.
func anyWorld(t *rapid.T) (s *warehouse, cursors []comment.Comment) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	if cursors = commenttest.Many(r, "42", rapid.IntRange(1, 25).Draw(t, "comments")); rapid.Bool().Draw(t, "voted") {
		cursors = commenttest.Voted(r, cursors)
	}
	s = &warehouse{cut: rapid.IntRange(0, 3).Draw(t, "cut")}
	for _, c := range cursors {
		if r.IntN(4) > 0 {
			s.comments = append(s.comments, c)
		}
	}
	return s, cursors
}

// Whatever untrusted statistics say, and whatever sizes are assumed for comments, the answer is the
// same, and no read is skipped. That holds for a page that is read again after it changed, too.
func TestWhatIsLikelyChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, cursors := anyWorld(t)
		q := anyQuery(t, cursors)
		known := planner.Knowledge{}
		if rapid.Bool().Draw(t, "with statistics") {
			known = planner.Knowledge{Stats: commenttest.AnyStats(t), AsOf: time.Now(), Age: time.Minute}
		}
		known.Sizes.Any.Mean = rapid.SampledFrom([]float64{0, 1, 300, 3000, 1e6}).Draw(t, "bytes")
		store := NewStore(s, "comments", Options{Knowledge: always(known)})
		for range 4 {
			page := must.Get(store.Comments(t.Context(), q))(t)
			checkAnswer(t, q, page, commenttest.NewModel(s.comments...).List("42", q.Filter, q.Order))
			if len(page.Plan().Skipped) > 0 {
				t.Fatalf("%v was left out", page.Plan().Skipped)
			}
			s.comments = nil
			for _, c := range cursors {
				if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
					s.comments = append(s.comments, c)
				}
			}
		}
	})
}

// Correct, trusted statistics skip exactly those reads that would find nothing, or nothing new
// enough. The answer is the same.
func TestTrustedStatisticsSpareReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, cursors := anyWorld(t)
		q := anyQuery(t, cursors)
		model := commenttest.NewModel(s.comments...)
		known := planner.Knowledge{Stats: model.Stats("42"), Newest: newestOf(s.comments), AsOf: time.Now(), Trusted: true}
		page := must.Get(NewStore(s, "comments", Options{Knowledge: always(known)}).Comments(t.Context(), q))(t)
		list := model.List("42", q.Filter, q.Order)
		checkAnswer(t, q, page, list)
		counted := comment.Filter{Languages: q.Filter.Languages, Ratings: q.Filter.Ratings} // the part of the filter that statistics cover
		if len(model.List("42", counted, q.Order)) == 0 && s.calls.Load() > 0 {
			t.Fatalf("%d calls for nothing\n%s", s.calls.Load(), page.Plan().Summary())
		}
		for _, read := range page.Plan().Reads {
			if partitionIsEmpty(s.comments, read, counted) {
				t.Fatalf("%s in %s was read for nothing\n%s", read.PartitionKey, read.Index, page.Plan().Summary())
			}
			if read.SortKeyFrom != nil && read.Index != string(layout.ByHelpful) && partitionIsEmpty(s.comments, read, aboutFrom(counted, *read.SortKeyFrom)) {
				t.Fatalf("%s in %s was read from %s on, and all of it is older\n%s", read.PartitionKey, read.Index, *read.SortKeyFrom, page.Plan().Summary())
			}
		}
	})
}

// newestOf returns the bounds of the newest comments, as statistics hold them.
func newestOf(comments []comment.Comment) *layout.Bounds {
	bounds, counts := &layout.Bounds{}, comment.Stats{}
	for _, c := range comments {
		bounds.Enter(c.Cell(), counts[c.Language].Counts[c.Rating-1], c.ID.Position())
		counts.Add(c.Cell(), 1)
	}
	return bounds
}

// aboutFrom returns a filter that also excludes comments more than a second older than a sort key.
func aboutFrom(filter comment.Filter, sortKey string) comment.Filter {
	position, err := layout.PositionOfKey(sortKey)
	if err != nil {
		panic(err)
	}
	from := position.Time().Add(-time.Second)
	filter.CreatedAfter = &from
	return filter
}

func partitionIsEmpty(comments []comment.Comment, read comment.PlanRead, filter comment.Filter) bool {
	return !slices.ContainsFunc(comments, func(c comment.Comment) bool {
		return filter.Allows(c) && layout.PartitionOf(layout.Index(read.Index), c).Key("42") == read.PartitionKey
	})
}

// always returns a source of knowledge that does not change.
func always(known planner.Knowledge) func(comment.Query) planner.Knowledge {
	return func(comment.Query) planner.Knowledge { return known }
}

func textIn(it layout.Item, attr string) string { return it[attr].(*types.AttributeValueMemberS).Value }

// attrText returns the text of an attribute, empty if there is none.
func attrText(value types.AttributeValue) string {
	text, ok := value.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return text.Value
}
