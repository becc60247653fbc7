package planner

import (
	"github.com/talkback/talkback/dynamo/capacity"
)

// Narrow plans to read a stretch from partitions that hold nothing but comments of the list, after an attempt was given up.
func (p Planner) Narrow(r Request) Plan {
	plan := p.taking(r)
	plan.Narrowed = true
	plan.Candidates = covers(p.Filter)[:1]
	p.read(&plan, plan.Candidates[0].Cover)
	limit := min(r.Want, MaxLimit)
	if len(plan.Candidates[0].Cover) > maxReads {
		limit = min(r.Want, capacity.ItemsPerHalfUnit)
	}
	for i := range plan.Reads {
		plan.Reads[i].Limit = limit
	}
	return plan
}

// Residual tells whether any read may look at what is not wanted.
func (p Plan) Residual() bool {
	for _, read := range p.Reads {
		if read.residual() {
			return true
		}
	}
	return false
}

// LimitedTo is the plan with limits no higher than so many units allow for all of its first calls.
func (p Plan) LimitedTo(units float64) Plan {
	total := 0.0
	for _, read := range p.Reads {
		total += capacity.AssumedUnits(read.Limit)
	}
	if total <= units {
		return p
	}
	most := capacity.ItemsWithin(units, len(p.Reads))
	for i := range p.Reads {
		p.Reads[i].Limit = max(1, min(p.Reads[i].Limit, most))
	}
	return p
}
