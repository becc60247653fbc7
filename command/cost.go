package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/cost"
	"github.com/talkback/talkback/internal/fetch"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/telemetry"
)

// Cost prints what a month of the service costs.
type Cost struct {
	Workloads []string      `arg:"" optional:"" name:"workload" complete:"files" help:"JSON files, each with what a shop does in a month. Of several, the bills stand side by side."`
	Metrics   []string      `help:"Addresses of the metrics of all servers, instead of what a workload says of reads and writes." placeholder:"http://127.0.0.1:9090/metrics"`
	During    time.Duration `help:"Read the metrics twice, this long apart; 0 takes the totals since the servers started." default:"0s" placeholder:"10m"`
	Prices    cost.Prices   `embed:"" prefix:"price-"`
	JSON      bool          `name:"json" help:"Print the bills as a JSON array."`
}

// Run prints a bill for each workload, or one for the measured use of servers.
func (c *Cost) Run(ctx context.Context, term Terminal) error {
	if err := c.check(); err != nil {
		return asUsage(err)
	}
	var workloads []cost.Workload
	for _, name := range c.Workloads {
		content, err := task.Await(ctx, func() ([]byte, error) { return fetch.File(name, maxWorkload) }) // which may be a pipe
		if err != nil {
			return err
		}
		w, err := cost.ReadWorkload(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		workloads = append(workloads, w)
	}
	bills, err := c.bills(ctx, workloads)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(term.Out, bills)
	}
	text := ""
	if screen := output.ScreenOf(term.Out); len(bills) == 1 {
		text = billText(bills[0], screen)
	} else {
		text = sideBySide(c.Workloads, bills, screen)
	}
	_, err = io.WriteString(term.Out, text)
	return err
}

func (c *Cost) check() error {
	switch {
	case len(c.Workloads) == 0 && len(c.Metrics) == 0:
		return errors.New("name a file with a workload, or --metrics with the address of a server's: docs/operate/cost.md has an example of each")
	case len(c.Metrics) > 0 && len(c.Workloads) > 1:
		return errors.New("--metrics takes one workload at most, for storage and servers")
	case len(slices.Compact(slices.Sorted(slices.Values(c.Metrics)))) < len(c.Metrics):
		return errors.New("--metrics names a server twice, whose use would be billed twice: name each server once")
	case slices.ContainsFunc(c.Metrics, func(text string) bool {
		address, err := url.Parse(text)
		return err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https"
	}):
		return errors.New("--metrics names what is no address: give that of talkback serve --admin-listen, such as http://127.0.0.1:9090/metrics")
	case c.During > 0 && c.During < shortestWatch:
		return fmt.Errorf("--during %v is too short for a month to follow from it: give %v or more, such as 10m, or 0 for the totals since the servers started", c.During, shortestWatch)
	case c.During > 0 && len(c.Metrics) == 0:
		return fmt.Errorf("--during %v is how long --metrics are watched: give both, such as 10m", c.During)
	}
	return c.Prices.Check()
}

// shortestWatch is the minimum of --during. A shorter time holds too few calls.
const shortestWatch = time.Second

// maxWorkload bounds the file of a workload, in bytes.
const maxWorkload = 1 << 20

func (c *Cost) bills(ctx context.Context, workloads []cost.Workload) (bills []cost.Bill, err error) {
	if len(c.Metrics) == 0 {
		for _, w := range workloads {
			bills = append(bills, cost.Of(w, c.Prices))
		}
		return bills, nil
	}
	measured := cost.Measured{Reads: map[string]layout.Units{}, Writes: map[string]layout.Units{}}
	began, uptimes := time.Now(), map[string]float64{}
	if c.During > 0 {
		if err := c.addReadings(ctx, &measured, -1, uptimes); err != nil {
			return nil, err
		}
		if err := task.Wait(ctx, c.During); err != nil {
			return nil, err
		}
	}
	if err := c.addReadings(ctx, &measured, 1, uptimes); err != nil {
		return nil, err
	}
	if c.During > 0 {
		measured.Seconds = time.Since(began).Seconds()
	}
	var w *cost.Workload
	if len(workloads) == 1 {
		w = &workloads[0]
	}
	bill, err := cost.OfMeasured(measured, w, c.Prices)
	return []cost.Bill{bill}, err
}

// Bounds of reading metrics. All possible series take 3.2 MB.
const (
	metricsTimeout = 10 * time.Second
	metricsBytes   = 32 << 20
)

