package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Each test that the table of faults names is in the package that its command tests: go test is content with none.
func TestCommandsOfFaults(t *testing.T) {
	faults := string(must.Get(os.ReadFile("../../docs/faults.md"))(t))
	commands := regexp.MustCompile("`go test \\./(\\S+) -run (\\w+)").FindAllStringSubmatch(faults, -1)
	if len(commands) < 400 {
		t.Errorf("%d commands", len(commands))
	}
	for _, command := range commands {
		found := false
		for _, file := range must.Get(filepath.Glob(filepath.Join("../..", command[1], "*_test.go")))(t) {
			_, name, _ := strings.Cut(command[2], "Test")
			found = found || regexp.MustCompile(`(?m)^func Test\w*`+name).Match(must.Get(os.ReadFile(file))(t))
		}
		if !found {
			t.Errorf("%s has no test %s", command[1], command[2])
		}
	}
}
