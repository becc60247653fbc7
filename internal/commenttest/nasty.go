package commenttest

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// pieces are the parts that texts of Nasty comments are made of: characters with a meaning in some
// format.
var pieces = []string{
	"", " ", "  ", "\t", "\n", "\u2028", "\u202e", "\ufeff", "\ufffd", "\U0010ffff",
	`"`, `\`, `\n`, `\u0000`, "'", ",", "{", "}", "[", "#", "/", "&amp;", "&", "&#39;", "<br />", "<br>", "<b>", "</script>",
	"ß", "日本語", "👩‍👧", "e\u0301", "null", "0", "1e5", "-", "true",
}

// Nasty returns a comment of a product that is as hard to encode and decode as a comment can be.
func Nasty(r *rand.Rand, product string) comment.Comment {
	c := Random(r, product)
	c.Text = nastyText(r, 0, 12)
	c.Title = nil
	if r.IntN(3) > 0 {
		c.Title = new(nastyText(r, 1, 4))
	}
	c.Author = comment.Author{ID: nastyText(r, 1, 3), Name: nastyText(r, 1, 3), Imported: r.IntN(2) == 0}
	c.Version = 1 + r.IntN(3)
	if r.IntN(2) == 0 {
		updated := time.UnixMilli(r.Int64N(253402300800000)).UTC() // to the end of the year 9999
		c.UpdatedAt = &updated
	}
	return c
}

// nastyText joins random pieces, from least to most of them. Unless least is 0, the text is not
// empty.
func nastyText(r *rand.Rand, least, most int) string {
	var out strings.Builder
	for range least + r.IntN(most-least+1) {
		out.WriteString(pieces[r.IntN(len(pieces))])
	}
	if least > 0 && out.Len() == 0 {
		return " "
	}
	return out.String()
}
