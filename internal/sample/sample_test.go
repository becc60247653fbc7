package sample_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/sample"
)

// comments are those of the sample, made once for all tests.
var comments = sync.OnceValue(func() []comment.Comment { return slices.Collect(sample.Comments()) })

// The sample is the same everywhere and for ever: documents and tests speak of it. A change on
// purpose changes this too.
func TestStaysTheSame(t *testing.T) {
	const want = "6ce4c31796cdddd786206d35bf12b6913909181edf15c6237597c25e6e478a32"
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for c := range sample.Comments() {
		must.Do(t, encoder.Encode(c))
	}
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != want {
		t.Errorf("the hash of all comments is %s, want %s", got, want)
	}
}

func TestEveryCommentCanBeKept(t *testing.T) {
	begin, end := time.Date(2018, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var before comment.ID
	for _, c := range comments() {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", c, err)
		}
		if c.ID <= before {
			t.Errorf("%s comes after %s", c.ID, before)
		}
		before = c.ID
		if c.CreatedAt().Before(begin) || !c.CreatedAt().Before(end) {
			t.Errorf("%s was written at %s", c, c.CreatedAt())
		}
		if edited := c.UpdatedAt != nil; edited != (c.Version == 2) || edited && (c.UpdatedAt.Before(c.CreatedAt()) || !c.UpdatedAt.Before(end)) {
			t.Errorf("%s is version %d, edited at %v", c, c.Version, c.UpdatedAt)
		}
		if strings.ContainsAny(c.Text, "{}") || c.Title != nil && strings.ContainsAny(*c.Title, "{}") {
			t.Errorf("%s has a gap in its text", c)
		}
	}
}

// shares returns the share of the comments with each value of a property.
func shares[K comparable](by func(comment.Comment) K) map[K]float64 {
	out := map[K]float64{}
	for _, c := range comments() {
		out[by(c)] += 1 / float64(len(comments()))
	}
	return out
}

func TestShares(t *testing.T) {
	for rating, want := range shares(func(c comment.Comment) int { return c.Rating }) {
		if real := []float64{0, .06, .04, .08, .20, .62}[rating]; math.Abs(want-real) > .015 {
			t.Errorf("%d stars have a share of %.3f, in life about %.2f", rating, want, real)
		}
	}
	languages := shares(func(c comment.Comment) comment.Language { return c.Language })
	if len(languages) < 6 {
		t.Errorf("languages: %v, want six at least", languages)
	}
	for language, share := range languages {
		if share < .02 {
			t.Errorf("%s has a share of %.3f, too few to see", language, share)
		}
	}
	products := shares(func(c comment.Comment) string { return c.ProductID })
	if hot := products[sample.HotProduct]; hot < .48 || hot > .52 || len(products) < 300 || len(products) > 401 {
		t.Errorf("%d products, the hot one with a share of %.3f; want about 400 and a half", len(products), hot)
	}
	for name, by := range map[string]func(comment.Comment) bool{
		"edited":        func(c comment.Comment) bool { return c.Version > 1 },
		"untitled":      func(c comment.Comment) bool { return c.Title == nil },
		"of many lines": func(c comment.Comment) bool { return strings.Contains(c.Text, "\n") },
		"without words": func(c comment.Comment) bool { return c.Text == "" },
		"with pictures": func(c comment.Comment) bool { return len(c.Media) > 0 },
		"with votes":    func(c comment.Comment) bool { return c.Votes.Helpful > 0 },
		"disputed":      func(c comment.Comment) bool { return c.Votes.NotHelpful > 0 },
		"not verified":  func(c comment.Comment) bool { return !c.Verified },
	} {
		if share := shares(by)[true]; share < .005 || share > .22 {
			t.Errorf("a share of %.3f is %s; want some, not many", share, name)
		}
	}
}

func TestLooksLikeLife(t *testing.T) {
	texts, seconds, authors := map[string]int{}, map[string]int{}, map[string]int{}
	perYear, perHour := map[int]int{}, map[int]int{}
	about := map[string]bool{}
	for _, c := range comments() {
		texts[c.Text]++
		seconds[c.ProductID+c.CreatedAt().Format(time.RFC3339)]++
		authors[c.Author.ID]++
		perYear[c.CreatedAt().Year()]++
		perHour[c.CreatedAt().Hour()]++
		pair := c.Author.ID + " " + c.ProductID
		if about[pair] {
			t.Errorf("%s writes about a product twice", pair)
		}
		about[pair] = true
	}
	if share := float64(len(texts)) / float64(len(comments())); share < .9 {
		t.Errorf("only %.2f of the texts differ", share)
	}
	bursts, frequent := 0, 0
	for _, n := range seconds {
		if n >= 3 {
			bursts++
		}
	}
	for _, n := range authors {
		if n >= 4 {
			frequent++
		}
	}
	if bursts < 10 || frequent < 50 {
		t.Errorf("%d bursts within a second, %d authors of four or more; want some", bursts, frequent)
	}
	if perYear[2025] < 2*perYear[2019] || perHour[20] < 4*perHour[3] {
		t.Errorf("no rhythm in %v and %v", perYear, perHour)
	}
	if len(perYear) != 9 {
		t.Errorf("years: %v, want 2018 to 2026", perYear)
	}
}

// Each language is written in its own script.
func TestScripts(t *testing.T) {
	scripts := map[comment.Language][]*unicode.RangeTable{
		"en": {unicode.Latin}, "de": {unicode.Latin}, "fr": {unicode.Latin}, "es": {unicode.Latin},
		"ja": {unicode.Hiragana, unicode.Katakana, unicode.Han}, "zh": {unicode.Han}, "ar": {unicode.Arabic},
	}
	for _, c := range comments() {
		for _, r := range c.Text + c.Author.Name {
			own := unicode.In(r, scripts[c.Language]...) || r == 'ー'
			if unicode.IsLetter(r) && !own {
				t.Errorf("%s, in %s, has the letter %q", c, c.Language, r)
			}
		}
	}
}

// Every picture is shown, and is of the one format that sizes are read from.
func TestPictures(t *testing.T) {
	sizes := map[string]comment.Media{}
	for _, c := range comments() {
		for _, m := range c.Media {
			sizes[m.Path] = m
		}
	}
	files, err := fs.ReadDir(sample.Pictures(), ".")
	if err != nil || len(files) != len(sizes) {
		t.Errorf("%d of %d pictures are shown: %v", len(sizes), len(files), err)
	}
	for path, m := range sizes {
		file, err := fs.ReadFile(sample.Pictures(), path)
		if err != nil || string(file[8:16]) != "WEBPVP8 " || min(m.Width, m.Height) < 480 || max(m.Width, m.Height) > 640 {
			t.Errorf("%s, of %d x %d: %v", path, m.Width, m.Height, err)
		}
	}
}
