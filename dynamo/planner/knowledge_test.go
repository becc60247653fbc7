package planner

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Statistics that combine languages in one row never skip a read of one of them.
func TestSharedRowsAreNotEmpty(t *testing.T) {
	known := Knowledge{Trusted: true, Stats: comment.Stats{"en": {Counts: comment.Counts{0, 0, 0, 0, 4}}, comment.OtherLanguages: {Counts: comment.Counts{1, 0, 0, 0, 0}}}}
	for _, row := range []struct {
		why  string
		part Part
		want bool
	}{
		{"a language with a row that says none", Part{Partition: layout.Partition{Index: layout.ByLangAndRating, Language: "en", Rating: 1}}, true},
		{"a language that may be one of those that share one", Part{Partition: layout.Partition{Index: layout.ByLang, Language: "xx"}}, false},
		{"a rating that none of them has", Part{Partition: layout.Partition{Index: layout.ByLangAndRating, Language: "xx", Rating: 5}}, true},
		{"a rating that one of them has", Part{Partition: layout.Partition{Index: layout.ByLangAndRating, Language: "xx", Rating: 1}}, false},
		{"any language with a rating that one of them has", Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 1}}, false},
	} {
		if got := known.empty(row.part.wanted(comment.Filter{})); got != row.want {
			t.Errorf("%s: known to be empty: %v", row.why, got)
		}
	}
}
