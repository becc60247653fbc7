package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
)

// unparsed explains what is wrong with a command line, and names the help to read.
func unparsed(err error, app *kong.Application, arguments []string) error {
	if unwritten, ok := errors.AsType[*fs.PathError](err); ok && unwritten.Op == "write" {
		return unwritten // the line is valid; writing the help or the version failed
	}
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
	if err := blankValue(parse.Context, text, arguments); err != nil {
		return err
	}
	if missing, found := strings.CutPrefix(text, "missing flags: "); found {
		flags := strings.Split(missing, ", ")
		names := make([]string, len(flags))
		for i, flag := range flags {
			names[i], _, _ = strings.Cut(flag, "=")
		}
		return usagef("%s needs %s, as in %s; see %s", selected.Name, strings.Join(names, " and "), strings.Join(flags, " "), help)
	}
	if missing, found := strings.CutPrefix(text, "expected "); found && selected != nil && len(selected.Positional) > 0 {
		return usagef("%s needs %s: give it as in talkback %s; see %s", selected.Name, strings.Trim(missing, `"`), selected.Summary(), help)
	}
	if word, found := strings.CutPrefix(text, "unknown flag "); found {
		word, _, _ = strings.Cut(word, ", did you mean") // kong takes every short word for every other
		return usagef("unknown flag %s%s; see %s", word, suggestion(parse.Context, word), help)
	}
	text = inVariables(parse.Context, fromVariable.ReplaceAllString(text, "$2: $1"))
	text = missingValue.ReplaceAllString(text, "the value is missing")
	return usagef("%s; see %s", strings.Replace(text, ": bool value must be ", " must be ", 1), help)
}

// missingValue is kong's error about a flag that is the last word, or has another one behind it.
var missingValue = regexp.MustCompile(`(expected \w+ value but got "|missing value, expecting ").*$`)

// fromVariable is kong's error about the value of a variable.
var fromVariable = regexp.MustCompile(`(?s)^--[a-z0-9-]+: (.*) \(from envar (\w+)=".*"\)$`)

// flagName finds the names of flags in a text, and commands to type. Within another word is none.
var flagName = regexp.MustCompile(`(?:^|[\s(]|talkback [a-z]+ )--[a-z0-9-]+`)

// inVariables replaces the names of flags in a text by those of their variables, where the value is
// from there.
func inVariables(line *kong.Context, text string) string {
	return nameVariables(line.Flags(), text, func(flag *kong.Flag) bool {
		return !isGiven(line, flag.Name) && variableOf(flag) != ""
	})
}

// nameVariables replaces the names of some flags in a text by those of their variables.
func nameVariables(flags []*kong.Flag, text string, some func(*kong.Flag) bool) string {
	return flagName.ReplaceAllStringFunc(text, func(found string) string {
		before, name, _ := strings.Cut(found, "--")
		for _, flag := range flags {
			if flag.Name == name && len(flag.Envs) > 0 && some(flag) && !strings.Contains(before, "talkback") {
				return before + flag.Envs[0]
			}
		}
		return found
	})
}

// isGiven reports whether a flag stands on the command line. A variable may be set for the servers
// of this machine.
func isGiven(line *kong.Context, name string) bool {
	return slices.ContainsFunc(line.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == name })
}

// blankValue explains an error about the value of a flag, if the value or its environment variable
// is blank or has a blank entry. The parser reads values before refuseBlank looks at them.
func blankValue(line *kong.Context, text string, arguments []string) error {
	for _, flag := range line.Flags() {
		name := "--" + flag.Name
		if !strings.HasPrefix(text, name+": ") && !strings.HasPrefix(text, name+" must be one of ") {
			continue
		}
		for i, argument := range arguments {
			value, given := strings.CutPrefix(argument, name+"=")
			if argument == name && i+1 < len(arguments) {
				value, given = arguments[i+1], true
			}
			if given && hasBlank(flag, value) {
				return blankFlag(flag, strings.TrimSpace(value) != "")
			}
		}
		return refuseBlankVariable(flag)
	}
	return nil
}

