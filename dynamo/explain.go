package dynamo

import (
	"fmt"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// explain tells what the runs of a page did, for programs and for people.
func explain(runs []*run, returned int) comment.QueryPlan {
	plan := comment.QueryPlan{ItemsReturned: returned, MostUnits: runs[0].meter.Most()} // all but counting have one bound together
	for _, r := range runs {
		for i, read := range r.plan.Reads {
			report := reportRead(r.plan, read, r.reads[i])
			plan.Reads = append(plan.Reads, report)
			plan.Queries += report.Queries
			plan.ItemsRead += report.ItemsRead
			plan.ReadUnits += report.ReadUnits
		}
		plan.Lookups += r.lookups.keys
		plan.Queries += r.lookups.calls
		plan.ItemsRead += r.lookups.items
		plan.ReadUnits += r.lookups.units
		if r.plan.Purpose == comment.ReadCount {
			plan.MostUnits += r.meter.Most()
		}
		for _, partition := range r.plan.Skipped {
			plan.Skipped = append(plan.Skipped, reportSkip(r.plan, partition))
		}
	}
	plan.Candidates = reportCandidates(runs[0].plan)
	plan.Waves = waves(runs)
	plan.Describe = func() string { return summary(runs, plan) }
	return plan
}

// waves counts rounds that followed each other: the page first, then the probes, which run side by side. Counting goes on
// beside both.
func waves(runs []*run) int {
	page, probes, counts := 0, 0, 0
	for _, r := range runs {
		switch r.plan.Purpose {
		case comment.ReadProbe:
			probes = max(probes, r.waves)
		case comment.ReadCount:
			counts = r.waves
		default:
			page += r.waves
		}
	}
	return max(page+probes, counts)
}

// reportCandidates tells what a plan was chosen from.
func reportCandidates(p planner.Plan) []comment.PlanCandidate {
	out := make([]comment.PlanCandidate, len(p.Candidates))
	for i, candidate := range p.Candidates {
		out[i] = comment.PlanCandidate{Name: candidate.Name, Reads: len(candidate.Cover), Chosen: i == 0}
		if p.Estimated {
			out[i].EstimatedUnits = &candidate.Units
		}
	}
	return out
}

func reportSkip(p planner.Plan, partition layout.Partition) comment.PlanSkip {
	return comment.PlanSkip{
		Purpose:      p.Purpose,
		Index:        string(partition.Index),
		PartitionKey: partition.Key(p.Product),
		AsOf:         p.Known.AsOf,
	}
}

func reportRead(p planner.Plan, r planner.Read, s readState) comment.PlanRead {
	return comment.PlanRead{
		Purpose:           p.Purpose,
		Index:             string(r.Partition.Index),
		PartitionKey:      r.Partition.Key(p.Product),
		SortKeyFrom:       p.LowKey(),
		SortKeyTo:         p.HighKey(),
		Descending:        p.Descending,
		Limit:             r.Limit,
		ResidualRatings:   r.Ratings,
		ResidualLanguages: r.Languages,
		Queries:           s.queries,
		ItemsRead:         s.looked,
		ItemsKept:         s.kept,
		ReadUnits:         s.units,
	}
}

func summary(runs []*run, plan comment.QueryPlan) string {
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.plan.String() + "\n")
		if r.lookups.keys > 0 {
			fmt.Fprintf(&b, "  fetch by id what was edited a moment ago: %s\n", count(r.lookups.keys, "comment"))
		}
	}
	fmt.Fprintf(&b, "%s in %s looked at %s for %.1f read units of at most %.0f; the page shows %d",
		count(plan.Queries, "call"), count(plan.Waves, "wave"), count(plan.ItemsRead, "comment"), plan.ReadUnits, plan.MostUnits, plan.ItemsReturned)
	return b.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
