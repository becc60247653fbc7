package lambdatest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

// formVariable says to a process that Again started in which form events are.
const formVariable = "TALKBACK_TEST_FUNCTION"

// Form is the form of events, "url" or "balancer", by which the requests of this process reach
// their API; empty if they come by HTTP alone.
var Form = os.Getenv(formVariable)

// through begins a line of standard output that names a test whose API is behind a function.
const through = "through a function: "

// Front returns a handler for a test's server: the API, or the function of it in a process that
// Again started.
func Front(tb testing.TB, api http.Handler, function lambda.Handler) http.Handler {
	tb.Helper()
	if Form == "" {
		return api
	}
	name, _, _ := strings.Cut(tb.Name(), "/")
	fmt.Println("\n" + through + name)
	if Form == "balancer" {
		return Run(tb, function).Balancer()
	}
	return Run(tb, function).URL()
}

// Again runs tests of this package once more, in a process in which Front has a function in front
// of each API. All must pass, and use Front.
func Again(t *testing.T, form string, tests []string) {
	t.Helper()
	suite := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=20m", "-test.run", "^("+strings.Join(tests, "|")+")$")
	suite.Env = append(os.Environ(), formVariable+"="+form, "AWS_LAMBDA_MAX_CONCURRENCY=64")
	out, err := suite.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	for _, name := range tests {
		ended := func(how string) bool {
			return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "--- "+how+": "+name+" ") })
		}
		if !ended("SKIP") && !(ended("PASS") && slices.Contains(lines, through+name)) {
			t.Errorf("%s was not run with requests through a function", name)
		}
	}
}
