package counts_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// gridForm is a way to store the counts of a product. The table has the one named string.
type gridForm struct {
	name   string
	encode func(comment.Stats) types.AttributeValue
	decode func(types.AttributeValue) comment.Stats
	json   func(types.AttributeValue) string
}

var gridForms = []gridForm{
	{"map", listsOf, ofLists, func(v types.AttributeValue) string {
		var rows []string
		for language, row := range v.(*types.AttributeValueMemberM).Value {
			var numbers []string
			for _, n := range row.(*types.AttributeValueMemberL).Value {
				numbers = append(numbers, `{"N":"`+n.(*types.AttributeValueMemberN).Value+`"}`)
			}
			rows = append(rows, `"`+language+`":{"L":[`+strings.Join(numbers, ",")+`]}`)
		}
		return `{"M":{` + strings.Join(rows, ",") + `}}`
	}},
	{"string", func(stats comment.Stats) types.AttributeValue { return layout.Text(layout.GridText(stats)) },
		func(v types.AttributeValue) comment.Stats {
			stats, _ := layout.ParseGrid(v.(*types.AttributeValueMemberS).Value)
			return stats
		},
		func(v types.AttributeValue) string { return `{"S":"` + v.(*types.AttributeValueMemberS).Value + `"}` }},
	{"binary", varintsOf, ofVarints, func(v types.AttributeValue) string {
		return `{"B":"` + base64.StdEncoding.EncodeToString(v.(*types.AttributeValueMemberB).Value) + `"}`
	}},
}

func listsOf(stats comment.Stats) types.AttributeValue {
	grid := layout.Item{}
	for language, counts := range stats {
		row := &types.AttributeValueMemberL{}
		for _, n := range counts.Counts {
			row.Value = append(row.Value, layout.Number(int64(n)))
		}
		grid[string(language)] = row
	}
	return &types.AttributeValueMemberM{Value: grid}
}

func ofLists(v types.AttributeValue) comment.Stats {
	rows := v.(*types.AttributeValueMemberM).Value
	stats := make(comment.Stats, len(rows))
	for language, row := range rows {
		var counts comment.Counts
		for i, n := range row.(*types.AttributeValueMemberL).Value {
			counts[i], _ = strconv.Atoi(n.(*types.AttributeValueMemberN).Value)
		}
		stats[comment.Language(language)] = comment.Row{Counts: counts}
	}
	return stats
}

// varintsOf writes a version, and for each language its length, its tag and five varints.
func varintsOf(stats comment.Stats) types.AttributeValue {
	out := []byte{1}
	for _, language := range slices.Sorted(maps.Keys(stats)) {
		out = append(append(out, byte(len(language))), language...)
		for _, n := range stats[language].Counts {
			out = binary.AppendVarint(out, int64(n))
		}
	}
	return layout.Binary(out)
}

func ofVarints(v types.AttributeValue) comment.Stats {
	rest := v.(*types.AttributeValueMemberB).Value[1:]
	stats := comment.Stats{}
	for len(rest) > 0 {
		end := 1 + int(rest[0])
		var counts comment.Counts
		language := comment.Language(rest[1:end])
		rest = rest[end:]
		for i := range counts {
			n, bytes := binary.Varint(rest)
			counts[i], rest = int(n), rest[bytes:]
		}
		stats[language] = comment.Row{Counts: counts}
	}
	return stats
}

// spread returns the counts of comments in languages of very different use, rated as in a shop.
func spread(comments, languages int) comment.Stats {
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.4, 1, uint64(languages))
	stats := comment.Stats{}
	for n := range comments {
		language := n // each has at least one
		if n >= languages {
			language = int(zipf.Uint64()) % languages
		}
		rating := []int{5, 5, 5, 5, 5, 5, 4, 4, 3, 1}[r.IntN(10)]
		if r.IntN(20) == 0 {
			rating = 2
		}
		stats.Add(comment.Cell{Language: comment.Language([]byte{'a' + byte(language%26), 'a' + byte(language/26)}), Rating: rating}, 1)
	}
	return stats
}

// canned is a table that has the same answer for each call.
type canned []byte

func (c canned) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(c)), ContentLength: int64(len(c)), Request: r}, nil
}

// BenchmarkGridForms fetches the counts of 20 products with the SDK and decodes them, in each form.
// bytes is the size of the attribute in each item.
func BenchmarkGridForms(b *testing.B) {
	for _, size := range []struct{ comments, languages int }{{26_880, 1}, {24_998, 5}, {3_000, 10}, {100_000, 30}, {100_000, 100}, {1_000_000, 100}} {
		stats := spread(size.comments, size.languages)
		for _, form := range gridForms {
			b.Run(fmt.Sprintf("comments=%d/languages=%d/%s", size.comments, size.languages, form.name), func(b *testing.B) {
				value := form.encode(stats)
				item := `{"PK":{"S":"P#1"},"g":` + form.json(value) + `}`
				answer := `{"Responses":{"t":[` + strings.Repeat(item+",", 19) + item + `]},"UnprocessedKeys":{}}`
				client := call.Over(call.NewLocalClient("http://localhost"), canned(answer))
				keys := types.KeysAndAttributes{Keys: []layout.Item{layout.ProductKey("1", layout.StatisticsSK)}}
				b.ReportAllocs()
				for b.Loop() {
					got, err := call.GetItems(b.Context(), client, "t", keys)
					if err != nil {
						b.Fatal(err)
					}
					for _, it := range got.Items {
						if len(form.decode(it[layout.AttrGrid])) != size.languages {
							b.Fatal("languages are missing")
						}
					}
				}
				b.ReportMetric(float64(layout.SizeOf(layout.Item{layout.AttrGrid: value}, []string{layout.AttrGrid})), "bytes")
			})
		}
	}
}
