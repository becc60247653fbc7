package moderation

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/talkback/talkback/comment"
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

// values says what the rules that do not take true or false take, for errors.
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

// UnmarshalJSON reads a number of stars. With the most, the rule would hold every comment.
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

// parseRules reads a file of rules, and the file of words that it names. The path of that is
// relative to the folder of the rules.
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
		return out, out.check(path)
	}
	var err error
	out.words, err = readWords(filepath.Dir(path), string(file.WordsFile))
	return out, err
}

// check refuses a file without rules, which would publish everything.
func (r rules) check(path string) error {
	if !r.link && r.ratingUpTo == 0 && r.languages == nil && !r.unverified && !r.firstComment {
		return fmt.Errorf("%s holds no rule: add some of %s, or give --moderation publish", path, ruleNames)
	}
	return nil
}

// readWords reads the file of words that rules in a folder name.
func readWords(folder, name string) (*wordList, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	text, err := readFile(name, maxWordBytes)
	if err != nil {
		return nil, fmt.Errorf("reading wordsFile of the rules: %w", err)
	}
	return parseWords(name, text)
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
	return int(wrong.ByteOffset), explainValue(wrong)
}

// explainValue says what to change of a rule that is valid JSON.
func explainValue(wrong *json.SemanticError) string {
	rule := wrong.JSONPointer.LastToken()
	switch {
	case errors.Is(wrong, json.ErrUnknownName):
		return fmt.Sprintf("there is no rule %.40q: the rules are %s", rule, ruleNames)
	case rule == "":
		return `the file is not a JSON object, such as {"link": true}`
	case comment.MessageOf(wrong) != "":
		return fmt.Sprintf("%s: %s", rule, comment.MessageOf(wrong))
	case values[rule] != "":
		return rule + " " + values[rule]
	}
	return rule + " takes true or false"
}
