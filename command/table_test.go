package command_test

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// kept is a comment as stored in the table or in an index, without its id, which differs from run
// to run.
type kept struct {
	id                              string
	product, language, rating       string
	title, text, author, authorName string
	version                         string
	edited                          bool
}

func (k kept) compare(other kept) int { return cmp.Compare(k.id, other.id) }

// says is the content of a comment, without its place.
func (k kept) says() string {
	return fmt.Sprintf("%s %s %s %q %q %s %s version %s edited %v", k.product, k.language, k.rating, k.title, k.text, k.author, k.authorName, k.version, k.edited)
}

// indexKeys returns the partition keys that a comment must have, independently of the program's
// code.
func (k kept) indexKeys() map[string]string {
	return map[string]string{
		"A": "P#" + k.product,
		"L": "P#" + k.product + "/" + k.language,
		"R": "P#" + k.product + "/" + k.rating,
		"B": "P#" + k.product + "/" + k.language + "/" + k.rating,
	}
}

// text returns an attribute as text, expanded if it is compressed, or "" if it is missing.
func text(item map[string]types.AttributeValue, name string) string {
	switch value := item[name].(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return value.Value
	case *types.AttributeValueMemberB:
		plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(wholeStream(value.Value))))
		if err != nil {
			return "damaged: " + err.Error()
		}
		return string(plain)
	}
	return ""
}

// wholeStream returns the complete DEFLATE stream of a compressed text. It follows the instructions
// of docs/design/item-size.md for readers in other languages.
func wholeStream(short []byte) []byte {
	if len(short) == 0 || short[0]&6 != 6 {
		return short
	}
	prefix, err := base64.StdEncoding.DecodeString(strings.Fields(textPrefixes()[short[0]>>3])[2])
	if err != nil {
		panic(err) // a file of the project
	}
	return append(prefix, short[1:]...)
}

// textPrefixes are the lines of the file that readers in other languages read.
var textPrefixes = sync.OnceValue(func() []string {
	file, err := os.ReadFile("../dynamo/layout/deflate_prefixes.txt")
	if err != nil {
		panic(err) // likewise
	}
	return strings.Split(string(file), "\n")
})

// scan reads everything in the table, or in an index.
func scan(t testing.TB, client *dynamodb.Client, table, index string) []map[string]types.AttributeValue {
	t.Helper()
	input := &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(index == "")}
	if index != "" {
		input.IndexName = aws.String(index)
	}
	var out []map[string]types.AttributeValue
	for pages := dynamodb.NewScanPaginator(client, input); pages.HasMorePages(); {
		page := must.Get(pages.NextPage(t.Context()))(t)
		out = append(out, page.Items...)
	}
	return out
}

// everything returns all comments of a product in the table. It checks that each is in every index
// exactly once, in the right partition, with the same content, and that nothing else is there.
func everything(t testing.TB, client *dynamodb.Client, table, product string) []kept {
	t.Helper()
	out := keptIn(scan(t, client, table, ""), product)
	checkIndexes(t, client, table, product, out)
	return out
}

// keptIn returns the comments of a product among items of the table; those of all products if it is
// empty.
func keptIn(items []map[string]types.AttributeValue, product string) (out []kept) {
	for _, item := range items {
		if its, listed := strings.CutPrefix(text(item, "A"), "P#"); listed && (its == product || product == "") {
			out = append(out, keptOf(item, its))
		}
	}
	slices.SortFunc(out, kept.compare)
	return out
}

// checkIndexes checks that the indexes have these comments of a product, and no others; of all
// products if it is empty.
func checkIndexes(t testing.TB, client *dynamodb.Client, table, product string, out []kept) {
	t.Helper()
	products := map[string]string{}
	for _, k := range out {
		products[k.id] = k.product
	}
	for index, key := range map[string]string{"all": "A", "byLang": "L", "byRating": "R", "byLangAndRating": "B"} {
		var listed []kept
		for _, item := range scan(t, client, table, index) {
			its, ours := products[text(item, "PK")]
			k := keptOf(item, cmp.Or(its, product))
			if text(item, key) == k.indexKeys()[key] || product == "" && !ours {
				listed = append(listed, k)
			} else if ours {
				t.Errorf("index %s holds %s under %q", index, k.id, text(item, key))
			}
		}
		slices.SortFunc(listed, kept.compare)
		if diff := gocmp.Diff(out, listed, gocmp.AllowUnexported(kept{})); diff != "" {
			t.Errorf("index %s is not what the table is:\n%s", index, diff)
		}
	}
}

func keptOf(item map[string]types.AttributeValue, product string) kept {
	version := text(item, "v")
	version = cmp.Or(version, "1")
	return kept{
		id: text(item, "PK"), product: product, language: text(item, "l"), rating: text(item, "r"),
		title: text(item, "h"), text: text(item, "t"), author: strings.TrimPrefix(text(item, "U"), "c"), authorName: text(item, "n"),
		version: version, edited: text(item, "u") != "",
	}
}
