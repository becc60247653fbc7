package telemetry_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/telemetry"
)

// shown is a metric as Prometheus shows it: its labels with the values that these can have, nil for
// any.
type shown map[string][]string

// everything returns the metrics that a process shows which measured everything once, by name.
func everything(t *testing.T) map[string]shown {
	t.Helper()
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(1 << 40) // Go tells of a limit only if there is one
	defer debug.SetMemoryLimit(limit)
	handler, m := newHandler(t, nil)
	m.Requests.Began(t.Context(), "GET", "http")
	m.Requests.Ended(t.Context(), "GET", "http", "/", 200, time.Second)
	m.Requests.Answered(t.Context(), telemetry.Operation{Outcome: "ok", Refused: "limit", EstimatedUnits: 1, Units: 1})
	m.Table.Tried("Query", 2, "", time.Second)
	m.Table.Throttled("Query")
	m.Table.Read("all", "PAGE", 1)
	m.Table.Wrote("all", "COMMENT", 1)
	m.Table.Hedged(true)
	m.Pages.PageRead(true, 1, 1, 1)
	m.Pages.CacheLookup("pages", true)
	m.Pages.Batched("comments", 1)
	m.Stream.Zero()
	m.Hooks.Tried("a1", "delivered")
	watched := string(read(t, "command/admin.go"))
	for _, row := range telemetry.Instruments() {
		if !strings.Contains(watched, fmt.Sprintf("(%q", row.Name)) {
			continue
		}
		var of []string
		for _, a := range row.Attributes {
			of = append(of, append(a.Values, "a1")[0])
		}
		if row.Kind == telemetry.Counter {
			m.WatchCounter(row.Name, func() int64 { return 1 })
		} else {
			m.Watch(row.Name, func() (float64, bool) { return 1, true }, of...)
		}
	}
	values := map[string][]string{}
	for _, row := range telemetry.Instruments() {
		for _, a := range row.Attributes {
			key := label(a.Key)
			if a.Values == nil {
				continue // any
			}
			values[key] = append(append(values[key], a.Values...), telemetry.Other)
		}
	}
	all := map[string]shown{"up": {"instance": nil, "job": nil, "table": nil}} // Prometheus' own
	for _, line := range regexp.MustCompile(`(?m)^([a-z_]+)(?:{(.*)})? `).FindAllStringSubmatch(scraped(t, handler), -1) {
		all[line[1]] = shown{"instance": nil, "job": nil, "table": nil}
		for _, pair := range regexp.MustCompile(`([a-z_]+)="`).FindAllStringSubmatch(line[2], -1) {
			all[line[1]][pair[1]] = values[pair[1]]
		}
	}
	return all
}

func label(key string) string { return strings.ReplaceAll(key, ".", "_") }

// check reports what is wrong with an expression: it does not parse, or it names metrics, labels or
// values that do not exist, or metrics of other programs too.
func check(text string, all map[string]shown) (problems []string) {
	expression, err := parser.ParseExpr(text)
	if err != nil {
		return []string{err.Error()}
	}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		switch e := node.(type) {
		case *parser.VectorSelector:
			problems = append(problems, checkSelector(e, all)...)
		case *parser.AggregateExpr:
			for _, by := range e.Grouping {
				if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(m shown) bool { _, has := m[by]; return has }) {
					problems = append(problems, "no metric has the label "+by)
				}
			}
		}
		return nil
	})
	return problems
}

func checkSelector(selector *parser.VectorSelector, all map[string]shown) (problems []string) {
	metric, exists := all[selector.Name]
	if !exists {
		return []string{fmt.Sprintf("there is no metric %q", selector.Name)}
	}
	ours := strings.HasPrefix(selector.Name, "talkback_")
	for _, m := range selector.LabelMatchers {
		ours = ours || m.Name == "job" && m.Value == "talkback"
		if m.Name == "__name__" {
			continue
		}
		if problem := checkMatcher(m, metric); problem != "" {
			problems = append(problems, selector.Name+problem)
		}
	}
	if !ours {
		problems = append(problems, selector.Name+" is a metric of other programs too")
	}
	return problems
}

func checkMatcher(m *labels.Matcher, metric shown) (problem string) {
	values, has := metric[m.Name]
	switch {
	case !has:
		return " has no label " + m.Name
	case values == nil:
		return ""
	}
	regular := m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp
	for _, word := range strings.Split(m.Value, "|") {
		fits := regexp.MustCompile("^(?:" + word + ")$").MatchString
		if !regular {
			fits = func(value string) bool { return value == m.Value }
		}
		if !slices.ContainsFunc(values, fits) {
			return ": " + m.Name + " is never " + word
		}
	}
	return ""
}

