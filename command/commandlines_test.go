package command_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
)

// flagShown is a flag as help shows it.
type flagShown struct{ variable, value string }

var flagInHelp = regexp.MustCompile(`--([a-z][a-z-]+)(?:=\S+)? (.*?)(?:\(\$(TALKBACK_\w+)\)|$)`)

// flagsOfCommands are the flags of each command, by its name, as its help shows them.
func flagsOfCommands(t *testing.T) map[string]map[string]flagShown {
	t.Helper()
	all := map[string]map[string]flagShown{}
	for _, name := range []string{"serve", "import", "export", "stream", "show", "stats", "explain", "rebuild", "verify", "doctor", "cost", "health", "author", "hooks", "pages", "version", "completion", "man", "help"} {
		status, out, said := talkback(t.Context(), name, "--help")
		if status != 0 {
			t.Fatalf("%s --help: status %d\n%s", name, status, said)
		}
		all[name] = map[string]flagShown{"help": {}, "version": {}}
		for _, entry := range regexp.MustCompile(`\n {2,6}(?:-\w, )?(--)`).Split(strings.ReplaceAll(out, "\n\n", "\n"), -1) {
			entry = strings.Join(strings.Fields("--"+entry), " ")
			if found := flagInHelp.FindStringSubmatch(entry); found != nil && found[3] != "" {
				shown := flagShown{variable: found[3]}
				if value := regexp.MustCompile(`\(default: ([^)]*)\)`).FindStringSubmatch(found[2]); value != nil {
					shown.value = value[1]
				}
				all[name][found[1]] = shown
			}
		}
	}
	return all
}

// docs/operate/configure.md has a row for every flag of every command, with its variable and its
// default, and no other.
func TestEveryFlagIsDocumented(t *testing.T) {
	t.Parallel()
	want := map[string]flagShown{}
	for _, flags := range flagsOfCommands(t) {
		maps.Copy(want, flags)
	}
	delete(want, "help")
	delete(want, "version")
	if len(want) < 50 {
		t.Fatalf("help tells of %d flags: this test does not read it any more", len(want))
	}
	for _, row := range doctest.Read(t, "docs/operate/configure.md").Table("flag") {
		name := strings.TrimPrefix(strings.Trim(row["flag"], "`"), "--")
		flag, known := want[name]
		if !known {
			t.Errorf("docs/operate/configure.md has a row of %s, which no command knows, or two", row["flag"])
			continue
		}
		delete(want, name)
		if got := strings.Trim(row["variable"], "`"); got != flag.variable {
			t.Errorf("docs/operate/configure.md: the variable of --%s is %s, not %s", name, flag.variable, got)
		}
		if got := strings.Trim(row["default"], "`"); flag.value != "" && got != flag.value {
			t.Errorf("docs/operate/configure.md: the default of --%s is %s, not %s", name, flag.value, got)
		}
	}
	for name := range want {
		t.Errorf("docs/operate/configure.md has no row of --%s: add one, with its variable %s, its default and what it does", name, want[name].variable)
	}
}