// hasBlank reports whether the text of a flag is blank, or one of the entries of a list.
func hasBlank(flag *kong.Flag, text string) bool {
	entries := []string{text}
	if flag.Target.Kind() == reflect.Slice {
		entries = append(entries, kong.SplitEscaped(text, flag.Tag.Sep)...)
	}
	return slices.ContainsFunc(entries, func(entry string) bool { return strings.TrimSpace(entry) == "" })
}

// blankFlag returns the error of a flag whose value is blank, or has a blank entry.
func blankFlag(flag *kong.Flag, entry bool) error {
	if entry {
		return usagef("--%s has an empty entry: give values with one comma between two", flag.Name)
	}
	return usagef("--%s is given without a value: give one, or leave the flag out", flag.Name)
}

// closeEnough is the largest edit distance of a misspelled name from a suggestion.
const closeEnough = 2

// distance returns how far a misspelled word is from a name, 0 if it begins the name. resembles is
// false if most of the word would change, as from "yes" to "aws".
func distance(word, name string) (off int, resembles bool) {
	if word != "" && strings.HasPrefix(name, word) {
		return 0, true
	}
	off = levenshtein.ComputeDistance(word, name)
	swapped := slices.Equal(slices.Sorted(slices.Values([]rune(word))), slices.Sorted(slices.Values([]rune(name))))
	return off, off <= closeEnough && (2*off < len(word) || swapped)
}

// suggestion returns a question that names the flags which an unknown one resembles, "" for none.
func suggestion(line *kong.Context, word string) string {
	name, long := strings.CutPrefix(word, "--")
	if !long {
		return "" // every letter resembles every other
	}
	var near []string
	for _, flag := range line.Flags() {
		if _, resembles := distance(name, flag.Name); resembles {
			near = append(near, fmt.Sprintf("%q", "--"+flag.Name))
		}
	}
	switch len(near) {
	case 0:
		return ""
	case 1:
		return ", did you mean " + near[0] + "?"
	default:
		return ", did you mean one of " + strings.Join(near, ", ") + "?"
	}
}

