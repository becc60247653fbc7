package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
)

// unparsed says what is wrong with a command line, and where to find help.
func unparsed(err error, app *kong.Application, arguments []string) error {
	help := "talkback --help"
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return usagef("%w; see %s", err, help)
	}
	selected := parse.Context.Selected()
	named := selected != nil && slices.Contains(arguments, selected.Name)
	if named {
		help = "talkback " + selected.Name + " --help"
	}
	text := err.Error()
	if word, unexpected := strings.CutPrefix(text, "unexpected argument "); unexpected && !named {
		word, _, _ = strings.Cut(word, ", did you mean")
		return usagef("%w; see %s", noCommand(app, word), help)
	}
	if err := blankChoice(parse.Context, text); err != nil {
		return err
	}
	if missing, found := strings.CutPrefix(text, "missing flags: "); found {
		return usagef("%s needs %s; see %s", selected.Name, missing, help)
	}
	if missing, found := strings.CutPrefix(text, "expected "); found && selected != nil && len(selected.Positional) > 0 {
		return usagef("%s needs %s: give it as in talkback %s; see %s", selected.Name, strings.Trim(missing, `"`), selected.Summary(), help)
	}
	if unknownLetter.MatchString(text) {
		text, _, _ = strings.Cut(text, ", did you mean") // every letter resembles every other
	}
	return usagef("%s; see %s", text, help)
}

// blankChoice explains the error that a flag has none of its values, if that is so because its
// environment variable is blank. The parser says so before blank variables are looked for.
func blankChoice(line *kong.Context, text string) error {
	name, _, choice := strings.Cut(text, " must be one of ")
	for _, flag := range line.Flags() {
		if choice && "--"+flag.Name == name {
			return refuseBlankVariable(flag)
		}
	}
	return nil
}

var unknownLetter = regexp.MustCompile(`^unknown flag -[^-],`)

func isCommand(node *kong.Node, name string) bool {
	return slices.ContainsFunc(node.Children, func(child *kong.Node) bool { return child.Name == name })
}

// closeEnough is the largest edit distance of a misspelled command from a suggestion.
const closeEnough = 2

// noCommand returns the error that a command does not exist, with a suggestion.
func noCommand(app *kong.Application, word string) error {
	var near []string
	distance := closeEnough
	for _, child := range app.Children {
		off := levenshtein.ComputeDistance(word, child.Name)
		if strings.HasPrefix(child.Name, word) {
			off = 0
		}
		if off < distance {
			near, distance = nil, off
		}
		if off == distance {
			near = append(near, child.Name)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("there is no command %q", word)
	}
	return fmt.Errorf("there is no command %q; did you mean %s?", word, strings.Join(near, " or "))
}
