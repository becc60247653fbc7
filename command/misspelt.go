package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/internal/output"
)

// variablePrefix begins the names of all environment variables of this program.
const variablePrefix = "TALKBACK_"

// warnOfMisspelt says which environment variables, given as NAME=value, have no effect because they
// are misspelt. A name that resembles none is someone else's: Kubernetes sets TALKBACK_SERVICE_HOST
// and others for a service called talkback.
func warnOfMisspelt(out io.Writer, app *kong.Application, environment []string) {
	known := variables(app.Node)
	screen := output.ScreenOf(out)
	for _, variable := range slices.Sorted(slices.Values(environment)) {
		name, _, _ := strings.Cut(variable, "=")
		if near := resembling(name, known); near != "" {
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

// resembling returns the known variable that a misspelt one was meant to be, "" for a name that is
// known or resembles none.
func resembling(name string, known []string) string {
	upper := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if !strings.HasPrefix(upper, variablePrefix) || slices.Contains(known, name) {
		return ""
	}
	near, distance := "", closeEnough+1
	for _, candidate := range known {
		if off := levenshtein.ComputeDistance(upper, candidate); off < distance {
			near, distance = candidate, off
		}
	}
	return near
}