// Every rule can be evaluated over metrics that exist, and docs/operate/alerts.md says what to do.
func TestAlertRules(t *testing.T) {
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(Talkback[A-Za-z]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(string(read(t, "docs/operate/alerts.md")), -1) {
		documented[row[1]] = true
	}
	all, seen := everything(t), 0
	for _, rule := range rules(t) {
		for _, problem := range check(rule.Expr, all) {
			t.Errorf("%s: %s", rule.Alert, problem)
		}
		if rule.Labels.Severity != "page" && rule.Labels.Severity != "ticket" || rule.Annotations.Summary == "" {
			t.Errorf("%s has the severity %q and the summary %q", rule.Alert, rule.Labels.Severity, rule.Annotations.Summary)
		}
		if !documented[rule.Alert] {
			t.Errorf("docs/operate/alerts.md does not say what to do about %s", rule.Alert)
		}
		delete(documented, rule.Alert)
		seen++
	}
	if len(documented) > 0 || seen < 10 {
		t.Errorf("%d rules; documented without a rule: %v", seen, documented)
	}
}

// Every panel of the dashboard shows metrics that exist, and all metrics of alerts are shown.
func TestDashboard(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal(read(t, "infra/grafana-dashboard.json"), &dashboard))
	all, seen, panels := everything(t), 0, map[string]bool{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expression := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			for _, problem := range check(expression, all) {
				t.Errorf("%s: %s", panel.Title, problem)
			}
			maps.Copy(panels, metricsIn(expression))
			seen++
		}
	}
	if seen < 15 {
		t.Errorf("the dashboard has %d expressions", seen)
	}
	for _, rule := range rules(t) {
		for name := range metricsIn(rule.Expr) {
			if !panels[name] {
				t.Errorf("%s: no panel shows %s", rule.Alert, name)
			}
		}
	}
}

// metricsIn returns the names of the metrics in an expression, of histograms without the suffix.
func metricsIn(text string) map[string]bool {
	names := map[string]bool{}
	expression, err := parser.ParseExpr(text)
	if err != nil {
		return nil // check reports it
	}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if e, ok := node.(*parser.VectorSelector); ok {
			names[regexp.MustCompile("_(bucket|count|sum)$").ReplaceAllString(e.Name, "")] = true
		}
		return nil
	})
	return names
}

// What is wrong with an expression is found.
func TestExpressionsAreChecked(t *testing.T) {
	all := everything(t)
	for text, want := range map[string]string{
		`rate(talkback_operations_total[5m]`:                                  "unclosed",
		`rate(go_goroutine_count[5m])`:                                        "other programs too",
		`rate(talkback_operation_total[5m])`:                                  "no metric",
		`talkback_operations_total{outcome="ok"}`:                             "no label outcome",
		`talkback_operations_total{talkback_outcome="fine"}`:                  "never fine",
		`talkback_operations_total{talkback_outcome=~"ok|fine"}`:              "never fine",
		`sum by (customer) (talkback_operations_total)`:                       "label customer",
		`sum by (instance) (talkback_operations_total{error_type="TIMEOUT"})`: "",
	} {
		if got := strings.Join(check(text, all), "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

const (
	tableStart = "<!-- metrics -->\n"
	tableEnd   = "<!-- end -->\n"
)

// Every instrument is shown, and docs/operate/metrics.md has its row: go test ./telemetry -run
// Documented -update
func TestMetricsAreDocumented(t *testing.T) {
	all := everything(t)
	var table strings.Builder
	table.WriteString("| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, row := range telemetry.Instruments() {
		name := nameOf(t, row, all)
		var labels []string
		for _, a := range row.Attributes {
			labels = append(labels, "`"+label(a.Key)+"`")
			if _, has := all[name+map[bool]string{true: "_count"}[row.Kind == telemetry.Histogram]][label(a.Key)]; !has {
				t.Errorf("%s has no label %s", name, label(a.Key))
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, row.Kind, strings.Join(labels, ", "), strings.TrimSuffix(row.Description, "."))
	}
	document := string(read(t, "docs/operate/metrics.md"))
	before, rest, found := strings.Cut(document, tableStart)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatal("docs/operate/metrics.md has no table of metrics")
	}
	goldentest.Compare(t, "../docs/operate/metrics.md", before+tableStart+table.String()+tableEnd+after)
}

// nameOf returns the name by which Prometheus knows an instrument.
func nameOf(t *testing.T, row telemetry.Instrument, all map[string]shown) string {
	t.Helper()
	name := label(row.Name)
	if row.Unit == "s" {
		name += "_seconds"
	}
	if row.Kind == telemetry.Counter {
		name += "_total"
	}
	shownAs := name
	if row.Kind == telemetry.Histogram {
		shownAs += "_count"
	}
	if all[shownAs] == nil {
		t.Errorf("no process shows %s", shownAs)
	}
	return name
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile("../" + path))(t)
}
