package command

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/internal/output"
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
// environment variable is blank. The parser checks values before refuseBlank does.
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

// variablePrefix begins the names of all environment variables of this program.
const variablePrefix = "TALKBACK_"

// warnOfMisspelt says which environment variables, given as NAME=value, have no effect because they
// are misspelt. A name that resembles none is someone else's: Kubernetes sets TALKBACK_SERVICE_HOST
// and others for a service called talkback.
func warnOfMisspelt(out io.Writer, app *kong.Application, environment []string) {
	names := variables(app.Node)
	screen := output.ScreenOf(out)
	for _, variable := range slices.Sorted(slices.Values(environment)) {
		name, _, _ := strings.Cut(variable, "=")
		if near := resembling(name, names); near != "" {
			line := fmt.Sprintf("the variable %s has no effect; did you mean %s?", output.Printable(name), near)
			_, _ = fmt.Fprintln(out, screen.Fold(screen.Notice("talkback:")+" "+line)) // a failed write is no reason to stop
		}
	}
}

// variables are the names of the environment variables of all commands.
func variables(node *kong.Node) []string {
	var names []string
	for _, flag := range node.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range node.Children {
		names = append(names, variables(child)...)
	}
	return names
}

// resembling returns which of the names a misspelt one was meant to be, "" for one of them, and for one
// that resembles none.
func resembling(name string, names []string) string {
	upper := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if !strings.HasPrefix(upper, variablePrefix) || slices.Contains(names, name) {
		return ""
	}
	near, distance := "", closeEnough+1
	for _, candidate := range names {
		if off := levenshtein.ComputeDistance(upper, candidate); off < distance {
			near, distance = candidate, off
		}
	}
	return near
}

// Help prints the help of a command.
type Help struct {
	Command string `arg:"" optional:"" help:"Command to explain; without one, all are listed." complete:"commands"`
}

// Run prints what --help after the command prints.
func (c *Help) Run(running *kong.Context) error {
	words := []string{"--help"} // without it, kong would select the default command
	if c.Command != "" {
		if !slices.ContainsFunc(running.Model.Children, func(child *kong.Node) bool { return child.Name == c.Command }) {
			return usage(noCommand(running.Model, c.Command))
		}
		words = []string{c.Command}
	}
	line, err := kong.Trace(running.Kong, words)
	if err != nil {
		return err
	}
	return line.PrintUsage(false)
}
