package dynamotest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/talkback/talkback/internal/commenttest/must"
)

func TestMain(m *testing.M) {
	status := Run(m)
	if err := goleak.Find(); status == 0 && err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		status = 1
	}
	os.Exit(status)
}

func TestEngineIsStartedOnce(t *testing.T) {
	if first, second := Dynoxide(t), Dynoxide(t); first != second {
		t.Errorf("two engines, %s and %s, where one was wanted", first, second)
	}
}

// TestMissingEngine runs the skipped test in another process, since a test cannot observe its own
// skip.
func TestMissingEngine(t *testing.T) {
	if os.Getenv("DYNAMOTEST_MISSING") != "" {
		t.Chdir(t.TempDir()) // there is no bin/
		must.Do(t, os.WriteFile("go.mod", nil, 0o600))
		Each(t, func(t *testing.T, _ string) { t.Error("the body ran without an engine") })
		return
	}
	for _, c := range []struct{ ci, want string }{
		{ci: "", want: "left out: the Dynoxide suite: dynoxide is neither in bin/ nor on PATH; `make provision` fetches it"},
		{ci: "", want: "left out: the DynamoDB Local suite: "},
		{ci: "true", want: "CI is set, so this test may not be left out: the Dynoxide suite: "},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMissingEngine$", "-test.v")
		cmd.Env = append(os.Environ(), "DYNAMOTEST_MISSING=1", "PATH=", "CI="+c.ci)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("with CI=%q the output lacks %q:\n%s", c.ci, c.want, out)
		}
		if failed := err != nil; failed != (c.ci != "") {
			t.Errorf("with CI=%q the run ended with %v:\n%s", c.ci, err, out)
		}
	}
}

func TestTableNameIsAllowedAndUnique(t *testing.T) {
	t.Run("with / and ä and a long tail "+strings.Repeat("x", 300), func(t *testing.T) {
		first, second := TableName(t), TableName(t)
		if first == second {
			t.Errorf("both names are %s", first)
		}
		if len(first) > 255 || notInNames.MatchString(first) || !strings.HasPrefix(first, "TestTableName") {
			t.Errorf("DynamoDB would refuse, or nobody would understand, %q", first)
		}
	})
}
