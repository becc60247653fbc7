package sample

import (
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/talkback/talkback/comment"
)

// languages are the languages that have phrases.
var languages = []comment.Language{"en", "de", "fr", "es", "ja", "zh", "ar"}

//go:embed phrases/*.json
var files embed.FS

// phrases are the phrases of one language. {n} is replaced by a number from 3 to 10.
type phrases struct {
	language comment.Language

	// Given and Family are parts of names.
	Given, Family []string
	// Titles, Openings and Closings fit any product, by rating.
	Titles, Openings, Closings map[string][]string
	// Contrast are transitions from praise to blame.
	Contrast []string
	// Kinds are the phrases about each kind of product.
	Kinds map[string]struct {
		// Praise and Blame are titles, Good and Bad sentences. Pictures are alternative texts.
		Praise, Blame, Good, Bad, Pictures []string
	}
}

// phrasebooks are the phrases by language.
var phrasebooks = sync.OnceValue(func() map[comment.Language]*phrases {
	out := map[comment.Language]*phrases{}
	for _, language := range languages {
		p := &phrases{language: language}
		text, err := files.ReadFile(fmt.Sprintf("phrases/%s.json", language))
		if err == nil {
			err = json.Unmarshal(text, p)
		}
		if err != nil {
			panic(err) // the files are embedded, and every test of this package reads them
		}
		out[language] = p
	}
	return out
})

// name makes up a name, in the order of the language.
func (p *phrases) name(chance *rand.Rand) string {
	given, family := oneOf(chance, p.Given), oneOf(chance, p.Family)
	switch p.language {
	case "ja":
		return family + " " + given
	case "zh":
		return family + given
	}
	return given + " " + family
}

// write writes a comment with a rating about a kind of product: a title, sometimes none, and a
// text.
func write(chance *rand.Rand, p *phrases, kind string, rating int) (title *string, text string) {
	if chance.IntN(100) == 0 {
		return nil, "" // stars alone
	}
	if chance.IntN(8) > 0 {
		title = new(p.title(chance, kind, rating))
	}
	stars := strconv.Itoa(rating)
	sentences := []string{oneOf(chance, p.Openings[stars])}
	sentences = append(sentences, p.aspects(chance, kind, rating)...)
	text = strings.Join(sentences, p.space())
	if chance.IntN(5) < 3 {
		between := p.space()
		if chance.IntN(5) == 0 {
			between = "\n\n"
		}
		text += between + oneOf(chance, p.Closings[stars])
	}
	for strings.Contains(text, "{n}") { // a number for which all languages here have the same plural
		text = strings.Replace(text, "{n}", strconv.Itoa(3+chance.IntN(8)), 1)
	}
	return title, text
}

// space returns the separator of sentences.
func (p *phrases) space() string {
	if p.language == "ja" || p.language == "zh" {
		return ""
	}
	return " "
}

func (p *phrases) title(chance *rand.Rand, kind string, rating int) string {
	special := p.Kinds[kind].Praise
	if rating < 3 {
		special = p.Kinds[kind].Blame
	}
	if rating != 3 && chance.IntN(3) == 0 {
		return oneOf(chance, special)
	}
	return oneOf(chance, p.Titles[strconv.Itoa(rating)])
}

// aspects returns sentences about the product: praise for many stars, blame for few, both in
// between.
func (p *phrases) aspects(chance *rand.Rand, kind string, rating int) []string {
	good, bad := p.Kinds[kind].Good, p.Kinds[kind].Bad
	switch rating {
	case 5:
		if chance.IntN(8) == 0 {
			return nil
		}
		return some(chance, good, 1+chance.IntN(3))
	case 4:
		out := some(chance, good, 1+chance.IntN(2))
		if chance.IntN(2) == 0 {
			out = append(out, oneOf(chance, p.Contrast), oneOf(chance, bad))
		}
		return out
	case 3:
		return []string{oneOf(chance, good), oneOf(chance, p.Contrast), oneOf(chance, bad)}
	}
	return some(chance, bad, 1+chance.IntN(3))
}

func oneOf(chance *rand.Rand, texts []string) string { return texts[chance.IntN(len(texts))] }

// some returns count different texts.
func some(chance *rand.Rand, texts []string, count int) []string {
	out := make([]string, count)
	for i, at := range chance.Perm(len(texts))[:count] {
		out[i] = texts[at]
	}
	return out
}
