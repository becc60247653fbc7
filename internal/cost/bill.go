package cost

import (
	"math"
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Bill is the cost of a month.
type Bill struct {
	Region   string `json:"region"`
	PricesOf string `json:"pricesOf"`
	Month    int    `json:"month"`
	Lines    []Line `json:"lines"`
	// Dollars is the sum of all lines, on demand.
	Dollars float64 `json:"dollars"`
	// Provisioned is the comparison with provisioned capacity.
	Provisioned Provisioned `json:"provisioned"`
	// GrowthGB is how much the storage grows each month.
	GrowthGB float64 `json:"growthGB"`
	// IndexShare is the share of indexes in the total write units.
	IndexShare float64 `json:"indexShare"`
	// Limits are the limits of one product and one partition; none if the bill is based on metrics.
	Limits []Limit `json:"limits,omitempty"`
}

// Provisioned is the cost of provisioned capacity instead of on-demand capacity.
type Provisioned struct {
	Utilisation float64 `json:"utilisation"`
	// ReadUnits and WriteUnits are the mean capacity of the table and its indexes together.
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
	Capacity   float64 `json:"capacityDollars"`
	// OnDemand is the part of the bill that it replaces, and Dollars the new total.
	OnDemand float64 `json:"onDemandDollars"`
	Dollars  float64 `json:"dollars"`
}

const (
	readUnit, writeUnit = "read units", "write units"
	storedUnit          = "GB"
	streamUnit          = "stream reads"
	requestUnit         = "requests"
	timeUnit            = "GB-seconds"
	hourUnit            = "hours"
)

// sheet is a bill under construction.
type sheet struct {
	bill          Bill
	prices        Prices
	reads, writes layout.Units
}

func (s *sheet) add(what string, number, each float64, unit string) {
	p := s.prices
	dollars := map[string]float64{
		readUnit: p.Reads / 1e6, writeUnit: p.Writes / 1e6, storedUnit: p.Storage, streamUnit: p.StreamReads / 1e6,
		requestUnit: p.FunctionRequests / 1e6, timeUnit: p.FunctionTime / 1e6,
	}
	s.priced(what, number, each, unit, dollars[unit])
}

func (s *sheet) priced(what string, number, each float64, unit string, price float64) {
	if number*each == 0 {
		return
	}
	units := number * each
	s.bill.Lines = append(s.bill.Lines, Line{What: what, Number: number, Each: each, Units: units, Unit: unit, Price: price, Dollars: units * price})
}

// Of returns the bill of a workload.
func Of(w Workload, prices Prices) Bill {
	s := &sheet{prices: prices, reads: layout.Units{}, writes: layout.Units{}}
	s.bill = Bill{Region: Region, PricesOf: PricesOf, Month: int(w.Month)}
	kinds, read := w.reads()
	for _, kind := range kinds {
		s.add(kind.What, kind.Number, kind.Each, readUnit)
	}
	s.reads.Add(read, 1)
	records := s.addDeeds(w.deeds())
	s.addStorage(w)
	s.addStream(w, records)
	s.addMachines(w, records)
	s.bill.Limits = w.limits()
	return s.close(w.Utilisation)
}

// addDeeds adds lines for changes of comments, and a separate one for counting them. It returns the
// number of stream records.
func (s *sheet) addDeeds(deeds []deed) (records float64) {
	counting, changes, read := layout.Units{}, 0.0, 0.0
	for _, d := range deeds {
		s.add(d.what, d.number, d.writes.Total(), writeUnit)
		s.writes.Add(d.writes, d.number)
		counting.Add(d.counting, d.number)
		read += d.number * (d.reads + d.countingReads)
		records += d.number * d.records
		if len(d.counting) > 0 {
			changes += d.number
		}
	}
	if changes > 0 {
		s.add("counting them", changes, counting.Total()/changes, writeUnit)
	}
	if read > 0 {
		s.add("reads of writers and counting", 1, read, readUnit)
	}
	s.writes.Add(counting, 1)
	s.reads.Add(layout.Units{layout.InTable: read}, 1)
	return records
}

func (s *sheet) addStorage(w Workload) {
	comments, votes := w.Stored()
	each, vote := comments.Total(), votes.Total()
	growth := (w.NewComments-w.Deletions)*each + w.Votes*vote
	s.bill.GrowthGB = growth / gb
	bytes := max(0, w.Comments*each+growth*w.Month)
	s.add("the table and its indexes", 1, bytes/gb, storedUnit)
	if w.Backups { // indexes are not backed up: https://aws.amazon.com/dynamodb/pricing/on-demand/
		s.priced("point-in-time recovery", 1, bytes*comments[layout.InTable]/each/gb, storedUnit, s.prices.Backup)
	}
}

// shards returns the number of shards: one for each partition of the table, of 10 GB each.
func (w Workload) shards() float64 {
	if w.Shards > 0 {
		return w.Shards
	}
	comments, _ := w.Stored()
	return max(leastPartitions, math.Ceil(w.Comments*comments[layout.InTable]/partitionBytes))
}

// itemsCounted is how many items change for each stream record that is counted: the record's own,
// the statistics and a place of the leaderboard.
const itemsCounted = 3

// addStream adds the cost for servers to read the stream. AWS Lambda reads it for free.
func (s *sheet) addStream(w Workload, records float64) {
	if w.CountingFunction {
		return
	}
	heartbeats := seconds / stream.DefaultHeartbeat.Seconds()
	each := layout.WriteUnits(nil, layout.CommentKey(w.example().ID), false).Total() // a lease and a heartbeat are small items
	s.add("leases and heartbeats", 2*w.shards()*heartbeats, each, writeUnit)
	s.writes.Add(layout.Units{layout.InTable: 2 * w.shards() * heartbeats * each}, 1)
	const looks = 2 // the state and the leases, consistently
	lookers := max(1, w.Servers)
	s.add("looking at leases", lookers*heartbeats, looks, readUnit)
	s.reads.Add(layout.Units{layout.InTable: looks * lookers * heartbeats}, 1)
	polls := w.shards() * seconds * stream.ReadsPerSecond(itemsCounted*records/w.shards()/seconds)
	s.add("reading the stream", max(0, polls-freeStreamReads), 1, streamUnit)
}

func (s *sheet) addMachines(w Workload, records float64) {
	each := w.FunctionMB / 1024 * w.FunctionMS / 1000
	if w.CountingFunction {
		invocations := records + float64(3*Hours*time.Hour/stream.ScheduleLate)
		s.add("counting function", invocations, 1, requestUnit)
		s.add("time of the counting function", invocations, each, timeUnit)
	}
	if w.Servers > 0 {
		s.priced("servers", w.Servers, Hours, hourUnit, w.ServerHour)
	} else {
		calls := w.Views*(1-w.Cached) + w.NewComments*(1+w.Held) + w.Edits + w.Deletions + w.Votes + w.Replies + w.Reports
		s.add("API function", calls, 1, requestUnit)
		s.add("time of the API function", calls, each, timeUnit)
	}
	s.priced("transfer to the internet", 1, max(0, w.Views*w.AnswerBytes/gb-freeTransferGB), storedUnit, s.prices.Transfer)
}

// close sums up the bill, and compares provisioned capacity.
func (s *sheet) close(utilisation float64) Bill {
	onDemand := 0.0
	for _, l := range s.bill.Lines {
		s.bill.Dollars += l.Dollars
		if l.Unit == readUnit || l.Unit == writeUnit {
			onDemand += l.Dollars
		}
	}
	if all := s.writes.Total(); all > 0 {
		s.bill.IndexShare = 1 - s.writes[layout.InTable]/all
	}
	p := Provisioned{Utilisation: utilisation, ReadUnits: capacity(s.reads, utilisation), WriteUnits: capacity(s.writes, utilisation), OnDemand: onDemand}
	p.Capacity = Hours * (p.ReadUnits*s.prices.ReadCapacity + p.WriteUnits*s.prices.WriteCapacity)
	p.Dollars = s.bill.Dollars - onDemand + p.Capacity
	s.bill.Provisioned = p
	return s.bill
}

// capacity returns the mean capacity for a month's units: at least one unit each for the table and
// every index, which have separate capacities.
func capacity(units layout.Units, utilisation float64) float64 {
	all := 0.0
	for _, index := range append(layout.Indexes(), layout.InTable) {
		all += max(1, units[index]/seconds/utilisation)
	}
	return all
}
