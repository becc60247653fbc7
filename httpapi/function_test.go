package httpapi_test

import (
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/talkback/talkback/httpapi/gateway"
	"github.com/talkback/talkback/internal/lambdatest"
)

// form is the form of events by which the requests of this process reach their server, through a
// function of AWS Lambda; empty for HTTP.
var form = os.Getenv("TALKBACK_TEST_FUNCTION")

// front puts a function in front of a handler, if this process is to have one.
func front(t *testing.T, handler http.Handler) http.Handler {
	t.Helper()
	switch form {
	case "url":
		return lambdatest.Run(t, gateway.New(handler, slog.New(slog.DiscardHandler))).URL()
	case "balancer":
		return lambdatest.Run(t, gateway.New(handler, slog.New(slog.DiscardHandler))).Balancer()
	}
	return handler
}

// The tests of this package pass through a function too, in both forms of events: all that start a
// server by newServer, but for those of what a function does not see.
func TestThroughFunction(t *testing.T) {
	const unseen = "TestThroughFunction|TestBodiesTooLargeAreNotSent|TestBodyEndsEarly|TestStrictTransportSecurity"
	for _, row := range []struct{ form, unseen string }{
		{"url", unseen + "|TestHeadersGivenTwice"}, // it joins them
		{"balancer", unseen},
	} {
		t.Run(row.form, func(t *testing.T) {
			t.Parallel()
			suite := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=5m", "-test.run",
				"^(TestCORS|TestCrossSite|TestETags|TestNothing|TestCompression|TestAnswerTypes|TestStatuses|TestBodies|TestContentTypes|TestParameters|TestHead|TestMethods|TestBounds|TestClientsAreLimited|TestWhatIsNotLimited|TestPages|TestInFlight|TestTimeIsOver|TestObservers)",
				"-test.skip", row.unseen)
			suite.Env = append(os.Environ(), "TALKBACK_TEST_FUNCTION="+row.form, "AWS_LAMBDA_MAX_CONCURRENCY=64")
			out, err := suite.CombinedOutput()
			if passed := strings.Count(string(out), "\n--- PASS: "); err != nil || passed < 20 {
				t.Errorf("%d tests passed, %v\n%s", passed, err, out)
			}
		})
	}
}
