package command_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/telemetry"
)

// scrape returns the values of all series of an admin listener, by their names with labels.
func scrape(t testing.TB, address string) map[string]float64 {
	t.Helper()
	page := fetch(t, http.MethodGet, "http://"+address+"/metrics")
	if page.status != http.StatusOK {
		t.Fatalf("status %d: %s", page.status, page.body)
	}
	series := map[string]float64{}
	for line := range strings.Lines(page.body) {
		if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			value := must.Get(strconv.ParseFloat(strings.TrimSpace(line[at:]), 64))(t)
			series[line[:at]] = value
		}
	}
	return series
}

// since returns the increase of each series that has risen.
func since(before, now map[string]float64, prefixes ...string) map[string]float64 {
	risen := map[string]float64{}
	for name, value := range now {
		for _, prefix := range prefixes {
			if rise := value - before[name]; strings.HasPrefix(name, prefix) && rise != 0 {
				risen[name] = math.Round(rise*1000) / 1000
			}
		}
	}
	return risen
}

const (
	purposeUnits = `talkback_table_read_units_total{talkback_index="%s",talkback_purpose="%s"}`
	operations   = `talkback_operations_total{error_type="%s",graphql_operation_type="%s",talkback_outcome="%s"}`
)

// A server's metrics on a real engine match what happened: operations with their outcomes, and the
// units of every read in the answers' plans.
func TestMetricsAreWhatHappened(t *testing.T) {
	t.Parallel()
	admin := freeAddress(t)
	s := startServer(t, append(onTable(t), "--admin-listen", admin, "--page-age", "1h")...)
	for i := range 12 {
		s.ask(fmt.Sprintf(`mutation { addComment(input: {productId: "kettle", rating: %d, language: "%s", text: "It boils.", author: {id: "a%d", name: "A"}}) { comment { id } } }`,
			1+i%5, []string{"en", "de", "fr"}[i%3], i))
	}
	must.Wait(t, "all comments are counted", func() bool {
		now := scrape(t, admin)
		return now["talkback_stream_records_total"] >= 12 && now["talkback_stream_complete"] == 1 && now["talkback_page_index_available"] == 1
	})
	must.Wait(t, "the page cache trusts the indexes", func() bool {
		s.ask(`{ product(id: "kettle") { comments(first: 4) { nodes { id } } } }`)
		return scrape(t, admin)[`talkback_cache_lookups_total{talkback_cache="pages",talkback_result="hit"}`] > 0
	})
	written := settled(t, admin)
	for _, index := range []string{"table", "all", "byLang", "byRating", "byLangAndRating"} {
		if got := written[fmt.Sprintf(`talkback_table_write_units_total{talkback_index="%s",talkback_purpose="COMMENT"}`, index)]; got < 12 {
			t.Errorf("12 comments took %v write units of %s", got, index)
		}
	}
	for _, row := range []struct{ name, why string }{
		{`talkback_stream_heartbeats_total{talkback_direction="sent"}`, "heartbeats were sent"},
		{`talkback_stream_heartbeats_total{talkback_direction="received"}`, "and came through"},
		{`talkback_table_write_units_total{talkback_index="table",talkback_purpose="COUNTING"}`, "comments were counted"},
		{`talkback_table_write_units_total{talkback_index="table",talkback_purpose="LEASE"}`, "leases were renewed"},
		{`db_client_operation_duration_seconds_count{db_operation_name="GetRecords",db_system_name="aws.dynamodb",error_type="none"}`, "the stream was read"},
		{`talkback_stream_shards`, "this process reads it"},
		{`talkback_api_limit`, "some requests are let in"},
	} {
		if written[row.name] <= 0 {
			t.Errorf("%s: %s is %v", row.why, row.name, written[row.name])
		}
	}
	if lag, told := written["talkback_stream_lag_seconds"]; !told || lag > 30 {
		t.Errorf("counting is %v s behind, told: %v", lag, told)
	}

	units := map[string]float64{}
	asked := func(page string) string {
		return `{ product(id: "kettle") { ` + page + ` { plan { reads { purpose index readUnits } } } } }`
	}
	pages := []string{
		`comments(first: 2, filter: {languages: ["en", "de"], ratings: [1, 2]})`,
		`comments(first: 3, filter: {ratings: [4, 5]})`,
		`comments(first: 3)`,
	}
	for _, page := range pages {
		got := s.plan(t, asked(page))
		for _, read := range got.Reads {
			units[fmt.Sprintf(purposeUnits, read.Index, read.Purpose)] += read.ReadUnits
		}
	}
	s.ask(asked(pages[2])) // from the page cache
	s.ask(`{ product(id: "kettle") { comments(first: 2, after: "no cursor") { nodes { id } } } }`)
	s.ask(`{ product(id: "kettle") { nothing } }`)

	now := waitForAnswers(t, admin, written, 6)
	if diff := cmp.Diff(units, since(written, now, `talkback_table_read_units_total{talkback_index="all"`, `talkback_table_read_units_total{talkback_index="by`)); diff != "" {
		t.Errorf("read units by index and purpose, as plans tell them (-) and as measured (+):\n%s", diff)
	}
	want := map[string]float64{
		fmt.Sprintf(operations, "none", "query", "ok"):                          4,
		fmt.Sprintf(operations, "BAD_CURSOR", "query", "partial"):               1,
		fmt.Sprintf(operations, "GRAPHQL_VALIDATION_FAILED", "none", "refused"): 1,
	}
	check.Equal(t, want, since(written, now, "talkback_operations_total"), "operations")
	if diff := cmp.Diff(map[string]float64{
		`talkback_cache_lookups_total{talkback_cache="pages",talkback_result="hit"}`:  1,
		`talkback_cache_lookups_total{talkback_cache="pages",talkback_result="miss"}`: 3,
	}, since(written, now, `talkback_cache_lookups_total{talkback_cache="pages"`)); diff != "" {
		t.Errorf("looks into the page cache (-want +got):\n%s", diff)
	}
	for name := range maps.Keys(since(written, now, "http_server_request_duration_seconds_count")) {
		if !strings.Contains(name, `http_route="/graphql"`) {
			t.Errorf("a request was measured that nobody sent: %s", name)
		}
	}
}

