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
//	talkback:comments:{4711}:GENERATION:5de    sorted   positions of the cell, by their milliseconds
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

// listedAs is the member of the set of products for a product in a generation.
func listedAs(product, generation string) string { return generation + " " + product }

// of returns the prefix of a product's keys.
func (k keys) of(product, generation string) string {
	return prefix + k.table + ":{" + url.QueryEscape(product) + "}:" + generation + ":"
}

// productOf returns the product of a state key of a generation; ok is false for any other key.
func (k keys) productOf(key, generation string) (product string, ok bool) {
	escaped, found := strings.CutSuffix(key, "}:"+generation+":"+stateName)
	product, err := url.QueryUnescape(strings.TrimPrefix(escaped, prefix+k.table+":{"))
	return product, found && err == nil
}

// generationOf returns the generation of a product's key.
func generationOf(key string) string {
	_, rest, _ := strings.Cut(key, "}:")
	generation, _, _ := strings.Cut(rest, ":")
	return generation
}

// stateOf returns the state key of the product and the generation of a key.
func stateOf(key string) string {
	end := strings.Index(key, "}:") + len("}:")
	return key[:end] + generationOf(key) + ":" + stateName
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
