package telemetry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// rule is an alert of infra/alerts.yml.
type rule struct {
	Alert, Expr string
	For         string
	Labels      struct{ Severity string }
	Annotations struct{ Summary string }
}

// rules returns those of infra/alerts.yml.
func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.UnmarshalWithOptions(read(t, "infra/alerts.yml"), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return file.Groups[0].Rules
}

// series are those of a Prometheus, each with a value a minute, in the notation of promtool:
// 0+60x30 is 31 values that begin with 0 and rise by 60. A _ is none.
type series map[string]string

// minutes is how many values a series has; trouble begins after the first hour, of which a minute
// is scraped at 0 already.
const minutes = 150

// Series as two healthy servers show them, one of which reads the stream.
var healthy = series{
	`up{job="talkback",instance="a"}`:                                                                               "1x150",
	`up{job="talkback",instance="b"}`:                                                                               "1x150",
	`process_uptime_seconds{job="talkback",instance="a"}`:                                                           "9+60x150",
	`process_uptime_seconds{job="talkback",instance="b"}`:                                                           "9+60x150",
	`process_uptime_seconds{job="other",instance="c"}`:                                                              "0 5 2 9 3 8 1 7 2 8 3 6 1x138",
	`go_memory_used_bytes{job="talkback",instance="a",go_memory_type="stack"}`:                                      "10x150",
	`go_memory_used_bytes{job="talkback",instance="a",go_memory_type="other"}`:                                      "60x150",
	`go_memory_limit_bytes{job="talkback",instance="a"}`:                                                            "100x150",
	`talkback_operations_total{error_type="none",graphql_operation_type="query",talkback_outcome="ok"}`:             "0+6000x150",
	`talkback_operations_total{error_type="BAD_INPUT",graphql_operation_type="query",talkback_outcome="failed"}`:    "0+900x150",
	`talkback_operations_total{error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`:     "0+6x150",
	`talkback_operations_total{error_type="RATE_LIMITED",graphql_operation_type="none",talkback_outcome="refused"}`: "0+600x150",
	`talkback_operation_duration_seconds_bucket{graphql_operation_type="query",talkback_outcome="ok",le="0.5"}`:     "0+5980x150",
	`talkback_operation_duration_seconds_count{graphql_operation_type="query",talkback_outcome="ok"}`:               "0+6000x150",
	`talkback_refusals_total{instance="a",talkback_reason="limit"}`:                                                 "0+6x150",
	`talkback_refusals_total{instance="a",talkback_reason="client-reads"}`:                                          "0+600x150",
	`talkback_client_limits_store_available{instance="a"}`:                                                          "1x150",
	`talkback_client_limits_store_available{instance="b"}`:                                                          "1x150",
	`talkback_table_throttles_total{db_operation_name="Query"}`:                                                     "0+3x150",
	`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="Query",error_type="none"}`:        "0+6000x150",
	`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="PutItem",error_type="400"}`:       "0+600x150",
	`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="Query",error_type="timeout"}`:     "0+6x150",
	`db_client_operation_duration_seconds_count{job="other",db_operation_name="Query",error_type="timeout"}`:        "0+60000x150",
	`talkback_stream_lag_seconds{instance="a"}`:                                                                     "3x150",
	`talkback_stream_complete{instance="a"}`:                                                                        "1x150",
	`talkback_stream_shards{instance="a"}`:                                                                          "1x150",
	`talkback_stream_shards{instance="b"}`:                                                                          "0x150",
	`talkback_stream_heartbeats_total{instance="a",talkback_direction="sent"}`:                                      "0+60x150",
	`talkback_stream_heartbeats_total{instance="a",talkback_direction="received"}`:                                  "0+60x150",
	`talkback_stream_dead_letters_total{instance="a"}`:                                                              "0x150",
	`talkback_stream_gaps_total{instance="a"}`:                                                                      "0x150",
	`talkback_hook_lag_seconds{instance="a",talkback_hook="k3"}`:                                                    "4x150",
	`talkback_hook_lag_seconds{instance="b",talkback_hook="k3"}`:                                                    "0x150",
	`talkback_hook_lag_seconds{instance="a",talkback_hook="rests"}`:                                                 "0+60x150",
	`talkback_hook_paused{instance="a",talkback_hook="k3"}`:                                                         "0x150",
	`talkback_hook_paused{instance="a",talkback_hook="rests"}`:                                                      "1x150",
	`talkback_hook_deliveries_total{instance="a",talkback_hook="k3",talkback_outcome="failed"}`:                     "0+1x150",
	`talkback_hook_deliveries_total{instance="a",talkback_hook="k3",talkback_outcome="dead_lettered"}`:              "0x150",
	`talkback_page_index_lag_seconds{instance="a"}`:                                                                 "3x150",
	`talkback_page_index_available{instance="a"}`:                                                                   "1x150",
	`talkback_page_index_available{instance="b"}`:                                                                   "1x150",
	`talkback_clock_offset_seconds{instance="a"}`:                                                                   "0x50 4x2 0x96",
	`talkback_clock_offset_seconds{instance="b"}`:                                                                   "0x50 0.4x100",

	`talkback_operations_total{error_type="none",graphql_operation_type="mutation",talkback_outcome="ok"}`:                         "0+60x150",
	`talkback_operations_total{error_type="UNAUTHENTICATED",graphql_operation_type="mutation",talkback_outcome="partial"}`:         "0+6x150",
	`http_server_request_duration_seconds_count{job="talkback",instance="a",http_route="/readyz",http_response_status_code="200"}`: "0+12x150",
	`http_server_request_duration_seconds_count{job="talkback",instance="b",http_route="/readyz",http_response_status_code="200"}`: "0+12x150",
}

