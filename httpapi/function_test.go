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

// These external tests of this package cannot run through a function, for the reasons given. The
// list is for readers.
var _ = []struct {
	why   string
	tests []string
}{
	{"AWS Lambda takes the connections and bounds them", []string{
		"TestTooMuchArrives", "TestTooManyHeads", "TestRoomForConnections", "TestRefusedAtOnce", "TestServerLog",
	}},
	{"the whole body is there before there is an event", []string{"TestSlowBodiesTakeNoPlace", "TestBodiesTooLargeAreNotSent", "TestBodyEndsEarly"}},
	{"the gateway has the whole answer before its client reads", []string{"TestClientsThatDoNotRead", "TestSlowReaders", "TestRefusalsAndPagesAreCounted"}},
	{"a client that hangs up does not end an invocation", []string{"TestClientHangsUp", "TestClientHangsUpInTheQueue"}},
	{"a function is not asked to end", []string{"TestDrain", "TestDrainOverTLS", "TestDrainWaitsForSlowReaders", "TestReadinessEnds"}},
	{"a function that has no API yet gets no events", []string{"TestOpening", "TestWaitingForTheAPI"}},
	{"a gateway alone knows whether its client came by TLS", []string{"TestStrictTransportSecurity"}},
	{"time is that of a bubble, which has no network", []string{"TestReadiness", "TestWritesTeach"}},
	{"allocations are counted", []string{"TestObserversAllocateLittle"}},
	{"no request is sent", []string{"TestOriginsAreChecked", "TestSlowOperationsAreLogged", "TestTheTraceOfALine"}},
}

// seen are the other tests, which run through a function too.
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
