package planner

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// This file decides which links of a stretch are read, and how much of each. It depends only on the
// known counts of the product and on the reads so far. Wrong counts cost read units and waves,
// never comments: links are read in their order until the page is full.

// Progress is how far a link was read.
type Progress struct {
	// Taken is how many comments it has brought so far.
	Taken int
	// Ended is whether the link has no more comments.
	Ended bool
}

// LinkRead is what to read of a link.
type LinkRead struct {
	// Link is the index of the link in the stretch.
	Link int
	// Want is how many of the link's remaining comments to take.
	Want int
	// Why is the reason for the read, for people; "" if the list has one link.
	Why string
}

// Chain is a stretch with the number of comments to take, and the expected number in each link.
type Chain struct {
	stretch Stretch
	want    int
	// believed is how many comments each link is expected to have; sure is whether that is from
	// statistics.
	believed []int
	sure     bool
	// inOrder reads one link after the other, because each may cost lookups or large comments that
	// turn out to be needless.
	inOrder bool
	// seen has the comments of an earlier read of the whole list.
	seen Seen
}

// Seen are the newest comments of a list that was read by date, but not to its end.
type Seen struct {
	comment.Row
	// Newest and Oldest are the positions of the first and the last of them.
	Newest, Oldest comment.Position
}

// inRange returns how many comments a list has within the filter's dates if the recent rate holds,
// but at most ofAnyTime, the number without dates. It returns ofAnyTime if nothing was seen, or the
// dates have no start.
func (s Seen) inRange(filter comment.Filter, ofAnyTime int) int {
	if s.Total() == 0 || filter.CreatedAfter == nil {
		return ofAnyTime
	}
	lately := max(s.Newest.Time().Sub(s.Oldest.Time()), time.Millisecond)
	return int(min(float64(ofAnyTime), float64(s.Total())*float64(s.Newest.Time().Sub(*filter.CreatedAfter))/float64(lately)))
}

// Chain returns the chain of a stretch. It estimates the links from counts, or if these are
// unknown, from seen.
func (p *Planner) Chain(s Stretch, want int, seen Seen) Chain {
	c, sample := Chain{stretch: s, want: want, believed: make([]int, len(s.Links)), seen: seen}, seen.Row
	stats := p.Known.counts(p.Filter)
	c.sure = stats != nil
	unvoted := sample.Allowed(comment.Filter{Helpful: new(false)}).Total()
	rare := p.Filter.MayMatchFew() || !c.sure && s.order == comment.MostHelpful && Few(unvoted, sample.Total())
	c.inOrder = p.Ranks != nil && rare && !(c.sure && p.Known.Trusted) || !c.sure && p.large(want, len(s.Links))
	for i, link := range s.Links {
		counts := likelyCounts(sample, link.Filter)
		if c.sure {
			counts = stats.AtMost(link.Filter)
		}
		c.believed[i] = max(0, counts.Of(link.Filter.Ratings))
	}
	return c
}

// large reports whether comments are known to be so large that reading the links of a chain one
// after the other costs less, with all its waves, than a needless read of one link.
func (p *Planner) large(comments, links int) bool {
	size := p.Known.Sizes.Any
	return size.Mean > layout.AssumedItemBytes && size.expected(comments) > wavePrice*float64(links-1)
}

// likelyCounts returns the likely numbers of comments in a link of a long list, by rating, given a
// sample of the list.
func likelyCounts(sample comment.Row, link comment.Filter) (counts comment.Counts) {
	seen, allowed := sample.Total(), sample.Allowed(comment.Filter{Helpful: link.Helpful})
	voted := posterior(likelyTraits(comment.Filter{Helpful: link.Helpful}), ratingsAlike, allowed.Total(), seen)
	for i := range counts {
		share := posterior(likelyRatings[i], ratingsAlike, sample.Counts[i], seen)
		counts[i] = int(voted * share * float64(max(likelyLong, likelyTimes*seen)))
	}
	return counts
}

const (
	// A list that was not read to its end is assumed to have likelyLong comments, or likelyTimes as
	// many as were seen if that is more.
	likelyLong  = 100
	likelyTimes = 4
	// partly divides the expected number of comments of a link that is only partly in the stretch.
	// If every share is equally likely, the stretch has more than that in three of four cases. A
	// needless read costs a quarter of a further wave.
	partly = 4
	// A further wave is needed only if a link has more than surplus times its expected comments,
	// plus slack.
	slack, surplus = 3, 2
)

// Next returns the next reads, to be made in parallel; none if the page has enough. It reads the
// first unfinished link for all missing comments. It reads later links along with it as long as
// those before them are not expected to have enough.
func (c Chain) Next(progress []Progress) (reads []LinkRead) {
	have, counted := 0, 0 // comments of the links before: taken, and expected at least
	for i, p := range progress {
		have += p.Taken
		missing := c.want - have - counted
		if missing <= 0 {
			return reads
		}
		if p.Ended {
			continue
		}
		left := max(0, c.believed[i]-p.Taken)
		if p.Taken > 0 && left == 0 {
			left = p.Taken // it has more than expected
		}
		read := LinkRead{Link: i, Want: missing, Why: c.why(i, len(reads) > 0, have)}
		if len(reads) > 0 {
			read.Want = min(missing, surplus*left+slack)
		}
		if reads = append(reads, read); c.inOrder {
			return reads
		}
		if whole := c.stretch.whole(c.stretch.Links[i]); !whole || !c.sure {
			if left/partly >= missing {
				return reads
			}
			continue
		}
		counted += left
	}
	return reads
}

