package moderation

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/fetch"
)

// maxRulesBytes bounds a file of rules.
const maxRulesBytes = 64 << 10

// rulesFile is a file of rules, in JSON. A rule that is left out never holds.
type rulesFile struct {
	Link          bool      `json:"link"`
	RatingUpTo    stars     `json:"ratingUpTo"`
	WordsFile     fileName  `json:"wordsFile"`
	LanguageNotIn languages `json:"languageNotIn"`
	NotVerified   bool      `json:"notVerified"`
	FirstComment  bool      `json:"firstComment"`
}

// ruleNames are the rules of a file, for errors.
const ruleNames = "link, ratingUpTo, wordsFile, languageNotIn, notVerified and firstComment"

// values says, for errors, which values a rule takes if they are not true and false.
var values = map[string]string{
	"ratingUpTo":    "takes 1 to 4, the most stars of a comment that waits; --moderation hold holds all",
	"wordsFile":     `takes the path of a file with a word on each line, such as "words.txt"`,
	"languageNotIn": `takes a list of the languages that do not wait, such as ["en", "pt-BR"]`,
}

type (
	stars     int
	fileName  string
	languages []comment.Language
)

var errValue = errors.New("the value is not allowed")

// UnmarshalJSON reads a number of stars. It refuses comment.MaxRating, with which the rule would
// hold every comment.
func (s *stars) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*int)(s)); err != nil || *s < 1 || *s >= comment.MaxRating {
		return errValue
	}
	return nil
}

// UnmarshalJSON reads a path, which must not be empty.
func (f *fileName) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*string)(f)); err != nil || *f == "" {
		return errValue
	}
	return nil
}

// UnmarshalJSON reads a list of languages. An empty one would hold every comment.
func (l *languages) UnmarshalJSON(text []byte) error {
	var tags []string
	if err := json.Unmarshal(text, &tags); err != nil || len(tags) == 0 {
		return errValue
	}
	for _, tag := range tags {
		language, err := comment.ParseLanguage(tag)
		if err != nil {
			return err
		}
		*l = append(*l, language)
	}
	return nil
}

// parseRules reads a file of rules, and the file of words that it names. The path of the latter is
// relative to the folder of the rules. A file without rules is refused: it would publish
// everything.
func parseRules(path string, text []byte) (rules, error) {
	var file rulesFile
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		at, reason := explain(err)
		return rules{}, fmt.Errorf("%s:%d: %s", path, 1+bytes.Count(text[:min(at, len(text))], []byte("\n")), reason)
	}
	out := rules{
		link: file.Link, ratingUpTo: int(file.RatingUpTo), languages: file.LanguageNotIn,
		unverified: file.NotVerified, firstComment: file.FirstComment,
	}
	if file.WordsFile == "" {
		if !out.link && out.ratingUpTo == 0 && out.languages == nil && !out.unverified && !out.firstComment {
			return out, fmt.Errorf("%s holds no rule: add some of %s, or give --moderation publish", path, ruleNames)
		}
		return out, nil
	}
	name := string(file.WordsFile)
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(path), name)
	}
	words, err := readFile(name, maxWordBytes)
	if err != nil {
		return out, fmt.Errorf("wordsFile of the rules: %w", err)
	}
	out.words, err = parseWords(name, words)
	return out, err
}

// explain returns where in the file an error is, and what to change there.
func explain(err error) (offset int, reason string) {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return int(syntax.ByteOffset), fmt.Sprintf("%q stands twice: remove one of them", syntax.JSONPointer.LastToken())
		}
		return int(syntax.ByteOffset), fmt.Sprintf("the file is not JSON: %v", syntax.Err)
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return 0, err.Error()
	}
	rule := wrong.JSONPointer.LastToken()
	switch {
	case errors.Is(wrong, json.ErrUnknownName):
		reason = fmt.Sprintf("there is no rule %.40q: the rules are %s", rule, ruleNames)
	case rule == "":
		reason = `the file is not a JSON object, such as {"link": true}`
	case comment.MessageOf(wrong) != "":
		reason = fmt.Sprintf("%s: %s", rule, comment.MessageOf(wrong))
	case values[rule] != "":
		reason = rule + " " + values[rule]
	default:
		reason = rule + " takes true or false"
	}
	return int(wrong.ByteOffset), reason
}

// readFile reads a file of a bounded length. It leaves out the byte order mark that some editors
// write.
func readFile(path string, most int) ([]byte, error) {
	text, err := fetch.File(path, most)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
