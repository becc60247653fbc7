package web

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// viewOf makes the view of an answer.
func (t *texts) viewOf(s state, a answer) view {
	v := view{Lang: t.lang, Dir: t.dir(), WritingOff: a.Data.Viewer.CannotWriteReason == "WRITING_OFF"}
	p := a.Data.Product
	if p == nil {
		v.Error = t.failure(s, a.code("product"))
		return v
	}
	if p.empty() {
		v.Empty = &noticeView{Text: t.say("empty.product")}
		v.Plan = t.plan(p.List)
		return v
	}
	if p.Stats != nil {
		v.Summary = &summaryView{Of: t.count("comments", p.Stats.Total), Bars: t.bars(s, p)}
		if average := p.Stats.Average; average != nil {
			v.Summary.Average, v.Summary.Stars = t.decimal(tenths(*average)), t.averageStars(*average)
		}
	}
	v.Filters = t.filters(s, p)
	if p.List == nil {
		v.Error = t.failure(s, a.code("product", "list"))
		return v
	}
	v.Highlights, v.Result, v.Pages, v.Plan = p.highlights(), t.result(s, p), t.pages(s, p.List), t.plan(p.List)
	if len(p.List.Nodes) == 0 {
		v.Empty = &noticeView{Text: t.say("empty.filter"), Links: []linkView{{Href: s.all().href(), Text: t.say("filter.clear"), Filter: true}}}
		if s.beyond(p.List) && *p.List.PageCount > 0 {
			v.Empty = &noticeView{Text: t.say("empty.page"), Links: []linkView{{Href: s.at(*p.List.PageCount).href(), Text: t.say("empty.last")}}}
		}
		return v
	}
	v.List = &listView{}
	if number := p.List.PageNumber; number != nil {
		v.List.Start = (*number-1)*pageSize + 1
	}
	voting := a.Data.Viewer.CannotVoteReason == "VISITOR_TOKEN_REQUIRED" // all visitors may vote: room is kept for their buttons
	for _, c := range p.List.Nodes {
		v.List.Comments = append(v.List.Comments, commentView{c, linesOf(c.Text) > mostLines, voting})
	}
	return v
}

// averageStars are the stars of an average, which has one decimal.
func (t *texts) averageStars(average float64) starsView {
	return starsView{tenths(average), t.say("stars.of", "n", t.decimal(tenths(average)))}
}

// ratingStars returns the stars of a comment.
func (t *texts) ratingStars(rating int) starsView {
	return starsView{10 * rating, t.say("stars.of", "n", t.number(rating))}
}

// highlights returns the praise and the complaint above the list.
func (p *product) highlights() (all []highlightView) {
	add := func(kind string, c *comment) {
		if c == nil {
			return
		}
		shown, heading := commentView{comment: *c, Folded: linesOf(c.Text) > mostOfHighlight}, kind
		shown.ID, shown.Media, shown.Reply = "", nil, nil
		if c.Votes.Helpful > c.Votes.NotHelpful {
			heading += ".helpful"
		}
		all = append(all, highlightView{kind, heading, shown})
	}
	add("praise", p.Praise)
	add("complaint", p.Complaint)
	return all
}

const (
	// mostLines is how many lines of a text are shown whole. The style sheet shows fewer of a longer
	// one, so that it is worth unfolding.
	mostLines = 12
	// mostOfHighlight is the same for a text above the list.
	mostOfHighlight = 4
	// widestLine is how many characters a line has on a wide screen. Few lines have more.
	widestLine = 85
)

// linesOf returns how many lines a text takes on a wide screen. The component counts in the same
// way.
func linesOf(text string) int {
	lines := 0
	for line := range strings.SplitSeq(text, "\n") {
		lines += max(1, (utf8.RuneCountInString(line)+widestLine-1)/widestLine)
	}
	return lines
}

