package httpapi_test

import (
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/gateway"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
)

// newHandler makes the API with options that a test changes. In a process for function tests, the
// API is behind a function.
func newHandler(t *testing.T, set func(*httpapi.Options)) http.Handler {
	t.Helper()
	api := httpapi.New(options(set))
	return lambdatest.Front(t, api, gateway.New(api, slog.New(slog.DiscardHandler)))
}

// seen are the tests that run through a function too. The others cannot: AWS Lambda takes the
// connections, and has the whole body before there is an event; its gateway has the whole answer
// before a client reads, and alone knows whether that came by TLS. A client that hangs up ends no
// invocation, and nothing asks a function to end. Some tests send no request, or count allocations,
// or have the time of a bubble, which has no network.
var seen = []string{
	"TestCORSIsClosed", "TestCORSOpensToSome", "TestCORSOpensToAll", "TestCrossSite", "TestETags",
	"TestNothingElseIsCached", "TestCompression", "TestInFlight", "TestTimeIsOver",
	"TestAutomaticPersistedQueries", "TestTrustedDocuments",
	"TestAnswerTypes", "TestStatuses", "TestObservers", "TestObserversOfWhatGoesWrong",
	"TestBodies", "TestContentTypes", "TestParameters", "TestHead", "TestHeadersGivenTwice",
	"TestMethods", "TestBounds", "TestClientsAreLimited", "TestWhatIsNotLimited",
	"TestPagesReadWhatIsLeft", "TestPagesCount", "TestRequestsAreLogged", "TestAnswersDoNotMix",
}

// The tests of seen pass in both forms of events.
func TestThroughFunction(t *testing.T) {
	for _, form := range []string{"url", "balancer"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			lambdatest.Again(t, form, slices.DeleteFunc(slices.Clone(seen), func(name string) bool {
				return form == "url" && name == "TestHeadersGivenTwice" // a function URL joins them
			}))
		})
	}
}