func (c Chain) why(link int, along bool, have int) string {
	name := c.stretch.Links[link].Name
	switch {
	case name == "":
		return ""
	case along:
		return fmt.Sprintf("%s: read in the same wave, because the comments before it may be too few", name)
	case link == 0:
		return fmt.Sprintf("%s: the page begins here in the order %s", name, c.stretch.order)
	}
	return fmt.Sprintf("%s: read next, because the comments before it are %d of %d", name, have, c.want)
}

// WholeRead is a read of a whole list that is sorted in memory afterwards.
type WholeRead struct {
	// Want is more than the list is expected to have.
	Want int
	// Once ends the read after one wave: a list that is longer is too long to be read whole.
	Once bool
	// Units bounds the cost of the read, in read units; 0 bounds nothing. A read that reaches it
	// stops before the end of the list.
	Units float64
	// Why is the reason for the read, for people.
	Why string
}

// Whole decides whether to read the whole list in place of its links: if that is expected to cost
// less, or if nothing is known of the product. With comments of at most 1 KB, the read costs at
// most the given read units. If comments of the first link are scattered, it may cost
// scatteredFactor times as much.
func (p *Planner) Whole(c Chain, units float64) (WholeRead, bool) {
	looked, scattered := c.seen.Total() > 0, scattered(c.stretch.Links)
	switch {
	case p.Filter.Helpful != nil: // only the index by votes has this list, in its order
		return WholeRead{}, false
	case !scattered && (looked || len(c.stretch.Links) < 2):
		return WholeRead{}, false
	case scattered && p.Counted > 0:
		return p.wholeOfScattered(c, units)
	case !looked && scattered && p.Filter.Dated():
		return p.look(c, "the filter by date may leave few comments", units)
	case !looked && !c.sure:
		read, cheap := p.look(c, "nothing is known about the product, and most products are small", units)
		return read, cheap && c.stretch.start == nil
	case scattered:
		return p.wholeOfScattered(c, units)
	}
	read := c.whole(p.held())
	return read, layout.AssumedUnits(read.Want) <= units && p.price(read.Want) <= c.price(p, 1)
}

// look returns a read of the newest comments, which may turn out to be the whole list. Comments
// that are known to be larger than 1 KB count with their size, and then fewer are looked at.
func (p *Planner) look(c Chain, why string, units float64) (WholeRead, bool) {
	most := layout.ItemsWithin(units, 1)
	if scattered(c.stretch.Links) {
		units *= scatteredFactor
	}
	most = min(most, p.Known.Within(units, 1))
	read := WholeRead{Want: max(c.want, min(comment.DefaultPageSize, most)), Once: true, Why: "the whole list, to be sorted in memory: " + why}
	return read, read.Want <= most
}

// whole returns a read of a list that is expected to hold the given number of comments.
func (c Chain) whole(held int) WholeRead {
	return WholeRead{Want: held + slack, Why: fmt.Sprintf("the whole list, to be sorted in memory: to read its %s at once costs no more than in parts", comment.Amount(held, "comment"))}
}

// held returns how many comments the list has by the statistics, ignoring its dates.
func (p *Planner) held() int { return max(0, p.Known.Stats.AtMost(p.Filter).Total()) }

// wholeOfScattered is Whole for a list whose first link is scattered. It decides by statistics and,
// as these know no dates, by the dates of the newest comments.
func (p *Planner) wholeOfScattered(c Chain, units float64) (WholeRead, bool) {
	ofAnyTime := math.MaxInt
	if c.sure {
		ofAnyTime = p.held()
	}
	held := p.Counted
	if c.seen.Total() >= held { // the index may lag
		held = c.seen.inRange(p.Filter, ofAnyTime)
	}
	if held == math.MaxInt {
		return WholeRead{}, false
	}
	read := c.whole(held)
	if read.Units = scatteredFactor * units; held < ofAnyTime {
		read.Want += (surplus - 1) * held // the newest comments may be denser or less dense than others
	}
	switch cost := p.Known.assumed(held + slack); {
	case cost > read.Units:
		return read, false
	case !c.sure:
		return read, p.Counted > 0 || cost <= units
	}
	return read, p.price(held+slack) <= c.price(p, float64(ofAnyTime)/float64(max(held, 1)))
}

// price returns the price of reading links of the chain. A link by votes must scan times as many
// comments as are wanted.
func (c Chain) price(p *Planner, times float64) float64 {
	reads := c.Next(make([]Progress, len(c.stretch.Links)))
	price := float64(len(reads)-1) * callPrice
	for _, one := range reads {
		of := c.stretch.Links[one.Link]
		link := Planner{Product: p.Product, Filter: of.Filter, Known: p.Known, Ranks: p.Ranks}
		if of.ByVotes() {
			one.Want = int(min(times*float64(one.Want), float64(max(one.Want, c.believed[one.Link]))))
		}
		price += link.price(one.Want)
	}
	return price
}

// scattered reports whether comments of the link by votes are among others in the only partition
// that has them in this order.
func scattered(links []comment.Link) bool {
	return slices.ContainsFunc(links, func(link comment.Link) bool { return link.ByVotes() && !alone(link.Filter) })
}

// scatteredFactor is how many times as much reading the whole list may cost then: no other plan is
// sure to be cheap.
const scatteredFactor = 3

// price returns the price of reading comments of the list from an end of it.
func (p *Planner) price(comments int) float64 {
	if narrowParts(p.Filter) == 1 && p.Known.counts(p.Filter) == nil {
		return p.Known.LikelySizes().Any.expected(comments)
	}
	e := newEstimator(p.Known, p.Filter, Request{Want: comments})
	candidates, _ := e.choose()
	best, ranks := candidates[0], p.ranks()
	if ranks == nil || e.belief != nil || !p.RanksHelp() {
		return best.Price
	}
	return min(e.through(best.Cover), ranks.candidate(Request{Want: comments}, e).Price)
}
