package dynamo

import (
	"fmt"
	"strings"

	"github.com/talkback/talkback/comment"
)

// explain tells what the runs of a page did, for programs and for people.
func explain(runs []*run, returned int) comment.QueryPlan {
	plan := comment.QueryPlan{ItemsReturned: returned}
	for _, r := range runs {
		for i, read := range r.plan.Reads {
			report := reportRead(r.plan, read, r.reads[i])
			plan.Reads = append(plan.Reads, report)
			plan.Queries += report.Queries
			plan.ItemsRead += report.ItemsRead
			plan.ReadUnits += report.ReadUnits
		}
	}
	plan.Waves = waves(runs)
	plan.Summary = summary(runs, plan)
	return plan
}

// waves counts rounds that followed each other: the page first, then the probes, which run side by side.
func waves(runs []*run) int {
	page, probes := 0, 0
	for _, r := range runs {
		if r.plan.Purpose == comment.ReadProbe {
			probes = max(probes, r.waves)
		} else {
			page += r.waves
		}
	}
	return page + probes
}

func reportRead(p Plan, r Read, s readState) comment.PlanRead {
	return comment.PlanRead{
		Purpose:           p.Purpose,
		Index:             string(r.Partition.Index),
		PartitionKey:      r.Partition.Key(p.Product),
		SortKeyFrom:       p.lowKey(),
		SortKeyTo:         p.highKey(),
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
	}
	fmt.Fprintf(&b, "%s in %s looked at %s for %.1f read units; the page shows %d",
		count(plan.Queries, "call"), count(plan.Waves, "wave"), count(plan.ItemsRead, "comment"), plan.ReadUnits, plan.ItemsReturned)
	return b.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
