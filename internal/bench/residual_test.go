package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// BenchmarkResidual reads pages of some ratings from the index of all comments. The other ratings
// are dropped either in the table, by a filter expression, or here, before they are decoded. In
// both cases the table scans the same comments and charges the same. x-cpu is the ratio of
// processor times, filter in the table to filter here; whole-cpu-µs and here-cpu-µs are the times.
// table-bytes and here-bytes are the sizes of the table's answers.
func BenchmarkResidual(b *testing.B) {
	c := newContest(b)
	_, calls := c.settled(b, c.cases[0])
	newest := must.Get(queryOf(json.RawMessage(calls[0].input)))(b)
	for _, ratings := range [][]int{{4, 5}, {1, 2}, {2, 3, 4, 5}, {1, 2, 3, 4}} {
		b.Run(fmt.Sprint(ratings), func(b *testing.B) {
			table := sieve{client: plainClient(c.endpoint, c.bareTape), ratings: ratings, input: newest}
			here := table
			table.input.FilterExpression, table.input.ExpressionAttributeValues = inTable(table.input, ratings)
			table.input.Limit = table.sufficient(b)
			here.input.Limit = table.input.Limit
			if string(table.page(b)) != string(here.page(b)) {
				b.Fatalf("it is not the same page:\n%s\n%s", table.page(b), here.page(b))
			}
			bytesOf := func(s sieve) float64 {
				return float64(len(c.bareTape.answers[c.bareTape.during(func() { s.page(b) })[0]].body))
			}
			sideBySide(b, "here", func() { table.page(b) }, func() { here.page(b) })
			b.ReportMetric(bytesOf(table), "table-bytes")
			b.ReportMetric(bytesOf(here), "here-bytes")
			b.ReportMetric(float64(*table.input.Limit), "looked-at")
		})
	}
}

// sieve reads a page of some ratings by one call.
type sieve struct {
	client  *dynamodb.Client
	input   dynamodb.QueryInput
	ratings []int
}

// sufficient returns how many comments must be scanned to fill a page and to see whether more
// follow.
func (s sieve) sufficient(b *testing.B) *int32 {
	for limit := int32(pageSize + 1); ; limit++ {
		s.input.Limit = &limit
		if kept := len(s.read(b)); kept > pageSize {
			return &limit
		}
	}
}

// page is a page as a server sends it.
func (s sieve) page(b *testing.B) []byte {
	comments := make([]bareComment, pageSize)
	for i, item := range s.read(b)[:pageSize] {
		comments[i] = must.Get(bareDecode(item))(b)
	}
	return must.Get(json.Marshal(comments))(b)
}

// read reads the items and drops those of other ratings that the table left.
func (s sieve) read(b *testing.B) []map[string]types.AttributeValue {
	input := s.input
	output := must.Get(s.client.Query(b.Context(), &input))(b)
	if s.input.FilterExpression != nil {
		return output.Items
	}
	return slices.DeleteFunc(output.Items, func(item map[string]types.AttributeValue) bool {
		rating, err := strconv.Atoi(item["r"].(*types.AttributeValueMemberN).Value)
		return err != nil || !slices.Contains(s.ratings, rating)
	})
}

// inTable makes the table filter by rating.
func inTable(input dynamodb.QueryInput, ratings []int) (*string, map[string]types.AttributeValue) {
	values := map[string]types.AttributeValue{":p": input.ExpressionAttributeValues[":p"]}
	names := ""
	for _, rating := range ratings {
		name := ":r" + strconv.Itoa(rating)
		values[name] = &types.AttributeValueMemberN{Value: strconv.Itoa(rating)}
		names += "," + name
	}
	return aws.String("r IN (" + names[1:] + ")"), values
}
