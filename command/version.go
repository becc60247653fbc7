package command

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

// PrintVersion prints the version.
type PrintVersion struct{}

// Run prints the same as --version.
func (PrintVersion) Run(term Terminal) error {
	_, err := fmt.Fprintln(term.Out, versionOf(build()))
	return err
}

// versionFlag is --version. Kong's own ignores errors of writing the version.
type versionFlag bool

// BeforeReset implements a hook of kong: it prints the version and ends, whatever else is given.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, versionOf(build())); err != nil {
		return err
	}
	app.Exit(exitDone)
	return nil
}

// build returns the build information: nothing of a program that was not built as a module.
func build() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(info, &debug.BuildInfo{})
}

const shortCommit = 12

// versionOf describes a build: release, commit with its date, and compiler, as far as recorded.
func versionOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	release := cmp.Or(info.Main.Version, "(devel)")
	built := []string{info.GoVersion + " " + settings["GOOS"] + "/" + settings["GOARCH"]}
	if commit := settings["vcs.revision"]; commit != "" {
		text := "commit " + commit[:min(len(commit), shortCommit)]
		if date := settings["vcs.time"]; date != "" {
			text += " of " + date
		}
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		built = append([]string{text}, built...)
	}
	return fmt.Sprintf("talkback %s (%s)", release, strings.Join(built, ", "))
}

// Man prints the manual page of all commands and flags, for man(1).
type Man struct{}

// Run prints the page. It contains the release, not the date, so two builds print the same.
func (Man) Run(chosen *kong.Context, term Terminal) error {
	page := mangokong.NewManPage(1, chosen.Model).Build(roff.NewDocument())
	_, body, _ := strings.Cut(page, "\n")
	_, err := fmt.Fprintf(term.Out, ".TH TALKBACK 1 \"\" \"talkback %s\" \"Talkback\"\n%s\n", build().Main.Version, body)
	return err
}