// mediaName returns the alternative text of media, or else a name with their number.
func (t *texts) mediaName(at int, m media) string {
	switch n := t.number(at + 1); {
	case m.Alt != "":
		return m.Alt
	case m.IsVideo():
		return t.say("media.video", "n", n)
	default:
		return t.say("media.picture", "n", n)
	}
}

// dateTime returns a time in the form of a datetime attribute.
func dateTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// bars are the histogram: how many comments of the chosen languages, traits and days have each
// rating, if that is known.
func (t *texts) bars(s state, p *product) []barView {
	counts, known := p.Stats.Ratings, s.filter(nil) == nil
	switch {
	case p.Facets != nil && p.Facets.Stats != nil:
		counts, known = p.Facets.Stats.Ratings, true
	case len(s.Ratings) == 0 && p.List != nil && p.List.Stats != nil:
		counts, known = p.List.Stats.Ratings, true
	}
	sum := 0
	for _, c := range counts {
		sum += c.Count
	}
	var bars []barView
	for _, c := range counts {
		bar := barView{
			choiceView: choiceView{
				Href:   s.toggleRating(c.Rating).href(),
				Chosen: slices.Contains(s.Ratings, c.Rating),
				Label:  t.count("stars", c.Rating),
			},
			Max: 1,
		}
		if known {
			bar.Count, bar.Max, bar.Value = t.number(c.Count), max(sum, 1), c.Count
		}
		bars = append(bars, bar)
	}
	return bars
}

// shownLanguages is how many languages are shown at once. The others unfold.
const shownLanguages = 6

func (t *texts) filters(s state, p *product) *filterView {
	v := &filterView{
		Dates: datesView{
			Open: s.dated(), Action: s.path(), Hidden: s.hidden("from", "to"), From: s.From, To: s.To,
		},
	}
	for _, order := range orders {
		v.Orders = append(v.Orders, choiceView{Href: s.ordered(order).href(), Chosen: s.Order == order, Label: t.say("order." + cmp.Or(order, "newest"))})
	}
	if s.filtered() || s.Order != "" {
		v.Clear = s.all().href()
	}
	chips := t.chips(s, p)
	v.Languages = chips[:min(len(chips), shownLanguages)]
	v.More = chips[len(v.Languages):]
	// The traits to choose from are those that any comments have, and those that are chosen. They are
	// counted among the comments of the list, if its counts are known.
	matching := p.Stats
	if s.filtered() {
		matching = nil
	}
	if p.List != nil && p.List.Stats != nil {
		matching = p.List.Stats
	}
	for _, trait := range traits {
		chosen := slices.Contains(s.Only, trait)
		if some := p.Stats.having(trait); chosen || some != nil && *some > 0 {
			choice := choiceView{Href: s.toggleTrait(trait).href(), Chosen: chosen, Label: t.say("only." + trait)}
			if count := matching.having(trait); count != nil {
				choice.Count = t.number(*count)
			}
			v.Traits = append(v.Traits, choice)
		}
	}
	v.MoreOpen = slices.ContainsFunc(v.More, func(c choiceView) bool { return c.Chosen })
	return v
}

// having returns how many comments have a trait, nil if that is not known.
func (s *stats) having(trait string) *int {
	switch {
	case s == nil:
		return nil
	case trait == "verified":
		return s.Verified
	}
	return s.WithMedia
}

// chips are the languages to choose from: those of the statistics, and then the chosen ones that
// the statistics lack, whose comments are not counted. A single language is no choice.
func (t *texts) chips(s state, p *product) (chips []choiceView) {
	var tags []string
	for _, c := range p.Languages {
		tags = append(tags, c.Language)
	}
	listed := len(tags)
	for _, tag := range s.Languages {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) < 2 {
		return nil
	}
	counts := p.Languages
	if p.Matching != nil {
		counts = p.Matching
	}
	for i, tag := range tags {
		chip := choiceView{Href: s.toggleLanguage(tag).href(), Chosen: slices.Contains(s.Languages, tag), Label: t.languageName(tag), Language: tag}
		if i < listed && !s.dated() { // languages are not counted by dates
			count := 0
			if at := slices.IndexFunc(counts, func(c languageCount) bool { return c.Language == tag }); at >= 0 {
				count = counts[at].Count
			}
			chip.Count = t.number(count)
		}
		chips = append(chips, chip)
	}
	return chips
}

