package bench

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
)

// mostFunctions is how many functions of this module may be on the stack when a page is read. 14 of
// them are what gqlgen generates in graph, 4 take a list as a chain of links. A newcomer who
// follows a request reads the others.
const mostFunctions = 40

// From the handler of a request to the SDK's Query, the newest comments pass through few functions.
// Inlined calls count too.
func TestFunctionsFromRequestToQuery(t *testing.T) {
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	comments := load(t, endpoint, table)
	stack := &stackClient{tape: newTape()}
	newest := casesOf(comments)[0]
	ask(t, serverOver(tapedClient(endpoint, stack), endpoint, table, streamtest.Prompt{}), newest.body)
	if len(stack.functions) == 0 || len(stack.functions) > mostFunctions {
		t.Errorf("%s: %d functions of this module from request to Query, want 1 to %d:\n%s",
			newest.name, len(stack.functions), mostFunctions, strings.Join(stack.functions, "\n"))
	}
}

// stackClient records the functions of this module that led to the last Query.
type stackClient struct {
	*tape
	functions []string
}

// Do answers a call of the SDK.
func (c *stackClient) Do(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.Header.Get(targetHeader), ".Query") {
		c.functions = functionsBeforeQuery()
	}
	return c.tape.Do(request)
}

// functionsBeforeQuery returns the functions of this module that called the SDK's Query, the last
// one first. It leaves out functions that the SDK calls back.
func functionsBeforeQuery() (functions []string) {
	counters := make([]uintptr, 1000)
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
	for called, more := false, true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		called = called || strings.HasSuffix(frame.Function, "/service/dynamodb.(*Client).Query")
		ours := strings.HasPrefix(frame.Function, "github.com/talkback/talkback/") && !strings.Contains(frame.Function, "/internal/bench.")
		if called && ours {
			functions = append(functions, frame.Function)
		}
	}
	return functions
}
