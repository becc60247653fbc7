package command

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion prints the script by which a shell completes command lines. The script asks the program itself what could
// come next, so that it is never older than the program.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish. The first lines of its script say where it goes."`
}

//go:embed completion
var completionScripts embed.FS

// completeCommand is by what the scripts ask. What follows it are the words of the command line up to the cursor; the last one is
// under way, and may be empty.
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

// candidate is a word that could stand at the cursor.
type candidate struct{ word, help string }

// anyFile stands for the names of all files, which the shell knows better.
const anyFile = ":files"

// writeCandidates writes what could stand at the cursor, one on a line, each with a tab and its help.
func writeCandidates(out io.Writer, app *kong.Application, words []string) error {
	for _, c := range candidates(app, words) {
		if _, err := fmt.Fprintln(out, strings.TrimSuffix(c.word+"\t"+c.help, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the words that could stand in the place of the last one.
func candidates(app *kong.Application, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	at := cursor{node: app.Node}
	for _, word := range words[:len(words)-1] {
		at.pass(word)
	}
	last := words[len(words)-1]
	if last == "=" { // bash cuts --flag=value in three
		last = ""
	}
	return slices.DeleteFunc(at.next(last), func(c candidate) bool {
		return c.word != anyFile && !strings.HasPrefix(c.word, last)
	})
}

// cursor is a place in a command line.
type cursor struct {
	node       *kong.Node  // the command so far
	flag       *kong.Value // whose value comes next, nil if none does
	positional int         // how many arguments there were
}

// pass goes on over a word.
func (c *cursor) pass(word string) {
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
		c.enter(word)
	}
}

// enter takes a word for the command if none was named yet, else for an argument.
func (c *cursor) enter(word string) {
	for _, child := range c.node.Children {
		if child.Name == word {
			c.node = child
			return
		}
	}
	c.positional++
}

// flags are those that may come, which without a command are also the default command's.
func (c *cursor) flags() []*kong.Flag {
	var all []*kong.Flag
	if c.node.DefaultCmd != nil {
		all = slices.Clone(c.node.DefaultCmd.Flags)
	}
	for _, level := range c.node.AllFlags(true) {
		all = append(all, level...)
	}
	return all
}

func (c *cursor) find(name string) *kong.Flag {
	for _, flag := range c.flags() {
		if flag.Name == name {
			return flag
		}
	}
	return nil
}

// next is what could come in place of a word that is under way.
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

// values are those that a flag or an argument can have, as far as there are a few.
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

// commands are those below a node.
func commands(of *kong.Node) []candidate {
	var found []candidate
	for _, child := range of.Children {
		if !child.Hidden {
			found = append(found, candidate{child.Name, child.Help})
		}
	}
	return found
}
