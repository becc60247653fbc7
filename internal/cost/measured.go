package cost

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/talkback/talkback/dynamo/layout"
)

// Measured is the consumption of servers in some time, by purpose of the calls.
type Measured struct {
	// Seconds is the length of the measurement.
	Seconds float64
	// Reads and Writes are units of the table and its indexes by purpose.
	Reads, Writes map[string]layout.Units
	// StreamReads is how often the stream was read.
	StreamReads float64
}

// purposes are the names of purposes in a bill.
var purposes = map[string]string{
	"PAGE": "pages", "SKIP": "comments before pages by number", "PROBE": "looks for further pages", "COUNT": "counts of dates",
	"COMMENT": "comments by id, and writers", "STATISTICS": "statistics", "LEADERBOARD": "leaderboards", "PAGE_NUMBERS": "page numbers",
	"COUNTING": "counting", "LEASE": "leases and heartbeats", "OUTBOX": "events", "REBUILD": "rebuilds", "MAINTENANCE": "maintenance",
}

// OfMeasured returns the bill of a month that is like the measured time. Storage, servers and other
// costs that calls do not reveal come from the workload; they are left out if it is nil.
func OfMeasured(m Measured, w *Workload, prices Prices) (Bill, error) {
	if m.Seconds <= 0 {
		return Bill{}, errors.New("no time passed between the readings: restarted servers begin anew, so measure again")
	}
	for _, by := range []map[string]layout.Units{m.Reads, m.Writes} {
		for purpose, units := range by {
			if !(units.Total() >= 0 && units.Total() <= maxNumber) {
				return Bill{}, fmt.Errorf("%v units were consumed for %s: a server was restarted, or these are no metrics of one; measure again", units.Total(), purpose)
			}
		}
	}
	times := seconds / m.Seconds
	s := &sheet{prices: prices, reads: layout.Units{}, writes: layout.Units{}}
	s.bill = Bill{Region: Region, PricesOf: PricesOf, Month: 1}
	s.addPurposes(m.Reads, times, readUnit, s.reads)
	s.addPurposes(m.Writes, times, writeUnit, s.writes)
	s.add("reading the stream", max(0, m.StreamReads*times-freeStreamReads), 1, streamUnit)
	utilisation := Typical().Utilisation
	if w != nil {
		s.bill.Month, utilisation = int(w.Month), w.Utilisation
		s.addStorage(*w)
		s.addMachines(*w, 0)
	}
	return s.close(utilisation), nil
}

func (s *sheet) addPurposes(by map[string]layout.Units, times float64, unit string, all layout.Units) {
	for _, purpose := range slices.Sorted(maps.Keys(by)) {
		name, known := purposes[purpose]
		if !known {
			name = "else"
		}
		if unit == writeUnit {
			name += ", written"
		}
		s.add(name, times, by[purpose].Total(), unit)
		all.Add(by[purpose], times)
	}
}
