package planner

import (
	"fmt"
	"math"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// This file decides which links of a stretch are read, and how much of each. It is a pure function
// of what is known of the product's counts and of what was read so far. Wrong counts cost read
// units and waves, never comments: links are read in their order until the page is full.

// Progress is how far a link was read.
type Progress struct {
	// Taken is how many comments it has brought so far.
	Taken int
	// Ended is whether it has no others.
	Ended bool
}

// LinkRead is what to read of a link.
type LinkRead struct {
	// Link is its number in the stretch.
	Link int
	// Want is how many comments to take of what is left of it.
	Want int
	// Why says why it is read, "" if the list has one link.
	Why string
}

// Chain is a stretch, how many comments are wanted of it, and how many each link is believed to
// have.
type Chain struct {
	stretch Stretch
	want    int
	// believed is how many comments each link has. sure is whether that is by statistics.
	believed []int
	sure     bool
	// inOrder reads one link after the other: each may take lookups that cannot be taken back.
	inOrder bool
	// seen are comments that a read of the whole list brought.
	seen Seen
}

// Seen are the newest comments of a list that was read by date, but not to its end.
type Seen struct {
	comment.Row
	// Newest and Oldest are the ends of what was seen.
	Newest, Oldest comment.Position
}

// inRange returns how many comments a list has between dates if as many came each day as came
// lately, and at most as many as it has at any time. It returns that if nothing was seen, or the
// dates have no start.
func (s Seen) inRange(filter comment.Filter, ofAnyTime int) int {
	if s.Total() == 0 || filter.CreatedAfter == nil {
		return ofAnyTime
	}
	lately := max(s.Newest.Time().Sub(s.Oldest.Time()), time.Millisecond)
	return int(min(float64(ofAnyTime), float64(s.Total())*float64(s.Newest.Time().Sub(*filter.CreatedAfter))/float64(lately)))
}

// Chain returns the chain of a stretch, by counts, or by what was seen of a list whose counts are
// not known.
func (p *Planner) Chain(s Stretch, want int, seen Seen) Chain {
	c, sample := Chain{stretch: s, want: want, believed: make([]int, len(s.Links)), seen: seen}, seen.Row
	stats := p.Known.counts(p.Filter)
	c.sure = stats != nil
	unvoted := sample.Allowed(comment.Filter{Helpful: new(false)}).Total()
	rare := p.Filter.OfTraits() || !c.sure && s.order == comment.MostHelpful && Few(unvoted, sample.Total())
	c.inOrder = p.Ranks != nil && rare && !(c.sure && p.Known.Trusted)
	for i, link := range s.Links {
		counts := likelyCounts(sample, link.Filter)
		if c.sure {
			counts = stats.AtMost(link.Filter)
		}
		c.believed[i] = max(0, counts.Of(link.Filter.Ratings))
	}
	return c
}

// likelyCounts are the numbers of comments that a link of a long list is likely to have, by rating,
// after a sample of the list.
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
	// likelyLong is how many comments a list that goes on is assumed to have, likelyTimes how many
	// times those that were seen.
	likelyLong  = 100
	likelyTimes = 4
	// partly divides the believed number of comments of a link that is only partly in the stretch:
	// one in partly is counted on. If every share is equally likely, the stretch has more in three
	// of four cases. A read in vain costs a quarter of a further wave.
	partly = 4
	// A link may have slack comments more than is believed, and surplus times as many, before a
	// further wave is needed.
	slack, surplus = 3, 2
)

