package layout

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout/deflate"
)

// minSaved is how many bytes compression must save for a text to be stored compressed. A smaller
// saving is not worth a text that people cannot read in the table.
const minSaved = 32

// storedText returns the attribute value that stores a text: binary if compression saves at least
// minSaved bytes.
func storedText(text string) types.AttributeValue {
	if len(text) <= minSaved {
		return Text(text)
	}
	short := deflate.Compress(text)
	if len(short)+minSaved > len(text) {
		return Text(text)
	}
	return Binary(short)
}

// plainText returns the text that storedText compressed.
func plainText(short []byte) (string, error) { return deflate.Expand(short, comment.MaxTextBytes) }

func damagedText(id comment.ID, err error) error {
	return fmt.Errorf("item of comment %s: %w", id, err)
}
