package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// completions are lines up to the cursor, and the words that are offered there.
var completions = []struct {
	why, line string
	want      []string
}{
	{"commands", "talkback ex", []string{"explain", "export"}},
	{"commands that begin alike", "talkback st", []string{"stats", "stream"}},
	{"flags behind a product", "talkback stats espresso-machine --created-b", []string{"--created-before"}},
	{"commands behind an engine's flag", "talkback --table mine ver", []string{"verify", "version"}},
	{"commands to be helped with", "talkback help imp", []string{"import"}},
	{"a command's own flags", "talkback explain --rat", []string{"--ratings"}},
	{"the engine's flags", "talkback show --tab", []string{"--table"}},
	{"the default command's flags", "talkback --max-q", []string{"--max-query"}},
	{"values of a flag", "talkback import --format c", []string{"csv"}},
	{"shells", "talkback completion ", []string{"bash", "fish", "zsh"}},
	{"files", "talkback import revi", []string{"reviews.jsonl"}},
	{"files of a flag", "talkback serve --tls-cert revi", []string{"reviews.jsonl"}},
	{"flags behind a file", "talkback import reviews.jsonl --no-", []string{"--no-count"}},
}

// Real shells complete real lines with the script that the program prints.
func TestCompletion(t *testing.T) {
	t.Parallel()
	program := binary(t)
	folder := t.TempDir()
	must.Do(t, os.Symlink(program, filepath.Join(folder, "talkback")))
	writeFile(t, filepath.Join(folder, "reviews.jsonl"), "")
	var lines []string
	for _, row := range completions {
		lines = append(lines, row.line)
	}
	for shell, driver := range completionDrivers {
		t.Run(shell, func(t *testing.T) {
			if status, script, said := talkback(t.Context(), "completion", shell); status != 0 || !strings.Contains(script, "talkback completion "+shell) {
				t.Errorf("the script does not say where to put it: status %d, %s%s", status, script, said)
			}
			path := provisiontest.Program(t, shell, "completion in "+shell)
			command := exec.Command(path, "-c", driver)
			command.Dir, command.Stdin = folder, strings.NewReader(strings.Join(lines, "\n")+"\n")
			command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder)
			out, err := command.CombinedOutput()
			answers := strings.Split(string(out), "----\n")
			if err != nil || len(answers) != len(completions)+1 {
				t.Fatalf("%v\n%s", err, out)
			}
			for i, row := range completions {
				if got := offered(row.line, answers[i]); !slices.Equal(got, row.want) {
					t.Errorf("%s: %q offers %q, want %q", row.why, row.line, got, row.want)
				}
			}
		})
	}
}

// completionDrivers complete each line of standard input as the shell would at its end, and print
// the words on offer.
var completionDrivers = map[string]string{
	"bash": `source <(talkback completion bash)
while IFS= read -r line; do
    COMP_WORDS=($line); [[ $line == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _talkback
    # What readline does with an empty list is no function of bash: -o default.
    [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    printf '%s\n' "${COMPREPLY[@]}" ----
done`,
	"zsh": `autoload -Uz compinit; compinit -D
source <(talkback completion zsh)
_describe() { print -l -- "${(@)${(P)2}%%:*}"; }
_files() { print -l -- ${~words[CURRENT]}*(N); }
while IFS= read -r line; do
    words=(${(z)line}); [[ $line == *" " ]] && words+=(""); CURRENT=${#words}
    _talkback
    print -- ----
done`,
	"fish": `talkback completion fish | source
while read -l line
    complete -C "$line"
    echo -- ----
end`,
}

// offered are the words that a shell printed, sorted and without their descriptions, as far as they
// continue the line.
func offered(line, printed string) (words []string) {
	last := line[strings.LastIndexByte(line, ' ')+1:]
	for text := range strings.Lines(printed) {
		word := regexp.MustCompile(`^[^\t\n]*`).FindString(text)
		if word != "" && strings.HasPrefix(word, last) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}
