package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
	"github.com/talkback/talkback/stream"
)

// The program that `make lambda` builds, for this machine, runs in AWS's emulator of Lambda: one
// counts what the stream hands over, one answers requests by it.
func TestInEmulator(t *testing.T) {
	endpoint := dynamotest.Dynoxide(t)
	client, table := newTable(t)
	must.Do(t, stream.MarkComplete(t.Context(), leases.NewLeases(client, table), stream.State{}, time.Now()))
	added := commenttest.Many(commenttest.Rand(t), "mug", 1)[0]
	must.Get(dynamo.NewStore(client, table, dynamo.Options{}).Add(t.Context(), added, ""))(t)
	environment := []string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "TALKBACK_TABLE=" + table, "TALKBACK_ENDPOINT=" + endpoint,
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b",
	}
	program := buildFunction(t)
	records, err := json.Marshal(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{{
		EventSource: "aws:dynamodb", EventSourceArn: "arn:aws:dynamodb:eu-central-1:1:table/" + table + "/stream/2026-01-01T00:00:00.000",
		Change: events.DynamoDBStreamRecord{SequenceNumber: "1", NewImage: imageOf(added)},
	}}})
	must.Do(t, err)
	if got, err := emulate(t, program, append(environment, "TALKBACK_FUNCTION=count"))(t.Context(), records); err != nil || string(got) != `{"batchItemFailures":[]}` {
		t.Errorf("%s, %v", got, err)
	}
	api := emulate(t, program, append(environment, "TALKBACK_FUNCTION=api"))
	const query, want = `{product(id:"mug"){stats{total}comments{nodes{id}}}}`, `{"data":{"product":{"stats":{"total":1},"comments":{"nodes":[{"id":"%s"}]}}}`
	body, _ := json.Marshal(map[string]string{"query": query})
	for form, front := range map[string]http.Handler{"a function URL and an HTTP API": api.URL(), "a load balancer": api.Balancer()} {
		for _, request := range []*http.Request{
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/graphql?query="+strings.ReplaceAll(query, `"`, "%22"), nil),
			httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example/graphql", bytes.NewReader(body)),
		} {
			request.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			front.ServeHTTP(answer, request)
			if got := answer.Body.String(); answer.Code != http.StatusOK || !strings.HasPrefix(got, fmt.Sprintf(want, added.ID)) {
				t.Errorf("%s, %s: %d %.300s", form, request.Method, answer.Code, got)
			}
		}
	}
}

// buildFunction builds the function for this machine.
func buildFunction(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bootstrap")
	must.Do(t, provisiontest.Build(".", path))
	return path
}

// emulate runs a function with an environment in the emulator, which listens on loopback, until the
// test ends.
func emulate(t *testing.T, program string, environment []string) lambdatest.Invoke {
	t.Helper()
	const suite = "the function of AWS Lambda in its emulator"
	emulator := provisiontest.Fetched(t, suite, "bin/aws-lambda-rie")
	runtime := servertest.FreePort(t)
	server := servertest.Start(t, provisiontest.Program(t, "env", suite), func(port uint16) []string {
		return append(environment, emulator,
			fmt.Sprintf("--runtime-interface-emulator-address=127.0.0.1:%d", port), fmt.Sprintf("--runtime-api-address=127.0.0.1:%d", runtime), program)
	}, servertest.Connects)
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server.Address()+"/2015-03-31/functions/function/invocations", bytes.NewReader(payload))
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		return io.ReadAll(response.Body)
	}
}
