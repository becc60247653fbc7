package planner

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// More languages never lower the estimate of a page, and a page of many partitions costs little
// more than half a unit for each.
func TestEstimateRisesWithPartitions(t *testing.T) {
	for _, size := range []int{1, 20, 100} {
		before := 0.0
		for languages := 1; languages <= 40; languages++ {
			q := comment.Query{Filter: comment.Filter{Languages: commenttest.ManyLanguages(languages), Ratings: []int{1, 2, 3, 4}}, Slice: comment.Slice{Size: size}}
			estimate := PageEstimate(q)
			if estimate < before {
				t.Errorf("%d comments in %d languages are estimated at %v, in one fewer at %v", size, languages, estimate, before)
			}
			if most := float64(4*languages)/2 + 3*PageEstimate(comment.Query{Slice: q.Slice}); estimate > most {
				t.Errorf("%d comments in %d languages are estimated at %v, want at most %v", size, languages, estimate, most)
			}
			before = estimate
		}
	}
}

// The first page by its number costs no more than without one. However deep a page is, no more than
// MaxSkip comments are read before it.
func TestEstimatesOfPagesByNumber(t *testing.T) {
	q := comment.Query{Order: comment.MostHelpful, Slice: comment.Slice{Size: 16}}
	first, deep, deeper := q, q, q
	first.Slice.Page, deep.Slice.Page, deeper.Slice.Page = 1, MaxSkip/16+1, 1000
	if got, want := PageEstimate(first), PageEstimate(q); got != want {
		t.Errorf("page 1 is estimated at %v, the first page at %v", got, want)
	}
	if got, want := SkipUnits(deeper), SkipUnits(deep); got != want || want <= SkipUnits(first) {
		t.Errorf("%v units to skip to page 1000, %v to the last that is read through to", got, want)
	}
}

// A cover of as many partitions as may be read at once is one to choose from.
func TestAsManyReadsAsAtOnce(t *testing.T) {
	many := comment.Filter{Languages: commenttest.ManyLanguages(maxReads)}
	cells := comment.Filter{Languages: commenttest.ManyLanguages(maxReads / 4), Ratings: []int{1, 2, 3, 4}}
	for name, filter := range map[string]comment.Filter{"languages": many, "cells": cells} {
		if first := coversWithin(filter, maxReads)[0]; first.Name != name || len(first.Cover) != maxReads {
			t.Errorf("the narrowest cover is %s of %d partitions, want %s", first.Name, len(first.Cover), name)
		}
		p := Planner{Filter: filter}
		if plan := p.Count(comment.CountTotal); len(plan.Reads) != maxReads {
			t.Errorf("%s: a count reads %s", name, plan.Chosen.Name)
		}
	}
}

// The limits of an attempt cost no more than it may, at 1 KB a comment.
func TestAttemptsStayWithinTheirUnits(t *testing.T) {
	filter := comment.Filter{Ratings: []int{1, 2}}
	known := Knowledge{Stats: comment.Stats{"en": {Counts: comment.Counts{500, 500, 500, 500, 500}}}}
	known.Sizes.Any = ItemSize{Mean: 20, Deviation: 1}
	p := Planner{Filter: filter, Known: known}
	r := Request{Window: windowOf(comment.Query{Filter: filter}), Purpose: comment.ReadPage, Want: 60}
	freely := p.Take(r)
	const units = 3
	plan := p.Attempt(r, units)
	if !freely.Wide() || layout.AssumedUnits(freely.Reads[0].Limit) <= units {
		t.Fatalf("%s reads %v: nothing has to be bounded", freely.Chosen.Name, freely.Reads)
	}
	assumed := 0.0
	for _, read := range plan.Reads {
		assumed += layout.AssumedUnits(read.Limit)
	}
	if !plan.Wide() || assumed > units {
		t.Errorf("%s reads %v for %v units, want at most %v", plan.Chosen.Name, plan.Reads, assumed, units)
	}
}
