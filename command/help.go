package command

import (
	"github.com/alecthomas/kong"
)

// Help prints the help of a command.
type Help struct {
	Command string `arg:"" optional:"" help:"Command to explain; without one, all are listed." complete:"commands"`
}

// Run prints what --help after the command prints.
func (c *Help) Run(running *kong.Context) error {
	words := []string{"--help"} // without it, kong would select the default command
	if c.Command != "" {
		if !isCommand(running.Model.Node, c.Command) {
			return usage(noCommand(running.Model, c.Command))
		}
		words = []string{c.Command}
	}
	asked, err := kong.Trace(running.Kong, words)
	if err != nil {
		return err
	}
	return asked.PrintUsage(false)
}
