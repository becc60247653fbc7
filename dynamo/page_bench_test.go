package dynamo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/sample"
	"github.com/talkback/talkback/internal/usage"
)

// BenchmarkPage measures what the Store takes for a page, from the query to comments with their
// texts. The answers of the table are in memory. The empty page shows what is in it beside its
// comments: the SDK's part of the calls among it.
//
//	go test ./dynamo -run '^$' -bench 'BenchmarkPage$' -benchtime 5000x
func BenchmarkPage(b *testing.B) {
	table := newCannedTable(b)
	for _, row := range []struct {
		name    string
		product string
		filter  comment.Filter
		want    int
	}{
		{"empty", "unknown", comment.Filter{}, 0},
		{"newest 20", sample.HotProduct, comment.Filter{}, comment.DefaultPageSize},
		{"two ratings of a language", sample.HotProduct, comment.Filter{Languages: languages("en"), Ratings: []int{4, 5}}, comment.DefaultPageSize},
		{"all but 1 star", sample.HotProduct, comment.Filter{Ratings: []int{2, 3, 4, 5}}, comment.DefaultPageSize},
	} {
		b.Run(row.name, func(b *testing.B) {
			store := NewStore(call.Over(call.NewLocalClient("http://table"), table), "t", Options{})
			q := comment.Query{Product: row.product, Filter: row.filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: comment.DefaultPageSize}}
			pool := usage.NewPool(1 << 30)
			b.ReportAllocs()
			for b.Loop() {
				operation := pool.Open(1 << 20)
				page, err := store.Comments(usage.With(context.Background(), operation), q)
				operation.Close()
				if err != nil || len(page.Comments) != row.want {
					b.Fatalf("%d comments, %v", len(page.Comments), err)
				}
			}
		})
	}
}

// cannedTable answers a Query with the newest of the sample's comments in its partition, as if
// every one of them passed the residual filter.
type cannedTable struct{ answers map[string][]byte }

func newCannedTable(tb testing.TB) *cannedTable {
	items := map[string][]any{}
	for c := range sample.Comments() {
		if c.ProductID != sample.HotProduct {
			continue
		}
		item := layout.Encode(c)
		shown := layout.Item{layout.AttrPK: item[layout.AttrPK]}
		for _, attr := range layout.ListAttrs() {
			if value, has := item[attr]; has {
				shown[attr] = value
			}
		}
		for _, index := range layout.ListIndexes() {
			key := layout.PartitionOf(index, c).Key(c.ProductID)
			items[key] = append(items[key], dynamotest.JSON(shown))
		}
	}
	table := &cannedTable{answers: map[string][]byte{}}
	for key, all := range items {
		newest := all[max(0, len(all)-comment.DefaultPageSize-1):]
		for i := range len(newest) / 2 {
			newest[i], newest[len(newest)-1-i] = newest[len(newest)-1-i], newest[i]
		}
		table.answers[key] = marshalled(tb, map[string]any{
			"Count": len(newest), "ScannedCount": len(newest), "Items": newest,
			"LastEvaluatedKey": map[string]any{"PK": newest[len(newest)-1].(map[string]any)["PK"], "SK": map[string]any{"S": "C"}},
			"ConsumedCapacity": map[string]any{"TableName": "t", "CapacityUnits": 1.5},
		})
	}
	return table
}

func marshalled(tb testing.TB, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// Do implements [dynamodb.HTTPClient].
func (t *cannedTable) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	_, key, _ := strings.Cut(string(body), `":p":{"S":"`)
	key, _, _ = strings.Cut(key, `"`)
	answer, found := t.answers[key]
	if !found {
		answer = []byte(`{"Count":0,"ScannedCount":0,"Items":[],"ConsumedCapacity":{"TableName":"t","CapacityUnits":0.5}}`)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)), Request: request}, nil
}
