package product

import (
	"cmp"
	"slices"
)

func (t *texts) summary(s state, p *product) *summaryView {
	if p.Stats == nil {
		return nil
	}
	v := &summaryView{Of: t.count("comments", p.Stats.Total)}
	if average := p.Stats.Average; average != nil {
		v.Average, v.Stars = t.decimal(tenths(*average)), t.averageStars(*average)
	}
	v.Bars = t.bars(s, p)
	return v
}

// bars are the histogram: how many comments of the chosen languages and days have each rating.
func (t *texts) bars(s state, p *product) []barView {
	counts := p.Stats.Ratings
	if p.Facets != nil && p.Facets.Stats != nil {
		counts = p.Facets.Stats.Ratings
	}
	sum := 0
	for _, c := range counts {
		sum += c.Count
	}
	var bars []barView
	for _, c := range counts {
		bars = append(bars, barView{
			choiceView: choiceView{
				Href:   s.toggleRating(c.Rating).href(),
				Chosen: slices.Contains(s.Ratings, c.Rating),
				Label:  t.count("stars", c.Rating),
				Count:  t.number(c.Count),
			},
			Max: max(sum, 1), Value: c.Count,
		})
	}
	return bars
}

// shownLanguages is how many languages are shown at once. The others unfold.
const shownLanguages = 6

func (t *texts) filters(s state, p *product) *filterView {
	v := &filterView{
		Dates: datesView{
			Open: s.From != "" || s.To != "", Action: s.path(), Hidden: s.hidden("from", "to"), From: s.From, To: s.To,
		},
	}
	for _, order := range orders {
		v.Orders = append(v.Orders, choiceView{Href: s.ordered(order).href(), Chosen: s.Order == order, Label: t.say("order." + cmp.Or(order, "newest"))})
	}
	if s.filtered() || s.Order != "" {
		v.Clear = s.all().href()
	}
	chips := t.chips(s, p.languages())
	v.Languages = chips[:min(len(chips), shownLanguages)]
	v.More = chips[len(v.Languages):]
	v.Traits = t.traits(s, p)
	v.MoreOpen = slices.ContainsFunc(v.More, func(c chipView) bool { return c.Chosen })
	return v
}

// traits are the traits to choose from: those that any comments have, and those that are chosen. They are
// counted among the comments of the list, if its counts are known.
func (t *texts) traits(s state, p *product) (choices []choiceView) {
	all, matching := p.Stats, p.Stats
	if p.List != nil && p.List.Stats != nil {
		matching = p.List.Stats
	}
	for _, trait := range traits {
		chosen := slices.Contains(s.Only, trait)
		if chosen || all.has(trait) > 0 {
			choices = append(choices, choiceView{Href: s.toggleTrait(trait).href(), Chosen: chosen, Label: t.say("only." + trait), Count: t.number(matching.has(trait))})
		}
	}
	return choices
}

// has returns how many comments have a trait.
func (s *stats) has(trait string) int {
	switch {
	case s == nil:
		return 0
	case trait == "verified":
		return s.Verified
	}
	return s.WithMedia
}

// chips are the languages to choose from: those of the comments, then those that are chosen beside.
// A single one is no choice.
func (t *texts) chips(s state, languages []languageCount) []chipView {
	all := slices.Clone(languages)
	for _, tag := range s.Languages {
		if !slices.ContainsFunc(languages, func(c languageCount) bool { return c.Language == tag }) {
			all = append(all, languageCount{Language: tag})
		}
	}
	if len(all) < 2 {
		return nil
	}
	var chips []chipView
	for _, c := range all {
		chips = append(chips, chipView{
			choiceView: choiceView{
				Href:   s.toggleLanguage(c.Language).href(),
				Chosen: slices.Contains(s.Languages, c.Language),
				Label:  t.languageName(c.Language),
				Count:  t.number(c.Count),
			},
			Language: c.Language,
		})
	}
	return chips
}

// hidden are the parameters that a form sends along, without those that it has fields for or resets.
func (s state) hidden(without ...string) []parameter {
	return slices.DeleteFunc(s.at(1).parameters(), func(p parameter) bool { return slices.Contains(without, p.Name) })
}
