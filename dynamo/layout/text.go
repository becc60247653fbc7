package layout

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout/deflate"
	"github.com/talkback/talkback/internal/slab"
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

// Texts expands the compressed texts of some comments.
type Texts struct{ together slab.Strings }

// NewTexts returns a Texts for so many comments.
func NewTexts(comments int) *Texts {
	return &Texts{slab.Strings{Block: min(comments*usualText, mostTogether)}}
}

// Few texts are larger than usualText, in bytes. At most mostTogether are allocated at once: the
// runtime makes several blocks of that size at a time, but each of 8 KB alone, which takes longer.
const (
	usualText    = 512
	mostTogether = 10 << 10
)

// Expand returns a text of a comment. The error names the comment.
func (t *Texts) Expand(id comment.ID, compressed []byte) (string, error) {
	text, err := deflate.ExpandTo(&t.together, compressed, comment.MaxTextBytes)
	if err != nil {
		return "", damagedText(id, err)
	}
	return text, nil
}

func damagedText(id comment.ID, err error) error {
	return fmt.Errorf("item of comment %s: %w", id, err)
}
