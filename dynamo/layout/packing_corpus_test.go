package layout

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/sample"
)

// corpus is a set of comments on which ways of packing are measured.
type corpus struct {
	name     string
	comments []comment.Comment
	// training is what the dictionary is made of: sample comments of the project, none of which is
	// in comments.
	training []comment.Comment
	// such are other comments of the same kind: a dictionary made of them is the best possible one.
	such []comment.Comment
}

// longTexts is the corpus of long comments that share nothing with our dictionary but the
// languages.
const longTexts = "300-600 bytes, other sentences"

// made is how many comments of the sample are enough to measure and to make dictionaries.
const made = 2000

// lengths are minimal lengths of texts in bytes. For each, the comments of a file with at least
// that length are measured.
var lengths = []int{0, 100, 200, 300}

// corpora returns the sample's comments, longer ones, and those of the file that DATA names, if it
// is set.
func corpora(t testing.TB) []corpus {
	t.Helper()
	all := slices.Collect(sample.Comments())[:made]
	measured, others := apart(all)
	r := rand.New(rand.NewPCG(1, 1))
	heardOthers := composed(r, others, heard)
	out := []corpus{
		{"the sample", measured, others, others},
		{"300-600 bytes, sentences of the dictionary", composed(r, measured, heard), heardOthers, heardOthers},
		{longTexts, composed(r, measured, unheard), heardOthers, composed(r, others, unheard)},
	}
	if name := os.Getenv("DATA"); name != "" {
		training := slices.Concat(all, composed(r, all, func(string) bool { return true }))
		out = append(out, ofFile(t, name, training)...)
	}
	return out
}

// ofFile returns a corpus of a file's comments for each minimal length that leaves enough comments
// for a page.
func ofFile(t testing.TB, name string, training []comment.Comment) (out []corpus) {
	t.Helper()
	read := fromFile(t, name)
	for _, length := range lengths {
		long := slices.DeleteFunc(slices.Clone(read), func(c comment.Comment) bool { return len(c.Text) < length })
		if measured, such := apart(long); len(measured) > slices.Max(pageSizes) {
			out = append(out, corpus{fmt.Sprintf("%s, texts from %d bytes on", filepath.Base(name), length), measured, training, such})
		}
	}
	return out
}

// apart splits comments into two halves and keeps their order.
func apart(comments []comment.Comment) (even, odd []comment.Comment) {
	for i, c := range comments {
		if i%2 == 0 {
			even = append(even, c)
		} else {
			odd = append(odd, c)
		}
	}
	return even, odd
}

// fromFile reads the comments of a file that needs no mapping of columns, without bad rows. If the
// file has no language, the comments have the language Undetermined.
func fromFile(t testing.TB, name string) []comment.Comment {
	t.Helper()
	out, err := readFile(name, "")
	if err != nil {
		out, err = readFile(name, comment.Undetermined)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readFile(name string, language comment.Language) (out []comment.Comment, err error) {
	source, err := reviewfile.Open(name, nil)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	reader, err := reviewfile.NewReader(source, reviewfile.Options{Format: reviewfile.FormatOf(name), Language: language})
	if err != nil {
		return nil, err
	}
	for {
		row, err := reader.Next()
		var bad *reviewfile.RowError
		switch {
		case err == io.EOF:
			return out, nil
		case errors.As(err, &bad):
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, row.Comment)
	}
}

// sentence matches a sentence of any of the sample's languages.
var sentence = regexp.MustCompile(`[^.!?。！？؟]+[.!?。！？؟]+`)

// heard reports whether a sentence is in the half of which dictionaries are made.
func heard(text string) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text)) // never fails
	return hash.Sum32()%2 == 0
}

func unheard(text string) bool { return !heard(text) }

// composed replaces the texts of comments by texts of 300 to 600 bytes. They consist of sentences
// of all comments in the same language that fit. Authors have IDs as shops assign them, which no
// dictionary can know. Titles that do not fit are replaced too.
func composed(r *rand.Rand, comments []comment.Comment, fits func(string) bool) []comment.Comment {
	said := map[comment.Language][]string{}
	for _, c := range comments {
		for _, text := range sentence.FindAllString(c.Text, -1) {
			text = strings.TrimSpace(text)
			if fits(text) && !slices.Contains(said[c.Language], text) {
				said[c.Language] = append(said[c.Language], text)
			}
		}
	}
	out := slices.Clone(comments)
	for i := range out {
		c := &out[i]
		c.Text = someOf(r, said[c.Language], 300+r.IntN(300))
		c.Author.ID = fmt.Sprintf("%012x", r.Uint64()>>16)
		if c.Title != nil && !fits(*c.Title) {
			title := said[c.Language][r.IntN(len(said[c.Language]))]
			c.Title = &title
		}
	}
	return out
}

// someOf joins sentences, each at most once, up to about a size.
func someOf(r *rand.Rand, sentences []string, size int) string {
	var out strings.Builder
	for _, i := range r.Perm(len(sentences)) {
		if out.Len() > 0 && out.Len()+len(sentences[i]) > size {
			break
		}
		out.WriteString(sentences[i] + " ")
	}
	return strings.TrimSpace(out.String())
}