// Each alert fires in its case, and no other does; in the everyday life of servers, none does.
func TestAlertsFire(t *testing.T) {
	all := everything(t)
	for _, row := range []struct {
		why    string
		change series
		want   []string
	}{
		{"all is well", nil, nil},
		{"two restarts one after the other, as for a new version", series{
			`process_uptime_seconds{job="talkback",instance="a"}`:                                               "9+60x60 9+60x89",
			`process_uptime_seconds{job="talkback",instance="b"}`:                                               "9+60x62 9+60x87",
			`up{job="talkback",instance="a"}`:                                                                   "1x59 0 1x90",
			`talkback_operations_total{error_type="none",graphql_operation_type="query",talkback_outcome="ok"}`: "0+6000x60 0+6000x89",
			`talkback_stream_shards{instance="a"}`:                                                              "1x60 0x89",
			`talkback_stream_shards{instance="b"}`:                                                              "0x60 1x89",
			`talkback_stream_complete{instance="a"}`:                                                            "1x60 _x3 1x86",
			`talkback_stream_lag_seconds{instance="a"}`:                                                         "3x60 _x3 20 3x85",
			`talkback_page_index_available{instance="a"}`:                                                       "1x60 0x5 1x84",
			`talkback_client_limits_store_available{instance="b"}`:                                              "1x60 0x2 1x87",

			`http_server_request_duration_seconds_count{job="talkback",instance="a",http_route="/readyz",http_response_status_code="503"}`: "0x60 60x90",
		}, nil},
		{"nobody asks for anything at night", series{
			`talkback_operations_total{error_type="none",graphql_operation_type="query",talkback_outcome="ok"}`:             "0x150",
			`talkback_operations_total{error_type="BAD_INPUT",graphql_operation_type="query",talkback_outcome="failed"}`:    "0x150",
			`talkback_operations_total{error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`:     "0x150",
			`talkback_operations_total{error_type="RATE_LIMITED",graphql_operation_type="none",talkback_outcome="refused"}`: "0x150",
			`talkback_operation_duration_seconds_bucket{graphql_operation_type="query",talkback_outcome="ok",le="0.5"}`:     "0x150",
			`talkback_operation_duration_seconds_count{graphql_operation_type="query",talkback_outcome="ok"}`:               "0x150",
			`talkback_refusals_total{instance="a",talkback_reason="client-reads"}`:                                          "0x150",
		}, nil},
		{"few ask for something at night, and some of them badly", series{
			`talkback_operations_total{error_type="none",graphql_operation_type="query",talkback_outcome="ok"}`:                    "0+1x150",
			`talkback_operations_total{error_type="BAD_INPUT",graphql_operation_type="query",talkback_outcome="failed"}`:           "0x150",
			`talkback_operations_total{error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`:            "0x63 1x3 2x3 3x77",
			`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="Query",error_type="none"}`:               "0+1x150",
			`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="PutItem",error_type="400"}`:              "0x150",
			`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="Query",error_type="timeout"}`:            "0x63 1x3 2x3 3x77",
			`talkback_operations_total{error_type="RATE_LIMITED",graphql_operation_type="none",talkback_outcome="refused"}`:        "0x150",
			`talkback_operations_total{error_type="none",graphql_operation_type="mutation",talkback_outcome="ok"}`:                 "0x150",
			`talkback_operations_total{error_type="UNAUTHENTICATED",graphql_operation_type="mutation",talkback_outcome="partial"}`: "0x63 1x10 2x10 3x65",
			`talkback_operation_duration_seconds_bucket{graphql_operation_type="query",talkback_outcome="ok",le="0.5"}`:            "0x150",
			`talkback_operation_duration_seconds_count{graphql_operation_type="query",talkback_outcome="ok"}`:                      "0x63 1x10 2x10 3x65",
			`talkback_refusals_total{instance="a",talkback_reason="client-reads"}`:                                                 "0x150",
		}, nil},
		{"a process hangs", series{`up{job="talkback",instance="b"}`: "1x60 0x89"}, []string{"TalkbackDown"}},
		{"a process ends within seconds, and is started again after five minutes", series{
			`up{job="talkback",instance="b"}`: "1x60 0x4 1 0x4 1 0x4 1 0x4 1 0x4 1 0x4 1x54",
		}, []string{"TalkbackDown"}},
		{"a server is removed, and did not answer at its end", series{`up{job="talkback",instance="c"}`: "1x60 0x3 stale _x85"}, nil},
		{"a server lost its permissions, so that nothing is asked of it", series{
			`http_server_request_duration_seconds_count{job="talkback",instance="b",http_route="/readyz",http_response_status_code="200"}`: "0+12x60 720x89",
			`http_server_request_duration_seconds_count{job="talkback",instance="b",http_route="/readyz",http_response_status_code="503"}`: "0x60 12+12x89",
		}, []string{"TalkbackNotReady"}},
		{"all processes are gone", gone(), []string{"TalkbackDown", "TalkbackNothingCounts"}},
		{"a twentieth fails inside", series{
			`talkback_operations_total{error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`: "0x60 0+300x89",
		}, []string{"TalkbackErrors"}},
		{"a twentieth fails inside, while one client is refused most of what comes", series{
			`talkback_operations_total{error_type="RATE_LIMITED",graphql_operation_type="none",talkback_outcome="refused"}`: "0+600x60 36000+60000x89",
			`talkback_operations_total{error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`:     "0x60 0+300x89",
		}, []string{"TalkbackErrors"}},
		{"a fifth is slow, suddenly", series{
			`talkback_operation_duration_seconds_bucket{graphql_operation_type="query",talkback_outcome="ok",le="0.5"}`: "0+5980x60 358800+4800x89",
		}, []string{"TalkbackSlowBurnsFast", "TalkbackSlowBurnsSlowly"}},
		{"a tenth is slow, for hours", series{
			`talkback_operation_duration_seconds_bucket{graphql_operation_type="query",talkback_outcome="ok",le="0.5"}`: "0+5400x150",
		}, []string{"TalkbackSlowBurnsSlowly"}},
		{"more comes than a server carries", series{
			`talkback_refusals_total{instance="a",talkback_reason="limit"}`: "0+6x60 360+120x89",
		}, []string{"TalkbackSaturated"}},
		{"all visitors are taken for one", series{
			`talkback_refusals_total{instance="a",talkback_reason="client-reads"}`: "0+600x60 36000+3000x89",
		}, []string{"TalkbackClientsLimited"}},
		{"the issuer of tokens has other keys", series{
			`talkback_operations_total{error_type="none",graphql_operation_type="mutation",talkback_outcome="ok"}`:                 "0+60x60 3600x89",
			`talkback_operations_total{error_type="UNAUTHENTICATED",graphql_operation_type="mutation",talkback_outcome="partial"}`: "0+6x60 360+60x89",
		}, []string{"TalkbackTokensRefused"}},
		{"one server does not reach the Redis of client limits", series{
			`talkback_client_limits_store_available{instance="b"}`: "1x60 0x89",
		}, []string{"TalkbackClientLimitsApart"}},
		{"the table is throttled", series{
			`talkback_table_throttles_total{db_operation_name="Query"}`: "0+3x60 180+60x89",
		}, []string{"TalkbackThrottled"}},
		{"a tenth of the calls times out", series{
			`db_client_operation_duration_seconds_count{job="talkback",db_operation_name="Query",error_type="timeout"}`: "0+6x60 360+700x89",
		}, []string{"TalkbackTableFails"}},
		{"more is written than counted", series{
			`talkback_stream_lag_seconds{instance="a"}`: "3x60 0+30x89",
		}, []string{"TalkbackCountingLate"}},
		{"counting stands still for half a day", series{
			`talkback_stream_lag_seconds{instance="a"}`: "40000+60x150",
		}, []string{"TalkbackCountingLate", "TalkbackChangesExpire"}},
		{"counts may be wrong", series{
			`talkback_stream_complete{instance="a"}`:    "1x60 0x89",
			`talkback_stream_lag_seconds{instance="a"}`: "3x60 _x89",
		}, []string{"TalkbackCountsUnknown"}},
		{"the role of the process that counts may read the leases no longer", series{
			`talkback_stream_complete{instance="a"}`:                                   "1x60 _x89",
			`talkback_stream_lag_seconds{instance="a"}`:                                "3x60 _x89",
			`talkback_stream_heartbeats_total{instance="a",talkback_direction="sent"}`: "0+60x60 3600x89",
		}, []string{"TalkbackCountsUnknown"}},
		{"no process reads the stream, as another program took its leases", series{
			`talkback_stream_shards{instance="a"}`: "1x60 0x89",
		}, []string{"TalkbackNothingCounts"}},
		{"the stream was switched off", series{
			`talkback_stream_heartbeats_total{instance="a",talkback_direction="received"}`: "0+60x60 3600x89",
		}, []string{"TalkbackHeartbeatsMissing"}},
		{"a record is dead-lettered", series{
			`talkback_stream_dead_letters_total{instance="a"}`: "0x60 1x89",
		}, []string{"TalkbackDeadLetters"}},
		{"a process finds a gap before it is first scraped", series{
			`process_uptime_seconds{job="talkback",instance="c"}`: "_x90 9+60x59",
			`talkback_stream_gaps_total{instance="c"}`:            "_x90 1x59",
		}, []string{"TalkbackGap"}},
		{"Prometheus is new, and what a process counted is old", series{
			`process_uptime_seconds{job="talkback",instance="c"}`:                                              "_x90 90000+60x59",
			`talkback_stream_dead_letters_total{instance="c"}`:                                                 "_x90 1x59",
			`talkback_stream_gaps_total{instance="c"}`:                                                         "_x90 1x59",
			`talkback_hook_deliveries_total{instance="c",talkback_hook="k3",talkback_outcome="dead_lettered"}`: "_x90 1x59",
		}, nil},
		{"Prometheus was away when things happened", series{
			`process_uptime_seconds{job="talkback",instance="c"}`:                                              "90000+60x19 _x70 95400+60x59",
			`talkback_stream_dead_letters_total{instance="c"}`:                                                 "0x19 _x70 1x59",
			`talkback_stream_gaps_total{instance="c"}`:                                                         "0x19 _x70 1x59",
			`talkback_hook_deliveries_total{instance="c",talkback_hook="k3",talkback_outcome="dead_lettered"}`: "1x19 _x70 2x59",
		}, []string{"TalkbackDeadLetters", "TalkbackGap", "TalkbackHookDeadLetters"}},
		{"nothing counts one of two tables, whose requests all fail", series{
			`process_uptime_seconds{job="talkback",instance="c",table="second"}`:                                                       "9+60x150",
			`talkback_stream_shards{instance="c",table="second"}`:                                                                      "0x150",
			`talkback_stream_heartbeats_total{instance="c",table="second",talkback_direction="sent"}`:                                  "0+60x150",
			`talkback_operations_total{table="second",error_type="INTERNAL",graphql_operation_type="query",talkback_outcome="failed"}`: "0+6x150",
		}, []string{"TalkbackErrors", "TalkbackCountsUnknown", "TalkbackNothingCounts", "TalkbackHeartbeatsMissing"}},
		{"the receiver of a hook is away", series{
			`talkback_hook_lag_seconds{instance="a",talkback_hook="k3"}`: "4x60 0+60x89",
		}, []string{"TalkbackHookLate"}},
		{"a hook was paused and forgotten", series{
			`talkback_hook_lag_seconds{instance="a",talkback_hook="rests"}`: "600000+60x150",
		}, []string{"TalkbackHookLate"}},
		{"the receiver of a hook was away for days", series{
			`talkback_hook_deliveries_total{instance="a",talkback_hook="k3",talkback_outcome="dead_lettered"}`: "0x60 1x89",
		}, []string{"TalkbackHookDeadLetters"}},
		{"the first event of a hook is given up, by a process of long ago", series{
			`talkback_hook_deliveries_total{instance="a",talkback_hook="k7",talkback_outcome="dead_lettered"}`: "_x90 1x59",
		}, []string{"TalkbackHookDeadLetters"}},
		{"more want to follow than may", series{
			`talkback_refusals_total{instance="a",talkback_reason="subscriptions"}`: "0x60 0+60x89",
		}, []string{"TalkbackSubscriptionsFull"}},
		{"one server does not reach the store of page numbers", series{
			`talkback_page_index_available{instance="b"}`: "1x60 0x89",
		}, []string{"TalkbackPageNumbersUnavailable"}},
		{"page numbers fall behind", series{
			`talkback_page_index_lag_seconds{instance="a"}`: "3x60 0+30x89",
		}, []string{"TalkbackPageNumbersLate"}},
		{"a server's clock is behind", series{
			`talkback_clock_offset_seconds{instance="b"}`: "0x60 -3x89",
		}, []string{"TalkbackClockOff"}},
		{"a process ends again and again", series{
			`process_uptime_seconds{job="talkback",instance="b"}`: "9+60x60 9 69 129 9 69 129 9 69 129 9 69 129 9 69 129 9 69 129 9+60x71",
		}, []string{"TalkbackRestarts"}},
		{"memory is near its limit", series{
			`go_memory_used_bytes{job="talkback",instance="a",go_memory_type="other"}`: "60x60 85x89",
		}, []string{"TalkbackMemory"}},
	} {
		if diff := cmp.Diff(row.want, fired(t, row.change)); diff != "" {
			t.Errorf("%s: alerts (-want +got):\n%s", row.why, diff)
		}
		for _, of := range []series{healthy, row.change} {
			for name := range of {
				if problems := check(name, all); problems != nil && !strings.Contains(name, `job="other"`) {
					t.Errorf("%s: no process shows %s: %v", row.why, name, problems)
				}
			}
		}
	}
}

