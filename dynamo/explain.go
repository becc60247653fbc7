package dynamo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// explain describes how a page was found and executed, for programs and for people. It includes the
// run that counted beside it, unless that is nil.
func explain(e execution, counted *run, position *comment.PagePosition, returned int) comment.QueryPlan {
	var runs []*run // in the order in which they began
	for _, reading := range slices.Concat(e.steps()...) {
		runs = append(runs, reading.runs()...)
	}
	chosen := runs[0] // the first one; the others followed
	candidates := chosen.plan.Candidates()
	plan := comment.QueryPlan{
		Position:      position,
		ItemsReturned: returned,
		Candidates:    make([]comment.PlanCandidate, len(candidates)),
		MostUnits:     chosen.meter.Most(), // of page and probes together
		Waves:         e.waves(),
	}
	for i, candidate := range candidates {
		plan.Candidates[i] = comment.PlanCandidate{Name: candidate.Name, Reads: len(candidate.Cover), Chosen: i == 0}
		if chosen.plan.Estimated() {
			plan.Candidates[i].EstimatedUnits, plan.Candidates[i].Price = &candidate.Units, &candidate.Price
		}
	}
	if counted != nil {
		runs = append(runs, counted)
		plan.MostUnits += counted.meter.Most()
		plan.Waves = max(plan.Waves, counted.waves)
	}
	for _, r := range runs {
		report(r, &plan)
	}
	plan.Describe = func() string { return summary(runs, plan) }
	return plan
}

// steps returns the readings in the order in which they began.
func (e execution) steps() [][]*reading { return [][]*reading{e.skip, e.page, e.probes} }

// waves returns the number of waves that followed each other.
func (e execution) waves() int { return wavesOf(e.steps(), (*reading).waves) }

// lookups returns the cost of finding comments by rank in the index of page numbers. The lookups of
// one step run in parallel.
func (e execution) lookups() (cost pageindex.Cost) {
	for _, reading := range slices.Concat(e.steps()...) {
		for _, step := range reading.steps {
			waves := cost.Waves
			for _, one := range step {
				most := max(cost.Waves, waves+one.lookups.Waves)
				cost.Add(one.lookups)
				cost.Waves = most
			}
		}
	}
	return cost
}

// report adds the work of one run.
func report(r *run, to *comment.QueryPlan) {
	for i := range r.reads {
		read := &r.reads[i]
		to.Reads = append(to.Reads, comment.PlanRead{
			Purpose:      read.plan.Purpose,
			Index:        string(read.Partition.Index),
			PartitionKey: read.Partition.Key(read.plan.Product),
			SortKeyFrom:  read.plan.LowKey(),
			SortKeyTo:    read.plan.HighKey(),
			Descending:   read.plan.Descending,
			Limit:        read.Limit,
			Conditions:   read.Conditions,
			Queries:      read.queries,
			ItemsRead:    read.scanned,
			ItemsKept:    read.returned,
			ReadUnits:    read.units,
		})
		to.Queries += read.queries
		to.ItemsRead += read.scanned
		to.ReadUnits += read.units
	}
	to.Lookups += r.fetches.keys // found by their ranks, or moved
	to.Queries += r.fetches.calls
	to.ItemsRead += r.fetches.items
	to.ReadUnits += r.fetches.units
	for _, plan := range r.plans {
		for _, partition := range plan.Empty {
			to.Skipped = append(to.Skipped, comment.PlanSkip{
				Purpose:      plan.Purpose,
				Index:        string(partition.Index),
				PartitionKey: partition.Key(plan.Product),
				AsOf:         plan.Known.AsOf,
			})
		}
	}
}

func summary(runs []*run, plan comment.QueryPlan) string {
	var b strings.Builder
	if p := plan.Position; p != nil {
		if p.Rank != nil {
			way := map[comment.PositionSource]string{
				comment.ByReading: "read through from the nearer end",
				comment.ByIndex:   "looked up in the index of page numbers",
			}[p.By]
			fmt.Fprintf(&b, "page behind %s: %s, %s left out\n",
				comment.Amount(*p.Rank, "comment"), way, comment.Amount(p.Skipped, "comment"))
		}
		if p.Calls > 0 {
			fmt.Fprintf(&b, "index of page numbers: %s in %s, %.1f read units\n",
				comment.Amount(p.Calls, "call"), comment.Amount(p.Waves, "wave"), p.ReadUnits)
		}
		if p.Counted {
			b.WriteString("the whole list was counted by the index\n")
		}
	}
	for _, r := range runs {
		for _, plan := range r.plans {
			b.WriteString(plan.String() + "\n")
		}
		if r.away {
			b.WriteString("  the index of page numbers does not answer: go on without it\n")
		}
		switch {
		case r.fetches.keys == 0:
		case r.plan.ByRank:
			fmt.Fprintf(&b, "  fetch by id, because the index found them: %s\n", comment.Amount(r.fetches.keys, "comment"))
		default:
			fmt.Fprintf(&b, "  fetch by id, because edits moved them a moment ago: %s\n", comment.Amount(r.fetches.keys, "comment"))
		}
	}
	fmt.Fprintf(&b, "%s in %s scanned %s for %.1f read units of at most %.0f; the page shows %d",
		comment.Amount(plan.Queries, "call"), comment.Amount(plan.Waves, "wave"), comment.Amount(plan.ItemsRead, "comment"), plan.ReadUnits, plan.MostUnits, plan.ItemsReturned)
	return b.String()
}
