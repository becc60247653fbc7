package counts

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// cellOf returns the cell that a comment's item is to be counted in. Its error contains neither the
// key nor the values of the item.
func cellOf(it layout.Item) (*comment.Cell, error) {
	r := layout.NewReader(it)
	cell := comment.Cell{Language: comment.Language(r.Text(layout.AttrLanguage)), Rating: int(r.Number(layout.AttrRating)), Traits: r.Traits()}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := layout.CheckCell(cell); err != nil {
		return nil, err
	}
	return &cell, nil
}

func sameCell(a, b *comment.Cell) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func textOf(cell *comment.Cell) string {
	if cell == nil {
		return ""
	}
	return layout.CellText(*cell)
}