// Every command line in the documents, in blocks and in prose, is valid for its program. The test
// knows targets of the Makefile, tests and packages, commands and flags of talkback, and templates
// and their parameters.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	c := commandLines{flags: flagsOfCommands(t), root: doctest.Root(t), tests: map[string][]string{}, makefile: doctest.Read(t, "Makefile").Text, tokens: doctest.Read(t, "web/look/tokens.css").Text}
	checked := 0
	for _, document := range doctest.All(t) {
		lines := document.Code()
		for _, block := range document.Blocks() {
			if block.Info == "sh" || block.Info == "shell" {
				lines = append(lines, strings.Split(strings.ReplaceAll(block.Text, "\\\n", ""), "\n")...)
			}
		}
		for _, line := range lines {
			for _, command := range regexp.MustCompile(`\s(?:&&|\||;)\s`).Split(line, -1) {
				if problem := c.check(t, strings.Trim(command, "() ")); problem != "" {
					t.Errorf("%s: `%s`: %s", document.Path, line, problem)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// commandLines holds what the tests compare command lines with.
type commandLines struct {
	flags    map[string]map[string]flagShown
	root     string
	tests    map[string][]string // the tests and benchmarks of packages, by their folders
	makefile string
	tokens   string // web/look/tokens.css
}

// testDeclared matches the declaration of a test or a benchmark.
var testDeclared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)

var assignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)

// check returns what is wrong with a command line of a program known here.
func (c commandLines) check(t *testing.T, line string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " # ")
	words := strings.Fields(strings.ReplaceAll(line, "$(openssl rand -hex 32)", "secret"))
	words = slices.DeleteFunc(words, func(word string) bool { return word == "time" || assignment.MatchString(word) })
	if len(words) == 0 {
		return ""
	}
	arguments := words[1:]
	switch words[0] {
	case "make":
		return c.checkTarget(arguments)
	case "talkback", "bin/talkback":
		return c.checkTalkback(arguments)
	case "go":
		return c.checkTest(t, arguments)
	case "aws":
		return c.checkTemplate(t, arguments)
	}
	if strings.HasPrefix(words[0], "--talkback-") {
		return c.checkProperty(words[0])
	}
	if name, is := strings.CutPrefix(words[0], "--"); is {
		return c.checkFlag("", name)
	}
	return ""
}

func (c commandLines) checkTarget(arguments []string) string {
	for _, target := range arguments {
		if !strings.Contains(c.makefile, "\n"+target+":") {
			return "the Makefile has no target " + target
		}
	}
	return ""
}

func (c commandLines) checkTalkback(arguments []string) string {
	name := "serve"
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		name = arguments[0]
	}
	if c.flags[name] == nil && name != "__complete" {
		return "there is no command " + name
	}
	for _, argument := range arguments {
		if flag, is := strings.CutPrefix(argument, "--"); is {
			if problem := c.checkFlag(name, flag); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// checkProperty looks for a custom property of the pages' style. Some are named for a family, such
// as --talkback-space-*.
func (c commandLines) checkProperty(name string) string {
	if family, is := strings.CutSuffix(name, "*"); is && strings.Contains(c.tokens, family) || strings.Contains(c.tokens, name+":") {
		return ""
	}
	return "there is no custom property " + name
}

// checkFlag checks that a command has a flag; for an empty name, that any command has it.
func (c commandLines) checkFlag(command, flag string) string {
	flag, _, _ = strings.Cut(flag, "=")
	for name, flags := range c.flags {
		if _, known := flags[flag]; known && (command == "" || command == name) {
			return ""
		}
	}
	return "there is no flag --" + flag
}

// checkTest checks that the packages of a go command exist, and that each alternative of its
// patterns matches a test or a benchmark.
func (c commandLines) checkTest(t *testing.T, arguments []string) string {
	t.Helper()
	var declared []string
	packages := 0
	for _, argument := range arguments {
		if !strings.HasPrefix(argument, "./") || strings.HasSuffix(argument, "...") {
			continue
		}
		packages++
		if c.tests[argument] == nil {
			files := must.Get(filepath.Glob(filepath.Join(c.root, argument, "*.go")))(t)
			if len(files) == 0 {
				return "there is no package " + argument
			}
			c.tests[argument] = []string{}
			for _, file := range files {
				text := must.Get(os.ReadFile(filepath.Clean(file)))(t)
				for _, found := range testDeclared.FindAllSubmatch(text, -1) {
					c.tests[argument] = append(c.tests[argument], string(found[1]))
				}
			}
		}
		declared = append(declared, c.tests[argument]...)
	}
	for i, argument := range arguments[:max(len(arguments)-1, 0)] {
		pattern, _, _ := strings.Cut(strings.Trim(arguments[i+1], "'"), "/")
		if argument != "-run" && argument != "-bench" || pattern == "-" || pattern == "^$" || packages == 0 {
			continue
		}
		for alternative := range strings.SplitSeq(pattern, "|") { // else a test that is gone hides behind another
			matching := regexp.MustCompile(alternative)
			if !slices.ContainsFunc(declared, func(name string) bool {
				return strings.HasPrefix(name, "Benchmark") == (argument == "-bench") && matching.MatchString(name)
			}) {
				return argument + " " + arguments[i+1] + ": " + alternative + " matches nothing"
			}
		}
	}
	return ""
}

// checkTemplate checks that the template of a stack exists and has the given parameters.
func (c commandLines) checkTemplate(t *testing.T, arguments []string) string {
	t.Helper()
	at := slices.Index(arguments, "--template-file")
	if at < 0 {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(arguments[at+1])))
	if err != nil {
		return "there is no " + arguments[at+1]
	}
	var template struct{ Parameters map[string]any }
	must.Do(t, json.Unmarshal(text, &template))
	for _, argument := range arguments[at+2:] {
		if name, _, is := strings.Cut(argument, "="); is && template.Parameters[name] == nil {
			return arguments[at+1] + " has no parameter " + name
		}
	}
	return ""
}