// gone are healthy series that end after an hour.
func gone() series {
	ended := series{}
	for name, values := range healthy {
		ended[name] = strings.ReplaceAll(values, "x150", "x60")
	}
	return ended
}

// fired returns the names of the alerts that fire while healthy series are changed so.
func fired(t *testing.T, change series) (names []string) {
	t.Helper()
	shown := stored(t, change)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	for _, r := range rules(t) {
		query, err := engine.NewRangeQuery(t.Context(), shown, nil, r.Expr, minute(0), minute(minutes), time.Minute)
		if err != nil {
			t.Fatal(r.Alert, err)
		}
		found, err := query.Exec(t.Context()).Matrix()
		if err != nil {
			t.Fatal(r.Alert, err)
		}
		if slices.ContainsFunc(found, func(s promql.Series) bool { return lasts(s, r.waits(t)) }) {
			names = append(names, r.Alert)
		}
		query.Close()
	}
	return names
}

// waits is how long the expression has to hold before the alert fires.
func (r rule) waits(t *testing.T) time.Duration {
	t.Helper()
	if r.For == "" {
		return 0
	}
	d, err := time.ParseDuration(r.For)
	if err != nil {
		t.Fatal(r.Alert, err)
	}
	return d
}

// lasts reports whether a series has a point each minute for as long.
func lasts(s promql.Series, wanted time.Duration) bool {
	since := int64(0)
	for i, point := range s.Floats {
		if i == 0 || point.T-s.Floats[i-1].T > time.Minute.Milliseconds() {
			since = point.T
		}
		if point.T-since >= wanted.Milliseconds() {
			return true
		}
	}
	return false
}

