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
	_, err := fmt.Fprintln(term.Out, version())
	return err
}

// versionFlag is --version. Kong's own ignores errors of writing the version.
type versionFlag bool

// BeforeReset implements a hook of kong: it prints the version and ends, whatever else is given.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, version()); err != nil {
		return err
	}
	app.Exit(exitDone)
	return nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "talkback (unknown build)"
	}
	return versionOf(info)
}

// release returns the version of this program's module, from the build information.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
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
	_, err := fmt.Fprintf(term.Out, ".TH TALKBACK 1 \"\" \"talkback %s\" \"Talkback\"\n%s\n", release(), body)
	return err
}
