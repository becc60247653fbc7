package layout

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// The counts of a product are one string, such as "de=1,0,0,4,20 en=0,0,2,3,11": the languages in
// the order of their tags, each with the counts of 1 to 5 stars. A language without comments is
// left out. Equal counts have equal texts, so any text that GridText cannot return is damaged. The
// split by traits is in AttrSplit.
//
// A count that someone lowered by hand can fall below zero. It is written with its sign, and
// verify reports it as a wrong count.

// GridText returns counts as stored in the item of statistics.
func GridText(stats comment.Stats) string {
	var out []byte
	for i, language := range slices.Sorted(maps.Keys(stats)) {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(append(out, language...), '=')
		out = appendCounts(out, stats[language].Counts)
	}
	return string(out)
}

// CountsText returns the counts of one language, such as "1,0,0,4,20".
func CountsText(counts comment.Counts) string { return string(appendCounts(nil, counts)) }

func appendCounts(to []byte, counts comment.Counts) []byte {
	for i, n := range counts {
		if i > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendInt(to, int64(n), 10)
	}
	return to
}

// errGrid contains nothing of the text, which may be private.
var errGrid = errors.New("not counts by language and rating")

// ParseGrid parses the result of GridText.
func ParseGrid(text string) (comment.Stats, error) {
	stats := make(comment.Stats, strings.Count(text, "="))
	if text == "" {
		return stats, nil
	}
	last, rest, more := "", text, true
	for more {
		var row string
		row, rest, more = strings.Cut(rest, " ")
		language, list, _ := strings.Cut(row, "=")
		counts, err := ParseCounts(list)
		tag := comment.IsTag(language) || comment.Language(language) == comment.OtherLanguages
		if err != nil || !tag || language <= last {
			return nil, errGrid
		}
		stats[comment.Language(language)], last = comment.Row{Counts: counts}, language
	}
	return stats, nil
}

// ParseCounts parses the result of CountsText for a language with comments.
func ParseCounts(text string) (counts comment.Counts, err error) {
	rest := text
	for i := range counts {
		var digits string
		digits, rest, _ = strings.Cut(rest, ",")
		if counts[i], err = strconv.Atoi(digits); err != nil {
			return comment.Counts{}, errGrid
		}
	}
	if counts == (comment.Counts{}) || string(appendCounts(make([]byte, 0, 64), counts)) != text {
		return comment.Counts{}, errGrid
	}
	return counts, nil
}
