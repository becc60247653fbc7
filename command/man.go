package command

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

// Man prints the manual page of all commands and flags, for man(1).
type Man struct{}

// Run prints the page. It names the release, not the day: two builds print the same.
func (Man) Run(chosen *kong.Context, term Terminal) error {
	page := mangokong.NewManPage(1, chosen.Model).Build(roff.NewDocument())
	_, body, _ := strings.Cut(page, "\n")
	_, err := fmt.Fprintf(term.Out, ".TH TALKBACK 1 \"\" \"talkback %s\" \"Talkback\"\n%s\n", release(), body)
	return err
}