// noCommand returns the error for an unknown command, with a suggestion.
func noCommand(app *kong.Application, word string) error {
	var near []string
	closest := closeEnough
	for _, child := range app.Children {
		off, resembles := distance(word, child.Name)
		if resembles && off < closest {
			near, closest = nil, off
		}
		if resembles && off == closest {
			near = append(near, child.Name)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("there is no command %q", word)
	}
	return fmt.Errorf("there is no command %q; did you mean %s?", word, strings.Join(near, " or "))
}

const variablePrefix = "TALKBACK_"

// warnOfMisspelt warns of misspelt environment variables, given as NAME=value. They have no effect,
// unless a hook names one.
func warnOfMisspelt(term Terminal, app *kong.Application, environment []string) {
	screen := output.ScreenOf(term.Err)
	for _, variable := range slices.Sorted(slices.Values(environment)) {
		name, _, _ := strings.Cut(variable, "=")
		near := resembled(app, name)
		switch {
		case near == "":
		case term.LogsJSON:
			term.Logger.Warn("a variable is not one of Talkback's, and has no effect", "variable", output.Printable(name), "meant", near)
		default:
			line := fmt.Sprintf("the variable %s is not one of Talkback's; did you mean %s?", output.Printable(name), near)
			_, _ = fmt.Fprintln(term.Err, screen.Fold(screen.Notice("talkback:")+" "+line)) // a failed warning is no reason to stop
		}
	}
}

// resembled returns the environment variable that a misspelt one resembles, "" for none: Kubernetes
// sets TALKBACK_SERVICE_HOST and others for a service called talkback.
func resembled(app *kong.Application, name string) (near string) {
	upper := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if !strings.HasPrefix(upper, variablePrefix) {
		return ""
	}
	names := variables(app.Node)
	if slices.Contains(names, name) {
		return ""
	}
	closest := closeEnough + 1
	for _, candidate := range names {
		if off := levenshtein.ComputeDistance(upper, candidate); off < closest {
			near, closest = candidate, off
		}
	}
	return near
}

// variables returns the names of the environment variables of all commands.
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

// Help prints the help of a command.
type Help struct {
	Command string `arg:"" optional:"" help:"Command to explain; without one, all are listed." complete:"commands"`
}

// Run prints the same as --help after the command.
func (c *Help) Run(running *kong.Context) error {
	words := []string{"--help"} // without it, kong would select the default command
	if c.Command != "" {
		if !slices.ContainsFunc(running.Model.Children, func(child *kong.Node) bool { return child.Name == c.Command }) {
			return usagef("%w; see talkback --help", noCommand(running.Model, c.Command))
		}
		words = []string{c.Command}
	}
	line, err := kong.Trace(running.Kong, words)
	if err != nil {
		return err
	}
	return line.PrintUsage(false)
}

// refuseBlank returns an error if an argument, a flag or an environment variable is empty or blank.
// Empty means off for most flags: TALKBACK_MODERATOR_TOKEN=$(cat missing) would let everyone write.
// It ignores the variable of a flag that is given.
func refuseBlank(chosen *kong.Context) error {
	for _, p := range chosen.Path {
		if p.Positional != nil && isBlank(p.Positional.Target) {
			return usagef("<%s> is given without a value: if a variable or a command fills it in, find out why that is empty", p.Positional.Name)
		}
	}
	for _, flag := range chosen.Flags() {
		given := isGiven(chosen, flag.Name)
		if given && isBlank(flag.Target) {
			return blankFlag(flag, flag.Target.Kind() == reflect.Slice && flag.Target.Len() > 0)
		}
		if err := refuseBlankVariable(flag); !given && err != nil {
			return err
		}
	}
	return nil
}

// isBlank reports whether a text is empty or blank, or one of a list, or whether a list is empty.
func isBlank(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.String:
		return strings.TrimSpace(value.String()) == ""
	case reflect.Slice:
		for i := range value.Len() {
			if isBlank(value.Index(i)) {
				return true
			}
		}
		return value.Len() == 0
	}
	return false
}

// refuseBlankVariable returns an error if a flag's environment variable is empty or blank.
func refuseBlankVariable(flag *kong.Flag) error {
	for _, name := range flag.Envs {
		text, set := os.LookupEnv(name)
		switch {
		case set && strings.TrimSpace(text) == "":
			return usagef("%s is set but empty: give it a value (if a command or a secret fills it in, find out why that is empty), or unset it", name)
		case set && hasBlank(flag, text):
			return usagef("%s has an empty entry: give values with one comma between two, or unset it", name)
		}
	}
	return nil
}

// refusePassword returns an error if the URL of a flag tagged password:"variable" holds a password
// on the command line, which everyone on the machine can see. A flag without a value has the value
// of its variable.
func refusePassword(chosen *kong.Context) error {
	for _, p := range chosen.Path {
		if p.Flag == nil || !p.Flag.Tag.Has("password") || p.Flag.Target.String() == variableOf(p.Flag) {
			continue
		}
		address, err := url.Parse(p.Flag.Target.String())
		if err != nil {
			continue // refused later, by an error without the URL
		}
		_, secret := address.User.Password()
		mistaken := address.User != nil && strings.HasPrefix(address.Scheme, "redis") // the user of a Redis is often its password
		if secret || mistaken || address.Query().Has("password") {
			return usagef("--%s holds a password, which everyone on this machine could see: set %s instead", p.Flag.Name, p.Flag.Envs[0])
		}
	}
	return nil
}

// variableOf returns the text of a flag's environment variable, "" if it has none.
func variableOf(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if text, set := os.LookupEnv(name); set {
			return text
		}
	}
	return ""
}