// Next returns what to read at once after some progress, nothing if the page has all that it needs.
// It reads the first link that goes on for all that is missing. It reads those behind it along as
// far as the links before them are not believed to have enough.
func (c Chain) Next(progress []Progress) (reads []LinkRead) {
	have, counted := 0, 0 // before a link: taken, and believed at least
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
			left = p.Taken // it has more than was believed
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

// why says why a link is read.
func (c Chain) why(link int, along bool, have int) string {
	name := c.stretch.Links[link].Name
	switch {
	case name == "":
		return ""
	case along:
		return fmt.Sprintf("%s: read along, as what comes before it may be too few", name)
	case link == 0:
		return fmt.Sprintf("%s: the page begins here in the order %s", name, c.stretch.order)
	}
	return fmt.Sprintf("%s: read on, as what comes before it has %d of %d", name, have, c.want)
}

// WholeRead is a read of a whole list that is sorted in memory afterwards.
type WholeRead struct {
	// Want is more than the list is believed to have.
	Want int
	// Once says that the read ends after one wave: a list that goes on then is too long to be read
	// whole.
	Once bool
	// Units bounds the cost of the read, in read units; 0 bounds nothing. A read that reaches it
	// stops before the end of the list.
	Units float64
	// Why says why it is read.
	Why string
}

// Whole decides whether the whole list is read in place of its links. It is if that costs less by
// what is known of the product, or if nothing is known. The read costs at most the given read units
// if no comment has more than 1 KB, or scatteredFactor times as much where comments of the first
// link are scattered.
func (p *Planner) Whole(c Chain, units float64) (WholeRead, bool) {
	if len(c.stretch.Links) < 2 {
		return WholeRead{}, false
	}
	looked, scattered := c.seen.Total() > 0, scattered(c.stretch.Links)
	switch {
	case looked && !scattered:
		return WholeRead{}, false
	case !looked && scattered && p.Filter.Dated():
		return c.look("its dates may leave few comments", units)
	case !looked && !c.sure:
		read, cheap := c.look("nothing is known of the product, and most are small", units)
		return read, cheap && c.stretch.start == nil
	case scattered:
		return p.wholeOfScattered(c, units)
	}
	read := c.whole(p.held())
	return read, layout.AssumedUnits(read.Want) <= units && p.price(read.Want) <= c.price(p, 1)
}

// look is a read of the newest comments, which may be all.
func (c Chain) look(why string, units float64) (WholeRead, bool) {
	some := min(comment.DefaultPageSize, layout.ItemsWithin(units, 1))
	read := WholeRead{Want: max(c.want, some), Once: true, Why: "the whole list, to be sorted in memory: " + why}
	return read, layout.AssumedUnits(read.Want) <= units
}

// whole is a read of a list that is believed to hold some comments.
func (c Chain) whole(held int) WholeRead {
	return WholeRead{Want: held + slack, Why: fmt.Sprintf("the whole list, to be sorted in memory: its %d comments cost no more than links of it", held)}
}

// held is how many comments the list has by statistics, whatever its dates.
func (p *Planner) held() int { return max(0, p.Known.Stats.AtMost(p.Filter).Total()) }

// wholeOfScattered is Whole where comments of the first link are scattered: by statistics and, as
// these know no dates, by the dates of the newest comments.
func (p *Planner) wholeOfScattered(c Chain, units float64) (WholeRead, bool) {
	ofAnyTime := math.MaxInt
	if c.sure {
		ofAnyTime = p.held()
	}
	held := c.seen.inRange(p.Filter, ofAnyTime)
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
		return read, cost <= units
	}
	return read, p.price(held+slack) <= c.price(p, float64(ofAnyTime)/float64(max(held, 1)))
}

// price is the price of reading links of the chain. In the order of votes, it takes some times as
// many comments as are wanted.
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

// scattered reports whether comments of the first link are among others in the only partition that
// has them in their order.
func scattered(links []comment.Link) bool {
	voted := links[0]
	if last := links[len(links)-1]; last.ByVotes() { // read backwards
		voted = last
	}
	return voted.ByVotes() && !alone(voted.Filter)
}

// scatteredFactor is how many times as much the whole list may cost then: no other way is sure to
// be cheap.
const scatteredFactor = 3

// price is the price of reading comments of the list from an end of it.
func (p *Planner) price(comments int) float64 {
	if narrowParts(p.Filter) == 1 && p.Known.counts(p.Filter) == nil {
		return p.Known.LikelySizes().Any.expected(comments)
	}
	e := newEstimator(p.Known, p.Filter, Request{Want: comments})
	best := e.choose().candidate
	ranks := p.ranks()
	if ranks == nil || e.belief != nil || !p.RanksHelp() {
		return best.Price
	}
	return min(e.through(best.Cover), ranks.candidate(Request{Want: comments}, e).Price)
}
