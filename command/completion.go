package command

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion prints the script that completes command lines in a shell. The script asks the program
// for candidates, so it is never out of date.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. The first lines of its script say where it goes."`
}

//go:embed completion
var completionScripts embed.FS

// completeCommand is the hidden command that the scripts call. Its arguments are the words of the
// command line up to the cursor; the last one is incomplete, and may be empty.
const completeCommand = "__complete"

// Run prints the script.
func (c *Completion) Run(term Terminal) error {
	script, err := completionScripts.ReadFile("completion/" + c.Shell)
	if err != nil {
		return err
	}
	_, err = term.Out.Write(script)
	return err
}

// candidate is a word that fits at the cursor.
type candidate struct{ word, help string }

// anyFile represents all file names, which the shell completes.
const anyFile = ":files"

// writeCandidates writes the words that can replace the last one, with tab and help, one per line.
func writeCandidates(out io.Writer, app *kong.Application, words []string) error {
	if len(words) == 0 {
		words = []string{""}
	}
	at := cursor{node: app.Node}
	for _, word := range words[:len(words)-1] {
		at.advance(word)
	}
	last := words[len(words)-1]
	if last == "=" { // bash splits --flag=value into three words
		last = ""
	}
	for _, c := range at.next(last) {
		if c.word != anyFile && !strings.HasPrefix(c.word, last) {
			continue
		}
		if _, err := fmt.Fprintln(out, strings.TrimSuffix(c.word+"\t"+c.help, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// cursor is a position in a command line.
type cursor struct {
	node       *kong.Node  // the command so far
	flag       *kong.Value // the flag whose value comes next; nil for none
	positional int         // number of arguments so far
}

// advance moves over a word.
func (c *cursor) advance(word string) {
	name, isFlag := strings.CutPrefix(word, "--")
	name, _, hasValue := strings.Cut(name, "=")
	flag := c.find(name)
	switch {
	case word == "=":
	case c.flag != nil:
		c.flag = nil
	case isFlag && flag != nil && !flag.IsBool() && !hasValue:
		c.flag = flag.Value
	case strings.HasPrefix(word, "-"):
	default:
		at := slices.IndexFunc(c.node.Children, func(child *kong.Node) bool { return child.Name == word })
		if at < 0 {
			c.positional++
			return
		}
		c.node = c.node.Children[at]
	}
}

// flags returns the flags that fit; before a command, also those of the default command.
func (c *cursor) flags() []*kong.Flag {
	levels := c.node.AllFlags(true)
	if c.node.DefaultCmd != nil {
		levels = append([][]*kong.Flag{c.node.DefaultCmd.Flags}, levels...)
	}
	return slices.Concat(levels...)
}

func (c *cursor) find(name string) *kong.Flag {
	for _, flag := range c.flags() {
		if flag.Name == name {
			return flag
		}
	}
	return nil
}

// next returns the candidates for an incomplete word.
func (c *cursor) next(word string) (found []candidate) {
	name, _, hasValue := strings.Cut(word, "=")
	switch flag := c.find(strings.TrimPrefix(name, "--")); {
	case c.flag != nil:
		return c.values(c.flag)
	case hasValue && flag != nil:
		found = c.values(flag.Value)
		for i := range found {
			if found[i].word != anyFile {
				found[i].word = name + "=" + found[i].word
			}
		}
	case strings.HasPrefix(word, "-"):
		for _, flag := range c.flags() {
			found = append(found, candidate{"--" + flag.Name, flag.Help})
		}
	case c.positional < len(c.node.Positional):
		return c.values(c.node.Positional[c.positional])
	default:
		return commands(c.node)
	}
	return found
}

// values returns the possible values of a flag or an argument, if they can be listed.
func (c *cursor) values(of *kong.Value) []candidate {
	switch {
	case of.Enum != "":
		var found []candidate
		for _, value := range of.EnumSlice() {
			found = append(found, candidate{word: value})
		}
		return found
	case of.Tag.Type == "path", of.Tag.Get("complete") == "files":
		return []candidate{{word: anyFile}}
	case of.Tag.Get("complete") == "commands":
		return commands(c.node.Parent)
	}
	return nil
}

func commands(of *kong.Node) []candidate {
	var found []candidate
	for _, child := range of.Children {
		if !child.Hidden {
			found = append(found, candidate{child.Name, child.Help})
		}
	}
	return found
}