// addReadings adds the metrics that each server exports now, multiplied by times. Without an
// interval, it divides them by the seconds since the server started. uptimes has the uptime
// of each server at the previous reading, to notice a restart: counters then began anew.
func (c *Cost) addReadings(ctx context.Context, m *cost.Measured, times float64, uptimes map[string]float64) error {
	client := fetch.New(metricsTimeout, metricsBytes, nil)
	for _, address := range c.Metrics {
		answer, err := client.Get(ctx, address, nil)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			return fmt.Errorf("--metrics %s: %w: is the server running with --admin-listen, and this its address with /metrics?", withoutPassword(address), err)
		}
		reading, err := telemetry.ReadMetrics(bytes.NewReader(answer.Body))
		if err == nil && (len(reading[readUnitsMetric]) == 0 || len(reading[uptimeMetric]) == 0) {
			err = errors.New("these are the metrics of another program, or of a server that has read nothing yet")
		}
		if err != nil {
			return fmt.Errorf("--metrics %s: %w: give the address of talkback serve --admin-listen, such as http://127.0.0.1:9090/metrics", withoutPassword(address), err)
		}
		share, uptime := times, reading[uptimeMetric][0].Value
		if before, twice := uptimes[address]; twice && uptime-before < max(0, c.During.Seconds()-1) {
			return fmt.Errorf("--metrics %s: the server was restarted between the readings: measure again", withoutPassword(address))
		}
		if uptimes[address] = uptime; c.During == 0 {
			m.Seconds, share = 1, times/max(uptime, 1)
		}
		for name, to := range map[string]map[string]layout.Units{readUnitsMetric: m.Reads, writeUnitsMetric: m.Writes} {
			for _, s := range reading[name] {
				purpose := s.Labels["talkback_purpose"]
				if to[purpose] == nil {
					to[purpose] = layout.Units{}
				}
				to[purpose][layout.Index(s.Labels["talkback_index"])] += s.Value * share
			}
		}
		for _, s := range reading[callsMetric] {
			if s.Labels["db_operation_name"] == "GetRecords" {
				m.StreamReads += s.Value * share
			}
		}
	}
	return nil
}

// withoutPassword returns an address that messages may contain.
func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return parsed.Redacted()
}

const (
	readUnitsMetric  = "talkback_table_read_units_total"
	writeUnitsMetric = "talkback_table_write_units_total"
	callsMetric      = "db_client_operation_duration_seconds"
	uptimeMetric     = "process_uptime_seconds"
)

func billText(b cost.Bill, screen output.Screen) string {
	out := screen.Fold(fmt.Sprintf("A month of %d hours in %s, by prices of %s\n\n", cost.Hours, b.Region, b.PricesOf))
	table := output.NewTable("WHAT", "NUMBER", "EACH", "BILLED", "", "DOLLARS", "SHARE")
	for _, l := range b.Lines {
		share := 0.0
		if b.Dollars > 0 {
			share = 100 * l.Dollars / b.Dollars
		}
		table.Row(l.What, number(l.Number), number(l.Each), number(l.Units), l.Unit, dollars(l.Dollars), fmt.Sprintf("%.1f %%", share))
	}
	table.Row(screen.Head("together"), "", "", "", "", screen.Head(dollars(b.Dollars)), "")
	out += table.On(screen) + "\n"
	p := b.Provisioned
	notes := fmt.Sprintf("Provisioned, reads and writes cost %s instead of %s, and all %s: %s read and %s write units with auto scaling, %.0f %% of them in use.\n",
		dollars(p.Capacity), dollars(p.OnDemand), dollars(p.Dollars), number(p.ReadUnits), number(p.WriteUnits), 100*p.Utilisation)
	notes += fmt.Sprintf("Indexes take %.0f %% of what is written.", 100*b.IndexShare)
	if b.GrowthGB > 0 {
		notes += fmt.Sprintf(" Storage grows by %s GB a month; this is month %d.", number(b.GrowthGB), b.Month)
	}
	out += screen.Fold(notes + "\n")
	if len(b.Limits) > 0 {
		limits := output.NewTable("LIMIT", "BUSIEST SECOND", "MOST", "REACHED AT")
		for _, l := range b.Limits {
			limits.Row(l.What, number(l.Now), number(l.Most), number(l.Times)+" times the workload")
		}
		out += "\n" + limits.On(screen)
	}
	return out
}

// sideBySide formats the dollars of several bills, a column for each.
func sideBySide(names []string, bills []cost.Bill, screen output.Screen) string {
	heads, rows, sums := []string{"DOLLARS A MONTH"}, []string{}, map[string][]float64{}
	for i, b := range bills {
		heads = append(heads, strings.ToUpper(strings.TrimSuffix(names[i][strings.LastIndexByte(names[i], '/')+1:], ".json")))
		for _, l := range b.Lines {
			if sums[l.What] == nil {
				rows, sums[l.What] = append(rows, l.What), make([]float64, len(bills))
			}
			sums[l.What][i] += l.Dollars
		}
	}
	table := output.NewTable(heads...)
	for _, what := range rows {
		cells := []string{what}
		for _, sum := range sums[what] {
			cells = append(cells, dollars(sum))
		}
		table.Row(cells...)
	}
	together, provisioned := []string{"together"}, []string{"with provisioned capacity"}
	for _, b := range bills {
		together, provisioned = append(together, dollars(b.Dollars)), append(provisioned, dollars(b.Provisioned.Dollars))
	}
	table.Row(together...)
	table.Row(provisioned...)
	return table.On(screen)
}

func dollars(n float64) string { return output.English.Sprintf("%.2f", n) }

// number formats a number, rounded to the precision of an estimate.
func number(n float64) string {
	n = cost.Round(n)
	if n >= 100 || n == float64(int64(n)) {
		return output.English.Sprintf("%.0f", n)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
