package comment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
)

// fuzzed makes a filter of what a fuzzer can vary. Languages are parted by commas, ratings are
// bytes; a time of 0 is none.
func fuzzed(languages string, ratings []byte, after, before int64) comment.Filter {
	var f comment.Filter
	if languages != "" {
		for tag := range strings.SplitSeq(languages, ",") {
			f.Languages = append(f.Languages, comment.Language(tag))
		}
	}
	for _, rating := range ratings {
		f.Ratings = append(f.Ratings, int(int8(rating)))
	}
	if after != 0 {
		f.CreatedAfter = new(time.Unix(0, after))
	}
	if before != 0 {
		f.CreatedBefore = new(time.Unix(0, before))
	}
	return f
}

// Normalizing never panics, does nothing the second time, and does not change what a filter allows.
func FuzzFilter(f *testing.F) {
	f.Add("", []byte{}, int64(0), int64(0), int64(1), 1, "en")
	f.Add("fr,de,fr", []byte{5, 1, 5}, int64(1_000_001), int64(2_000_001), int64(2), 5, "de")
	f.Add("en,", []byte{1, 2, 3, 4, 5}, int64(-1), int64(1), int64(0), 3, "")
	f.Add("en", []byte{0, 6, 255}, int64(5), int64(5), int64(7), 0, "en")
	f.Fuzz(func(t *testing.T, languages string, ratings []byte, after, before, created int64, rating int, language string) {
		filter := fuzzed(languages, ratings, after, before)
		once, err := filter.Normalize()
		if err != nil {
			if comment.KindOf(err) != comment.BadInput {
				t.Fatalf("an error of kind %d: %v", comment.KindOf(err), err)
			}
			return
		}
		twice, err := once.Normalize()
		if diff := cmp.Diff(once, twice); err != nil || diff != "" {
			t.Fatalf("normalizing again changes it: %v %s", err, diff)
		}
		c := comment.Comment{
			ID:     comment.IDOf(comment.FirstAt(time.UnixMilli(created))),
			Rating: min(max(rating, 1), comment.MaxRating), Language: comment.Language(language),
		}
		if filter.Allows(c) != once.Allows(c) {
			t.Fatalf("normalizing %+v to %+v changes whether it allows %+v", filter, once, c)
		}
	})
}
