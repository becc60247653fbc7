package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/cost"
)

// metered is a server that consumes a read unit for a page in each second, and twice as much
// between the first two readings. It reads the stream each second.
func metered(t *testing.T) string {
	t.Helper()
	var readings atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			fmt.Fprint(w, "# TYPE go_goroutines gauge\ngo_goroutines 7\n")
			return
		}
		units, uptime := 1000*readings.Add(1), int64(1000)
		if r.URL.Path == "/restarted" {
			uptime = 10_000 / units
		}
		fmt.Fprintf(w, `# TYPE talkback_table_read_units_total counter
talkback_table_read_units_total{talkback_index="all",talkback_purpose="PAGE"} %d
# TYPE db_client_operation_duration_seconds histogram
db_client_operation_duration_seconds_bucket{db_operation_name="GetRecords",le="+Inf"} 10000
db_client_operation_duration_seconds_sum{db_operation_name="GetRecords"} 10
db_client_operation_duration_seconds_count{db_operation_name="GetRecords"} 10000
# TYPE process_uptime_seconds gauge
process_uptime_seconds %d
`, units, uptime)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// billed runs cost and returns the bills from its JSON.
func billed(t *testing.T, arguments ...string) []cost.Bill {
	t.Helper()
	status, out, said := talkback(t.Context(), append([]string{"cost", "--json"}, arguments...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	var bills []cost.Bill
	must.Do(t, json.Unmarshal([]byte(out), &bills))
	return bills
}

// Metrics since a server's start are scaled to a month, and add up over servers. Storage is that of
// a workload.
func TestCostOfMetrics(t *testing.T) {
	t.Parallel()
	const seconds = cost.Hours * 3600.0
	alone := billed(t, "--metrics", metered(t)+"/metrics")[0]
	if reads := alone.Lines[0]; reads.What != "pages" || math.Abs(reads.Units-seconds) > 1 {
		t.Errorf("a unit a second: %+v", reads)
	}
	if polls := alone.Lines[1]; math.Abs(polls.Units-(10*seconds-2.5e6)) > 1 {
		t.Errorf("ten reads of the stream a second, less those that are free: %+v", polls)
	}
	both := billed(t, "--metrics", metered(t)+"/metrics,"+metered(t)+"/metrics", "../docs/shops/small.json")[0]
	if math.Abs(both.Lines[0].Units-2*seconds) > 1 || !strings.Contains(fmt.Sprint(both.Lines), "the table and its indexes") {
		t.Errorf("two servers and a workload: %+v", both.Lines)
	}
	if watched := billed(t, "--metrics", metered(t)+"/metrics", "--during", "1s")[0]; watched.Lines[0].Units < seconds {
		t.Errorf("1,000 units between two readings: %+v", watched.Lines[0])
	}
}

// A file may be a pipe that nobody writes to, and a server may not answer. The command can still be
// interrupted.
func TestInterruptedBeforeItBegins(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, arguments := range [][]string{{"cost", pipe}, {"cost", "--metrics", metered(t) + "/metrics"}, {"import", pipe, "--format", "jsonl"}} {
		status, _, said := talkback(ctx, arguments...)
		if status != 1 || said != "talkback: interrupted; run it again\n" {
			t.Errorf("%v: status %d: %s", arguments, status, said)
		}
	}
}

// What cannot be billed is refused by a sentence with a cure.
func TestCostRefuses(t *testing.T) {
	t.Parallel()
	wrong := filepath.Join(t.TempDir(), "wrong.json")
	writeFile(t, wrong, `{"products": 2, "comments": 9, "held": 3}`)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, row := range []struct {
		arguments []string
		want      string
	}{
		{nil, "docs/operate/cost.md has an example"},
		{[]string{wrong}, "held is 3: give a number from 0 to 1"},
		{[]string{"../docs/shops/small.json", "--price-reads", "NaN"}, "--price-reads NaN is not a price"},
		{[]string{"../docs/shops/small.json", "--price-reads", "cheap"}, "is not a number: give one such as 0.125"},
		{[]string{"../docs/shops/small.json", "--during", "1m"}, "give both"},
		{[]string{"--metrics", gone.URL + "/metrics"}, "is the server running with --admin-listen"},
		{[]string{"--metrics", metered(t) + "/other"}, "the metrics of another program"},
		{[]string{"--metrics", metered(t) + "/restarted", "--during", "1s"}, "the server was restarted between the readings: measure again"},
		{[]string{"--metrics", strings.Replace(gone.URL, "http://", "http://me:secret@", 1)}, "me:xxxxx@"},
		{[]string{"--metrics", "http://127.0.0.1:1/metrics,http://127.0.0.1:2/metrics", "--metrics", "http://127.0.0.1:1/metrics"}, "names a server twice"},
		{[]string{"--metrics", "http://127.0.0.1:1/metrics", wrong, wrong}, "one workload at most"},
	} {
		status, _, said := talkback(t.Context(), append([]string{"cost"}, row.arguments...)...)
		if status == 0 || !strings.Contains(strings.Join(strings.Fields(said), " "), row.want) || strings.Contains(said, "secret") {
			t.Errorf("%q: status %d, %s; want %q in it", row.arguments, status, said, row.want)
		}
	}
}
