package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Items of counting: the statistics of a product, with the head of its page index, and the marker
// of each comment. Package counts writes them, and the page index reads them.
const (
	StatisticsSK   = "S"  // of a product's statistics
	MarkerSKPrefix = "M#" // the position of a marker's comment follows

	// Attributes of statistics.
	AttrChanges = "n" // N, rises with every change
	AttrGrid    = "g" // S, the counts as GridText writes them
	AttrHead    = "i" // B, the head of the page index, encoded by package runs; missing if there is none
	// AttrSplit is also an attribute of the item of a language that shares a row: B, the split of the
	// counts by traits, encoded by package runs; missing if no comment has a trait.
	AttrSplit = "k"

	// AttrCell is an attribute of a marker: S, the cell that the comment is counted in, as CellText
	// writes it; missing if the comment is not counted.
	AttrCell = "s"
)

// CellText returns a cell as stored in a marker, such as "en/5", or "en/5/mv" with traits.
func CellText(cell comment.Cell) string {
	text := string(cell.Language) + "/" + strconv.Itoa(cell.Rating)
	if cell.Traits != 0 {
		text += "/" + cell.Traits.String()
	}
	return text
}

// ParseCell parses the result of CellText.
func ParseCell(text string) (comment.Cell, error) {
	language, rest, _ := strings.Cut(text, "/")
	digits, letters, _ := strings.Cut(rest, "/")
	rating, err := strconv.Atoi(digits)
	cell := comment.Cell{Language: comment.Language(language), Rating: rating, Traits: comment.ParseTraits(letters)}
	if language == "" || err != nil || comment.CheckRating(rating) != nil || CellText(cell) != text {
		return comment.Cell{}, errors.New("not a language, a rating and letters of traits")
	}
	return cell, nil
}

// Items of a product's page index. They have a partition of their own, so that a merge takes no
// write capacity from the product's markers. The directory sorts right before the log, so that one
// Query reads both.
const (
	pagesPKPrefix  = "R#"
	logEntryPrefix = DirectorySK + "#"
	DirectorySK    = "L" // of the directory
	AttrPages      = "v" // B, the content of an item as package runs encodes it
)

// PagesKey returns the primary key of an item of a product's page index.
func PagesKey(product, sortKey string) Item { return Key(pagesPKPrefix+product, sortKey) }

// LogEntrySK returns the sort key of an entry of the log. Keys sort as their numbers do.
func LogEntrySK(number uint64) string { return fmt.Sprintf("%s%016x", logEntryPrefix, number) }

// LogEntryOfSK returns the number of the entry with a sort key; false for other sort keys.
func LogEntryOfSK(sortKey string) (number uint64, ok bool) {
	digits, found := strings.CutPrefix(sortKey, logEntryPrefix)
	number, err := strconv.ParseUint(digits, 16, 64)
	return number, found && err == nil
}

// LogEntryItem returns the item of an entry of the log.
func LogEntryItem(product string, number uint64, encoded []byte) Item {
	out := PagesKey(product, LogEntrySK(number))
	out[AttrPages] = Binary(encoded)
	return out
}
