package layout

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout/deflate"
)

// Version reads the version of a comment. An absent attribute means version 1.
func (r *Reader) Version() int {
	if !r.has(AttrVersion) {
		return 1
	}
	return int(r.Number(AttrVersion))
}

// CheckCell returns an error if no comment can have this language and rating.
func CheckCell(cell comment.Cell) error {
	if !comment.IsTag(string(cell.Language)) {
		return fmt.Errorf("attribute %q is no language", AttrLanguage)
	}
	if comment.CheckRating(cell.Rating) != nil {
		return fmt.Errorf("attribute %q is not a rating of 1 to %d", AttrRating, comment.MaxRating)
	}
	return nil
}

// minSaved is how many bytes compression must save for a text to be stored compressed. A smaller
// saving is not worth a text that people cannot read in the table.
const minSaved = 32

// storedText returns the attribute value that stores a text: binary if compression saves at least
// minSaved bytes.
func storedText(text string) types.AttributeValue {
	if len(text) > minSaved {
		if short := deflate.Compress(text); len(short)+minSaved <= len(text) {
			return Binary(short)
		}
	}
	return Text(text)
}

// expanded reads a text that may be compressed.
func (r *Reader) expanded(attr string) string {
	text, compressed := r.TextOrBinary(attr)
	if compressed == nil {
		return text
	}
	text, err := deflate.Expand(compressed, comment.MaxTextBytes)
	if err != nil {
		r.fail(attr)
	}
	return text
}
