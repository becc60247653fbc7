package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
)

var program = flag.String("program", "", "measure how long this program, as `make lambda` builds it for this machine, takes to start")

// TestMeasureStart prints how long a new process takes until it asks for its first event, until it
// has answered that, and then for another one.
func TestMeasureStart(t *testing.T) {
	if *program == "" {
		t.Skip("-args -program FILE measures")
	}
	endpoint := dynamotest.Dynoxide(t)
	_, table := newTable(t)
	const page = `{"version": "2.0", "rawPath": "/graphql", "rawQueryString": "query=%7Bproduct(id%3A%22a%22)%7Bcomments%7Bnodes%7Bid%7D%7D%7D%7D", "requestContext": {"domainName": "api.example", "http": {"method": "GET", "sourceIp": "192.0.2.1"}}}`
	for _, row := range []struct{ name, event string }{{"count", `{"Records": []}`}, {"api", page}} {
		var figures [3][]time.Duration
		for range 11 {
			for i, took := range startOnce(t, row.event, "TALKBACK_FUNCTION="+row.name, "TALKBACK_ENDPOINT="+endpoint, "TALKBACK_TABLE="+table) {
				figures[i] = append(figures[i], took)
			}
		}
		for i := range figures {
			slices.Sort(figures[i])
		}
		fmt.Printf("| %s | %d | %d | %.1f |\n", row.name, figures[0][5].Milliseconds(), figures[1][5].Milliseconds(), float64(figures[2][5].Microseconds())/1000)
	}
}

// startOnce measures one process: its start, its first event and its second one.
func startOnce(t *testing.T, event string, environment ...string) (took [3]time.Duration) {
	t.Helper()
	runtime := lambdatest.New()
	process := exec.CommandContext(t.Context(), *program)
	process.Env = append(append(os.Environ(), "AWS_LAMBDA_RUNTIME_API="+runtime.Address(), "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"), environment...)
	began := time.Now()
	lap := func(i int) { took[i], began = time.Since(began), time.Now() }
	must.Do(t, process.Start())
	defer func() {
		_ = process.Process.Kill() // as Lambda ends it
		_ = process.Wait()
	}()
	select {
	case <-runtime.Ready():
	case <-t.Context().Done():
	}
	lap(0)
	for i := 1; i < 3; i++ {
		must.Get(runtime.Invoke(t.Context(), []byte(event)))(t)
		lap(i)
	}
	return took
}