func minute(n int) time.Time { return time.Unix(int64(60*n), 0) }

// stored returns the storage of healthy series and of those that are changed.
func stored(t *testing.T, change series) storage.Queryable {
	t.Helper()
	merged := maps.Clone(healthy)
	maps.Copy(merged, change)
	var all []storage.Series
	for name, values := range merged {
		all = append(all, parsed(t, name, values))
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &selected{all: slices.DeleteFunc(slices.Clone(all), func(s storage.Series) bool {
				return slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) })
			})}
		},
	}}
}

func parsed(t *testing.T, name, values string) storage.Series {
	t.Helper()
	set, sequence, err := parser.ParseSeriesDesc(name + " " + values)
	if err != nil || len(sequence) > minutes+2 {
		t.Fatalf("%s %s: %d values, %v", name, values, len(sequence), err)
	}
	all := promql.Series{Metric: set}
	for i, v := range sequence {
		if !v.Omitted {
			all.Floats = append(all.Floats, promql.FPoint{T: minute(i).UnixMilli(), F: v.Value})
		}
	}
	return promql.NewStorageSeries(all)
}

// selected are the series of a selector. It implements [storage.SeriesSet].
type selected struct {
	all []storage.Series
	at  int
}

func (s *selected) Next() bool                      { s.at++; return s.at <= len(s.all) }
func (s *selected) At() storage.Series              { return s.all[s.at-1] }
func (*selected) Err() error                        { return nil }
func (*selected) Warnings() annotations.Annotations { return nil }
