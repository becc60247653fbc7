package redis

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// What is stored, for a table "comments" and a product "4711":
//
//	talkback:comments                          hash     which generations there are, see redis.go
//	talkback:comments:products                 set      "GENERATION 4711" of each state; not in a cluster
//	talkback:comments:{4711}:GENERATION:state  hash     for each cell how many comments; version
//	talkback:comments:{4711}:GENERATION:all    hash     for each position the cell and what it follows
//	talkback:comments:{4711}:GENERATION:5de    sorted   positions of the cell, by their milliseconds;
//	                                                    5Cde for traits, see cellText
//	talkback:comments:{4711}:GENERATION:gone:… text     what a deletion follows; expires
//
// A position is its 16 bytes: members of the same score sort by their bytes. All of a product is in
// one slot of a cluster, since only what is in braces decides about that.
type keys struct{ table string }

// prefix begins all keys.
const prefix = "talkback:"

// Fields, and ends of keys, that are not cells. A cell begins with a digit.
const (
	stateName    = "state"
	entriesName  = "all"
	goneName     = "gone:"
	fieldVersion = "version"
	// neverName is the end of a key that never exists. While a slot moves to another server of a
	// cluster, and only then, Redis refuses a script that names this key beside others (TRYAGAIN),
	// before the script begins. Without it, a script could fail halfway at a key that has moved,
	// and Redis undoes nothing.
	neverName = "never"
)

func (k keys) meta() string { return prefix + k.table }

func (k keys) products() string { return prefix + k.table + ":products" }

// listedAs is the member of the set of products for a product in a generation. In a cluster there
// is no such set.
func listedAs(product, generation string) string { return generation + " " + product }

// of returns the prefix of a product's keys.
func (k keys) of(product, generation string) string {
	return prefix + k.table + ":{" + url.QueryEscape(product) + "}:" + generation + ":"
}

// listed returns what listedAs returns of the product and the generation of each state key. It
// leaves out other keys.
func (k keys) listed(keys []string) (out []string) {
	for _, key := range keys {
		escaped, rest, _ := strings.Cut(strings.TrimPrefix(key, prefix+k.table+":{"), "}:")
		generation, end, _ := strings.Cut(rest, ":")
		if product, err := url.QueryUnescape(escaped); err == nil && end == stateName {
			out = append(out, listedAs(product, generation))
		}
	}
	return out
}

// cellText encodes a cell as its rating, a capital letter for its traits if it has any, and its
// language, such as "5de" or "5Cde"; empty for nil.
func cellText(cell *comment.Cell) string {
	if cell == nil {
		return ""
	}
	text := strconv.Itoa(cell.Rating)
	if cell.Traits > 0 {
		text += string(rune(noTraits + cell.Traits))
	}
	return text + string(cell.Language)
}

// parseCell decodes what cellText encoded. ok is false for any other text.
func parseCell(text string) (cell comment.Cell, ok bool) {
	if text == "" {
		return cell, false
	}
	cell = comment.Cell{Rating: int(text[0]) - '0', Language: comment.Language(text[1:])}
	if len(text) > 1 && text[1] > noTraits && text[1] < noTraits+comment.TraitSets {
		cell.Traits, cell.Language = comment.Traits(text[1]-noTraits), comment.Language(text[2:])
	}
	return cell, comment.CheckRating(cell.Rating) == nil
}

// noTraits is the character before the letters that encode traits. Languages begin with lower-case
// letters.
const noTraits = '@'

// milliseconds returns the score of a position.
func milliseconds(p comment.Position) int64 { return p.Time().UnixMilli() }