// hidden are the parameters that a form sends along, without those that it has fields for or
// resets.
func (s state) hidden(without ...string) []parameter {
	return slices.DeleteFunc(s.at(1).parameters(), func(p parameter) bool { return slices.Contains(without, p.Name) })
}

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
	read, waves := l.Plan.ReadUnits, l.Plan.Waves
	if number := l.Plan.Position; number != nil {
		read, waves = read+number.ReadUnits, waves+number.Waves
	}
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
	retry, again := linkView{Href: s.href(), Text: t.say("error.retry")}, t.say("error.soon")
	var first []linkView
	if at := s.at(1).href(); at != retry.Href {
		first = []linkView{{Href: at, Text: t.say("error.first")}}
	}
	switch {
	case code == "BAD_CURSOR" || code == "BAD_INPUT" || code == "UNAVAILABLE" && s.Page > 1:
		return &noticeView{t.say("error.numbers"), "", append([]linkView{retry}, first...)}
	case code == "TOO_COMPLEX" || code == "TOO_COSTLY":
		return &noticeView{t.say("error.much"), "", append(first, linkView{Href: s.all().href(), Text: t.say("filter.clear"), Filter: true})}
	case code == "RATE_LIMITED":
		return &noticeView{t.say("error.limited"), again, []linkView{retry}}
	case code == "UNAUTHENTICATED":
		return &noticeView{t.say("error.unauthenticated"), "", []linkView{retry}}
	case code == "THROTTLED" || code == "OVERLOADED":
		return &noticeView{t.say("error.busy"), again, []linkView{retry}}
	}
	return &noticeView{t.say("error.unavailable"), again, []linkView{retry}}
}

// beyond reports whether the page comes after the last one.
func (s state) beyond(l *list) bool {
	return l.PageCount != nil && s.Page > max(*l.PageCount, 1) && len(l.Nodes) == 0
}

// pages links to other pages: by number, or by cursor while there are no numbers.
func (t *texts) pages(s state, l *list) *pagesView {
	if l.PageCount == nil || l.PageNumber == nil {
		return s.neighbours(l)
	}
	count, current := *l.PageCount, *l.PageNumber
	if count < 2 {
		return nil
	}
	v := &pagesView{}
	if current > 1 {
		v.Previous = s.at(min(current-1, count)).href()
	}
	if current < count {
		v.Next = s.at(current + 1).href()
	}
	last := 0
	for _, n := range numbersAround(current, count) {
		gap := n > last+1
		v.Numbers = append(v.Numbers, numberView{s.at(n).href(), t.number(n), n == current, gap})
		if last = n; gap {
			v.Jump = &jumpView{s.path(), s.hidden(), min(current, count), count}
		}
	}
	return v
}

// neighbours links to the pages beside this one by cursors.
func (s state) neighbours(l *list) *pagesView {
	v := &pagesView{}
	if info := l.PageInfo; info.HasPreviousPage && info.StartCursor != nil {
		v.Previous = s.beside("", *info.StartCursor).href()
	}
	if info := l.PageInfo; info.HasNextPage && info.EndCursor != nil {
		v.Next = s.beside(*info.EndCursor, "").href()
	}
	if v.Previous == "" && v.Next == "" {
		return nil
	}
	return v
}

// numbersAround are the pages to link to: the first, those around the current one, and the last.
func numbersAround(current, count int) []int {
	const around = 2
	numbers := []int{1}
	for n := max(2, current-around); n <= min(count, current+around); n++ {
		numbers = append(numbers, n)
	}
	if numbers[len(numbers)-1] < count {
		numbers = append(numbers, count)
	}
	return numbers
}
