package product

import (
	"math"
	"strings"
)

// result says how many comments the list has, and their average if it is not all comments.
func (t *texts) result(s state, p *product) *resultView {
	if p.List.TotalCount == nil {
		return nil
	}
	count := *p.List.TotalCount
	text, average := t.say(t.formOf("comments", count, 0)), ""
	if s.filtered() && p.Stats != nil {
		total := p.Stats.Total
		text = t.say(t.formOf("result.some", total, 0), "total", t.number(total))
		if stats := p.List.Stats; stats != nil && stats.Average != nil {
			average = t.say("result.average", "n", t.decimal(tenths(*stats.Average)))
		}
	}
	v := &resultView{Number: text, Average: average}
	if before, rest, found := strings.Cut(text, "{n}"); found {
		v.Before, v.Number, v.Rest = before, t.number(count), rest
	}
	if average != "" {
		v.Rest += t.say("comma")
	}
	return v
}

// plan says how the page was read.
func (t *texts) plan(l *list) *planView {
	if l == nil {
		return nil
	}
	read, waves := l.Plan.total()
	hundredths := int(math.Floor(read*100 + .5))
	decimals := 1
	if l.Plan.Milliseconds >= 10 {
		decimals = 0
	}
	return &planView{Sentence: l.Plan.Summary, Cost: t.say("plan.cost",
		"units", t.say(t.formOf("plan.units", hundredths/100, hundredths%100), "n", t.rounded(read, 2)),
		"waves", t.count("plan.waves", waves),
		"ms", t.rounded(l.Plan.Milliseconds, decimals))}
}

// failure says why there is no list, by the code of the error.
func (t *texts) failure(s state, code string) *noticeView {
	retry := linkView{Href: s.href(), Text: t.say("error.retry")}
	switch {
	case code == "UNAVAILABLE" && s.Page > 1:
		return &noticeView{t.say("error.numbers"), []linkView{retry, {Href: s.at(1).href(), Text: t.say("error.first")}}}
	case code == "RATE_LIMITED":
		return &noticeView{t.say("error.limited"), []linkView{retry}}
	case code == "THROTTLED" || code == "OVERLOADED":
		return &noticeView{t.say("error.busy"), []linkView{retry}}
	}
	return &noticeView{t.say("error.unavailable"), []linkView{retry}}
}

// empty says why a list shows nothing, and where there is something.
func (t *texts) empty(s state, l *list) *noticeView {
	if s.beyond(l) && *l.PageCount > 0 {
		return &noticeView{t.say("empty.page"), []linkView{{Href: s.at(*l.PageCount).href(), Text: t.say("empty.last")}}}
	}
	return &noticeView{t.say("empty.filter"), []linkView{{Href: s.all().href(), Text: t.say("filter.clear"), Filter: true}}}
}

// beyond reports whether the page comes after the last one.
func (s state) beyond(l *list) bool {
	return l.PageCount != nil && s.Page > max(*l.PageCount, 1) && len(l.Nodes) == 0
}