// valueMappers parse the values of flags. Their errors show an example of a valid value; kong's own
// show the name of a Go type.
func valueMappers() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.String, kong.MapperFunc(decodeText)),
		kong.KindMapper(reflect.Int, mapper("a whole number", strconv.Atoi)),
		kong.KindMapper(reflect.Float64, mapper("a number", func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })),
		kong.KindMapper(reflect.Uint32, mapper("a whole number from 0 on", wholeNumber)),
		kong.NamedMapper("positive", mapper("a whole number from 1 on", func(text string) (uint32, error) {
			n, err := wholeNumber(text)
			if n == 0 {
				err = strconv.ErrRange
			}
			return n, err
		})),
		kong.NamedMapper("calls", upTo(maxCalls)),
		kong.NamedMapper("shards", upTo(counts.MaxLeaderShards)),
		kong.NamedMapper("path", kong.MapperFunc(decodePath)),
		kong.NamedMapper("store", kong.MapperFunc(decodeStore)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), mapper("a duration from 0 on", func(text string) (time.Duration, error) {
			lasts, err := time.ParseDuration(text)
			if err == nil && lasts < 0 {
				err = strconv.ErrRange
			}
			return lasts, err
		})),
		kong.TypeMapper(reflect.TypeFor[*time.Time](), mapper("a day or a time", func(text string) (*time.Time, error) {
			moment, err := time.Parse(time.DateOnly, text) // a day begins at midnight UTC
			if err != nil {
				moment, err = comment.ParseTime(text)
			}
			return &moment, err
		})),
	}
}

func upTo(most int) kong.Mapper {
	return mapper(fmt.Sprintf("a whole number from 0 to %d", most), func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if n < 0 || n > most {
			err = strconv.ErrRange
		}
		return n, err
	})
}

func wholeNumber(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// mapper makes a mapper from a parsing function. The noun describes valid values.
func mapper[T any](noun string, parse func(string) (T, error)) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return fmt.Errorf("the value is missing%s", example(ctx.Value))
		}
		text := token.String()
		value, err := parse(text)
		if err != nil {
			return fmt.Errorf("%q is not %s%s", text, noun, example(ctx.Value))
		}
		target.Set(reflect.ValueOf(value).Convert(target.Type()))
		return nil
	})
}

// decodeText takes a text unchanged. Kong would encode it as JSON and decode that, which changes
// invalid UTF-8: to the name of another file, or the id of another author.
func decodeText(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err == nil {
		target.SetString(fmt.Sprint(token.Value))
	}
	return err
}

// decodePath parses a path like kong, but leaves a blank one to refuseBlank: kong would turn it
// into the current folder.
func decodePath(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("file")
	if err != nil {
		return err
	}
	path := fmt.Sprint(token.Value)
	if path != "-" && strings.TrimSpace(path) != "" {
		path = kong.ExpandPath(path)
	}
	target.SetString(path)
	return nil
}

// example returns a hint at a valid value, "" if the flag has none.
func example(value *kong.Value) string {
	switch {
	case value.Flag != nil && strings.ContainsAny(value.Flag.PlaceHolder, "0123456789"): // others, such as N, are no example
		return ": give one such as " + value.Flag.PlaceHolder
	case value.HasDefault:
		return ": give one such as " + value.Default
	}
	return ""
}

// maxCalls bounds --calls. Some hundred already take all connections and all that a table gives.
const maxCalls = 1000

// decodeStore parses an optional value. A flag without a value keeps that of its environment
// variable, or else means the table.
func decodeStore(ctx *kong.DecodeContext, target reflect.Value) error {
	next := ctx.Scan.Peek()
	if text, isText := next.Value.(string); isText && !next.IsEOL() && !strings.HasPrefix(text, "-") {
		target.SetString(text)
		ctx.Scan.Pop()
		return nil
	}
	target.SetString(cmp.Or(variableOf(ctx.Value.Flag), keeper.InTable))
	return nil
}