// waitForAnswers scrapes until the metrics count the given number of operations more. The server
// counts an operation after it sent the answer.
func waitForAnswers(t *testing.T, admin string, before map[string]float64, more int) (now map[string]float64) {
	t.Helper()
	must.Wait(t, "all answers are measured", func() bool {
		now = scrape(t, admin)
		total := 0.0
		for _, rise := range since(before, now, "talkback_operations_total") {
			total += rise
		}
		return total >= float64(more)
	})
	return now
}

// settled scrapes until all answered requests are in the metrics.
func settled(t *testing.T, admin string) (now map[string]float64) {
	t.Helper()
	must.Wait(t, "all requests are measured", func() bool {
		now = scrape(t, admin)
		return now[`http_server_active_requests{http_request_method="POST",url_scheme="http"}`] == 0
	})
	return now
}

// plan returns the plan of a page in an answer.
func (s *server) plan(t *testing.T, query string) planned {
	t.Helper()
	var answer struct {
		Data struct {
			Product struct{ Comments page }
		}
	}
	text := s.ask(query)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Data.Product.Comments.Plan.Reads) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	return answer.Data.Product.Comments.Plan
}

// The metrics separate the units of each index of the table.
func TestIndexesAreMeasured(t *testing.T) {
	t.Parallel()
	for _, row := range telemetry.Instruments() {
		for _, a := range row.Attributes {
			for _, index := range layout.Indexes() {
				if a.Key == "talkback.index" && !slices.Contains(a.Values, string(index)) {
					t.Errorf("%s folds %s into %s", row.Name, index, telemetry.Other)
				}
			}
		}
	}
}
