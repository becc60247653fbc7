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

// corpus is what packing is measured on.
type corpus struct {
	name     string
	comments []comment.Comment
	// training is what the dictionary is made of: comments that the project has made up, none of which is in comments.
	training []comment.Comment
	// such are other comments like these: a dictionary of them is the best there can be.
	such []comment.Comment
}

// longTexts is the corpus of long comments of which a dictionary of ours knows nothing but the languages.
const longTexts = "300-600 bytes, other sentences"

// made is how many comments of the sample are enough to measure and to make dictionaries of.
const made = 2000

// lengths are from how many bytes of text on comments of a file are measured by themselves: all of them, and longer ones.
var lengths = []int{0, 100, 200, 300}

// corpora are the sample's comments, longer ones, and those of the file that DATA names, if any.
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

// ofFile are the comments of a file, by lengths as far as they fill a page.
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

// apart parts comments into two halves, each as they come.
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

// fromFile reads the comments of a file that needs no mapping of columns; bad rows are left out. A file that tells no
// language has the one that nobody knows.
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

// sentence is a sentence of any of the sample's languages.
var sentence = regexp.MustCompile(`[^.!?。！？؟]+[.!?。！？؟]+`)

// heard tells whether a sentence is one of the half that a dictionary may be made of.
func heard(text string) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text)) // never fails
	return hash.Sum32()%2 == 0
}

func unheard(text string) bool { return !heard(text) }

// composed gives comments texts of 300 to 600 bytes, put together of the sentences of all of them that fit, in the
// comment's own language. Authors have ids as shops give them, which no dictionary can know, and titles fit too.
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

// someOf puts sentences together, each at most once, up to about a size.
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
