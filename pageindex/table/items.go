package table

import (
	"fmt"
	"unique"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

const (
	chunkPrefix = "K#"
	// attrVersion is the directory's version, N, for conditional writes.
	attrVersion = "n"
)

func chunkSK(key runs.Key) string { return chunkPrefix + key.String() }

func chunkKeys(product string, keys []runs.Key) []layout.Item {
	out := make([]layout.Item, len(keys))
	for i, key := range keys {
		out[i] = layout.PagesKey(product, chunkSK(key))
	}
	return out
}

// content returns the bytes of an attribute, nil if it is missing or of another type.
func content(it layout.Item, attr string) []byte {
	if value, ok := it[attr].(*types.AttributeValueMemberB); ok {
		return value.Value
	}
	return nil
}

// stored is the directory and the log of a product, as read.
type stored struct {
	directory runs.Directory
	log       []runs.Entry
}

// decodeMarkers appends the markers of counted comments to out.
func decodeMarkers(out []runs.Marker, items []layout.Item) ([]runs.Marker, error) {
	for _, it := range items {
		r := layout.NewReader(it)
		text := r.OptionalText(layout.AttrCell)
		if text == "" {
			continue
		}
		cell, err := layout.ParseCell(text)
		if err != nil {
			return nil, fmt.Errorf("marker %s: attribute %q is %w", r.Text(layout.AttrSK), layout.AttrCell, err)
		}
		position, err := comment.ParsePosition(r.Text(layout.AttrSK)[len(layout.MarkerSKPrefix):])
		if err != nil {
			return nil, err
		}
		cell.Language = unique.Make(cell.Language).Value() // a substring would keep the whole answer in memory
		out = append(out, runs.Marker{Position: position, Cell: cell})
	}
	return out, nil
}
