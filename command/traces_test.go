package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/otlptest"
)

// lines returns the JSON lines of the log with a message.
func (s running) lines(message string) (found []map[string]any) {
	for text := range strings.Lines(s.said.String()) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == message {
			found = append(found, line)
		}
	}
	return found
}

// observed is a server with its log and traces.
type observed struct {
	running
	t        *testing.T
	receiver *otlptest.Receiver
}

// startObserved starts a server on its own table, as the command line does.
func startObserved(t *testing.T, flags ...string) *observed {
	o := &observed{t: t, receiver: otlptest.Start(t)}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", o.receiver.URL)
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderatorToken)
	o.running = serving(t, append(append(onTable(t), "--listen", "127.0.0.1:0", "--log-format", "json"), flags...)...)
	return o
}

// ask sends an operation with headers, and returns the answer.
func (o *observed) ask(query string, variables map[string]any, headers ...string) string {
	o.t.Helper()
	return post(o.t, o.address, operation(query, variables), headers...).body
}

// Secrets planted in a workload, which must not appear in telemetry.
const (
	plantedText  = "Klabautermann"
	plantedName  = "Wilhelmine Geheimrat"
	plantedEmail = "wilhelmine@example.com"
	plantedKey   = "idempotent-Geheimnis"
)

// write adds, edits and deletes comments in which secrets are planted. Five stay.
func (o *observed) write() {
	o.t.Helper()
	moderates := bearer(moderatorToken)
	var ids []string
	for i := range 6 {
		input := map[string]any{
			"productId": "globe", "rating": i%5 + 1, "language": "de", "title": plantedText, "text": plantedText + " und mehr",
			"author": map[string]any{"id": plantedEmail, "name": plantedName},
		}
		if i%2 == 0 {
			input["idempotencyKey"] = plantedKey + strconv.Itoa(i)
		}
		answer := o.ask(`mutation Add($input: AddCommentInput!) { addComment(input: $input) { comment { id } userErrors { message } } }`, map[string]any{"input": input}, moderates)
		_, id, _ := strings.Cut(answer, `"id":"`)
		id, _, found := strings.Cut(id, `"`)
		if !found {
			o.t.Fatal(answer)
		}
		ids = append(ids, id)
	}
	o.ask(`mutation Edit($input: EditCommentInput!) { editComment(input: $input) { comment { id } } }`,
		map[string]any{"input": map[string]any{"id": ids[0], "version": 1, "text": plantedText + " geändert"}}, moderates)
	o.ask(`mutation Delete($input: DeleteCommentInput!) { deleteComment(input: $input) { userErrors { message } } }`,
		map[string]any{"input": map[string]any{"id": ids[1]}}, moderates)
	// What is wrong, refused or forbidden has secrets in places where errors might cite them.
	o.ask(plantedText, nil, moderates)
	o.ask(fmt.Sprintf(`{ product(id: %q) { nothing } }`, plantedText), nil, moderates)
	o.ask(`query($id: ID!) { comment(id: $id) { id } }`, map[string]any{"id": plantedEmail}, moderates)
	o.ask(`mutation { deleteComment(input: {id: "`+ids[2]+`"}) { userErrors { message } } }`, nil, bearer(plantedKey))
	o.ask(`{ __typename }`, nil, "Baggage: user="+plantedEmail, "Cookie: "+plantedKey, "User-Agent: "+plantedName, "X-Forwarded-For: "+plantedEmail)
	fetch(o.t, http.MethodGet, asking(o.address, `{ product(id: "`+plantedText+`") { id } }`))
}

// The spans of a request match its plan: as many waves and calls, of the same indexes, for as many
// units. A batch of the stream is linked to the writes that it counts. No span, metric or log line
// contains a customer's text, a token or a person.
func TestTraces(t *testing.T) {
	o := startObserved(t, "--slow-operation", "1ns")
	o.ask(`{ product(id: "globe") { comments(first: 3) { nodes { id } } } }`, nil)
	o.write()
	must.Wait(t, "the comments are counted", func() bool {
		return strings.Contains(o.ask(`{ product(id: "globe") { stats { total } } }`, nil), `"total":5`)
	})
	const fields = `{ nodes { text author { name } } plan { waves queries readUnits reads { index queries } } }`
	traces := map[string]planned{}
	for i, arguments := range []string{
		`first: 20`, `first: 2, filter: {ratings: [1, 2, 5]}`, `last: 3, filter: {languages: ["de"]}`, `first: 1, filter: {ratings: [3, 4], languages: ["de"]}`, `first: 2, page: 2`,
	} {
		id := fmt.Sprintf("%032x", i+1)
		answer := o.ask(`query Planned { product(id: "globe") { comments(`+arguments+`) `+fields+` } }`, nil, "Traceparent: 00-"+id+"-00000000000000aa-01")
		var read struct {
			Data struct {
				Product struct{ Comments page }
			}
		}
		if err := json.Unmarshal([]byte(answer), &read); err != nil || !strings.Contains(answer, plantedText) {
			t.Fatalf("%v: %s", err, answer)
		}
		traces[id] = read.Data.Product.Comments.Plan
	}
	o.stop() // sends the remaining spans
	for id, plan := range traces {
		checkTrace(t, o.receiver.Spans(id), plan)
		if lines := slices.DeleteFunc(o.lines("request"), func(line map[string]any) bool { return line["trace"] != id }); len(lines) != 1 ||
			lines[0]["calls"].(float64) < float64(plan.Queries) || lines[0]["name"] != "Planned" {
			t.Errorf("the plan is %+v, and the log has %v", plan, lines)
		}
	}
	checkLinks(t, o.receiver.Spans(""))
	if slow := o.lines("an operation was slow"); len(slow) < 10 || !strings.Contains(fmt.Sprint(slow[0]["plan"]), `up to 4 comments of product "globe", newest first`) {
		t.Errorf("slow operations: %v", slow)
	}
	for _, secret := range []string{plantedText, plantedName, plantedEmail, plantedKey, moderatorToken, "Wilhelmine", "geändert"} {
		if strings.Contains(o.receiver.Raw(), secret) {
			t.Errorf("%q is in what is exported", secret)
		}
		if strings.Contains(o.said.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// checkTrace compares the spans of a request with its plan.
func checkTrace(t *testing.T, spans []otlptest.Span, plan planned) {
	t.Helper()
	byID := map[string]otlptest.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	path := func(s otlptest.Span) string {
		return byID[byID[s.Parent].Parent].Name + "/" + byID[s.Parent].Name + "/" + s.Name
	}
	waves, units, indexes := 0, 0.0, map[string]int{}
	for _, s := range spans {
		switch path(s) {
		case "//POST /graphql":
			if s.Parent != "00000000000000aa" || s.Attributes["http.response.status_code"] != "200" {
				t.Errorf("request: %+v", s)
			}
		case "/POST /graphql/query":
			if s.Attributes["graphql.operation.name"] != "Planned" || s.Attributes["talkback.outcome"] != "ok" {
				t.Errorf("operation: %+v", s)
			}
		case "POST /graphql/query/wave":
			waves++
		case "query/wave/Query":
			read, err := strconv.ParseFloat(s.Attributes["talkback.read_units"], 64)
			if err != nil || s.Attributes["db.collection.name"] == "" || s.Attributes["db.system.name"] != "aws.dynamodb" {
				t.Errorf("call: %+v", s)
			}
			units += read
			indexes[s.Attributes["aws.dynamodb.index_name"]]++
		default: // statistics and counting progress are read beside the plan
			if !strings.HasPrefix(path(s), "POST /graphql/query/") || s.Attributes["db.system.name"] == "" {
				t.Errorf("a span is %s", path(s))
			}
		}
	}
	want := map[string]int{}
	for _, read := range plan.Reads {
		want[read.Index] += read.Queries
	}
	if waves != plan.Waves || units != plan.ReadUnits {
		t.Errorf("%d waves and %v units are traced; the plan says %d and %v", waves, units, plan.Waves, plan.ReadUnits)
	}
	if diff := cmp.Diff(want, indexes); diff != "" {
		t.Errorf("calls of each index (-plan +traced): %s", diff)
	}
}

// checkLinks checks that writes are linked to the batches that counted them.
func checkLinks(t *testing.T, spans []otlptest.Span) {
	t.Helper()
	writes, linked := map[string]bool{}, map[string]bool{}
	for _, s := range spans {
		if s.Name == "mutation" {
			writes[s.ID] = true
		}
	}
	for _, s := range spans {
		for _, id := range s.Links {
			if s.Name != "process stream" || !writes[id] {
				t.Errorf("%s is linked to %s, which is no mutation", s.Name, id)
			}
			linked[id] = true
		}
	}
	if len(linked) == 0 {
		t.Errorf("of %d mutations, none is linked to the batch that counted it", len(writes))
	}
}
