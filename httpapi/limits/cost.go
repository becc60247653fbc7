package limits

import (
	"cmp"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/graph/lookahead"
)

// place is the surroundings of a field: how often it is resolved, and the sizes of the lists above
// it.
type place struct {
	times    float64
	products float64         // distinct products here; fields below a product concern only that one
	stats    *float64        // units charged so far for the statistics of these products
	page     *lookahead.Page // the page above
	listed   int             // the length of the list above, if that is no page of a product's comments
	list     *listUnits      // units charged so far for the list of that page
}

// listUnits are the units charged so far for counting a list, and for looking up places in it.
type listUnits struct{ count, places float64 }

// estimate adds up what an operation may cost.
type estimate struct {
	averages map[*ast.FieldDefinition]float64 // lengths of the lists of introspection
	units    float64
	values   float64
}

// fields estimates fields and all below them.
func (e *estimate) fields(fields []lookahead.Field, at place) {
	newest := false
	for i := range fields {
		e.values += at.times
		kind := fields[i].Kind
		newest = newest || kind == lookahead.Latest || fields[i].ShowsLatest()
		if len(fields[i].Fields) == 0 && (kind == lookahead.Plain || weights[kind] == nil) {
			continue // it has no price, and nothing is below it
		}
		inside := at
		if inside.stats == nil {
			inside.stats = new(float64) // of this root field
		}
		if weigh := weights[kind]; weigh != nil {
			e.units += at.times * weigh(priced{&fields[i]}, &inside)
		} else if length, known := e.averages[fields[i].Definition]; known {
			inside.times *= length
		} else if fields[i].Definition.Type.Elem != nil && len(fields[i].SelectionSet) > 0 { // a list of objects
			inside.times *= comment.MaxPageSize
		}
		e.fields(fields[i].Fields, inside)
	}
	if newest {
		e.units += at.times * e.newest(fields)
	}
}

// newest returns the price of sibling fields of one product that show its newest comments. They
// share a page that is read anyway, or a sample. A comment that these may not show costs a read by
// its id, or a page of one.
func (e *estimate) newest(fields []lookahead.Field) (units float64) {
	asked := lookahead.NewestOf(fields)
	sampled := false
	for i := range fields {
		var ratings []int
		switch {
		case fields[i].Kind == lookahead.Latest:
		case fields[i].ShowsLatest():
			ratings = fields[i].RatingsOfLatest()
		default:
			continue
		}
		page := asked.Page(ratings)
		sampled = sampled || page == nil && asked.Sampled()
		if shown := page == nil && asked.Sampled() && ratings == nil || page != nil && slices.Equal(page.Page.Filter.Ratings, ratings); !shown {
			units += planner.PageEstimate(comment.Query{Filter: comment.Filter{Ratings: ratings}, Slice: comment.Slice{Size: 1}})
		}
	}
	if sampled {
		units += planner.PageEstimate(comment.Query{Slice: comment.Slice{Size: lookahead.SampleSize}})
	}
	return units
}

// priced is a field that has a price.
type priced struct{ *lookahead.Field }

// weights maps each kind of field to a function that returns the units of resolving it once, and
// sets the place of the fields below. Lists of objects without a weight count as a hundred
// elements.
var weights = map[lookahead.Kind]func(f priced, inside *place) (units float64){
	lookahead.OneNode:  func(f priced, _ *place) float64 { return f.comments() },
	lookahead.Nodes:    func(f priced, inside *place) float64 { inside.nodes(f.Count); return f.comments() },
	lookahead.Entities: func(f priced, inside *place) float64 { inside.nodes(f.Count); return f.comments() },
	lookahead.Products: func(f priced, inside *place) float64 { inside.nodes(f.Count); return 0 },
	lookahead.Leaderboard: func(f priced, inside *place) float64 {
		first := min(max(f.Count, 1), comment.MaxLeaders) // the field refuses other numbers
		inside.nodes(first)
		return dynamo.LeadersUnits(first)
	},
	lookahead.MostHelpful: func(f priced, inside *place) float64 {
		// The statistics say whether there is any; the product's first page, and a page of one with the
		// ratings, have it.
		helpful := comment.Query{Filter: comment.Filter{Helpful: new(true)}, Order: comment.MostHelpful, Slice: comment.Slice{Size: lookahead.HelpfulSize}}
		units := f.stats(inside) + planner.PageEstimate(helpful)
		helpful.Filter.Ratings, helpful.Slice.Size = f.RatingsOfLatest(), 1
		return units + planner.PageEstimate(helpful)
	},
	lookahead.Write: func(f priced, _ *place) float64 {
		switch f.Name {
		case "addComment":
			return dynamo.AddUnits() + dynamo.CommentUnits() // it may read the idempotency key afterwards
		case "voteOnComment":
			return dynamo.VoteUnits() + dynamo.CommentUnits() // it reads the comment first
		case "createVisitorToken":
			return 0
		}
		return dynamo.WriteUnits() + dynamo.CommentUnits() // it reads the comment first
	},
	lookahead.Writes: func(f priced, inside *place) float64 {
		// Only the reads count: the length of the list bounds the writes, which only moderators may make.
		// With them, five decisions would be too many.
		inside.lists(min(f.Count, comment.MaxDecisions))
		return float64(inside.listed) * dynamo.CommentUnits()
	},
	lookahead.Queue: func(f priced, inside *place) float64 {
		inside.lists(min(max(f.Count, 0), comment.MaxQueuePage))
		return dynamo.QueueUnits(inside.listed)
	},
	lookahead.Listed:        func(_ priced, inside *place) float64 { inside.times *= float64(inside.listed); return 0 },
	lookahead.Pending:       func(priced, *place) float64 { return dynamo.PendingUnits() },
	lookahead.ErasureStatus: func(priced, *place) float64 { return dynamo.ErasureUnits() },
	lookahead.Audit:         func(_ priced, inside *place) float64 { inside.times *= comment.MaxAudit; return dynamo.AuditUnits() },
	lookahead.CommentsBy: func(_ priced, inside *place) float64 {
		inside.lists(comment.MaxLatest)
		return dynamo.OwnUnits(comment.MaxLatest, false) + dynamo.OwnUnits(0, false) // it counts further keys
	},
	lookahead.UserErrors: func(_ priced, inside *place) float64 { inside.times *= maxProblems; return 0 },

	lookahead.CommentEvents: func(priced, *place) float64 { return joinUnits },
	lookahead.ChangingStats: func(priced, *place) float64 { return 2 * dynamo.StatsUnits() },

	lookahead.Media: func(_ priced, inside *place) float64 { inside.times *= assumedMedia; return 0 },

	lookahead.Comments: func(f priced, inside *place) float64 {
		// A size or number that is out of range counts as the closest one: the field refuses it, and
		// reads nothing.
		asked := *f.Page
		asked.Slice.Size, asked.Slice.Page = min(max(asked.Slice.Size, 0), comment.MaxPageSize), max(asked.Slice.Page, 0)
		inside.page, inside.list = &asked, new(listUnits)
		units := planner.PageEstimate(asked.Query)
		if asked.Slice.Rank() > 0 {
			units += f.lookup(inside, 1)
		}
		return units
	},
	lookahead.OwnComments: func(f priced, inside *place) float64 {
		inside.lists(min(max(f.Count, 0), comment.MaxPageSize))
		return dynamo.OwnUnits(inside.listed, f.Single)
	},
	lookahead.ViewerComment: func(_ priced, inside *place) float64 {
		return dynamo.OwnUnits(assumedOwn, false) / max(1, inside.times) // once for all products
	},
	lookahead.ViewerVote:   func(priced, *place) float64 { return dynamo.ViewerVoteUnits() },
	lookahead.PageElements: func(_ priced, inside *place) float64 { inside.times *= float64(inside.page.Slice.Size); return 0 },
	lookahead.ListTotal:    func(f priced, inside *place) float64 { return f.count(inside, comment.CountTotal) },
	lookahead.ListStats:    func(f priced, inside *place) float64 { return f.count(inside, comment.CountByRating) },
	lookahead.PageCount: func(f priced, inside *place) float64 {
		switch page := inside.page; {
		case page.LooksUp():
			return f.lookup(inside, 1)
		case page.Slice.Size > 0:
			return f.count(inside, comment.CountTotal)
		}
		return 0
	},
	lookahead.PageNumber: func(f priced, inside *place) float64 {
		switch page := inside.page; {
		case page.LooksUp():
			return f.lookup(inside, 2)
		case page.Slice.FromEnd && page.Slice.Size > 0: // the last page: its number follows from the number of comments
			return f.count(inside, comment.CountTotal)
		}
		return 0 // the first page
	},
	lookahead.PageLinks: func(f priced, inside *place) float64 {
		if !inside.page.LooksUp() {
			return 0
		}
		// the page itself, or two cursors, those around it, and its neighbours and the last page
		return f.lookup(inside, 2*inside.page.Numbering.Around+5)
	},
	lookahead.LinksAround: func(_ priced, inside *place) float64 {
		inside.times *= float64(1 + 2*inside.page.Numbering.Around)
		return 0
	},
	lookahead.Statistics: func(f priced, inside *place) float64 {
		if f.Single {
			return f.stats(inside) + f.rows(1)
		}
		return f.stats(inside)
	},
	lookahead.Languages: func(f priced, inside *place) float64 {
		units := f.stats(inside)
		inside.times *= assumedLanguages
		return units
	},
	lookahead.Ratings: func(_ priced, inside *place) float64 { inside.times *= comment.MaxRating; return 0 },

	lookahead.PlanCandidates: func(_ priced, inside *place) float64 { inside.times *= maxCandidates; return 0 },
	lookahead.PlanPartitions: func(_ priced, inside *place) float64 {
		page := inside.page
		languages, ratings := max(1, len(page.Filter.Languages)), len(page.Filter.Ratings)
		reads := languages * max(1, ratings)
		if links := len(page.Order.Links(page.Filter)); links > 1 {
			reads = languages*links + 1 // or the whole list
		}
		if !page.Filter.Counted() { // its list is counted by reading, perhaps by rating
			reads += languages * cmp.Or(ratings, comment.MaxRating)
		}
		inside.times *= float64(reads)
		return 0
	},
}

const (
	// maxCandidates is the highest number of candidates in a plan.
	maxCandidates = 7
	// assumedLanguages is how many languages the comments of a product are assumed to be in.
	assumedLanguages = 20
	// assumedOwn is how many comments a customer is assumed to have written.
	assumedOwn = 25
	// assumedMedia is how many pictures and videos a comment is assumed to have; most have none.
	assumedMedia = 2
	// maxProblems is how many problems one input can have: one for each field of the largest input,
	// and for each picture.
	maxProblems = 8 + comment.MaxMedia
)

// comments returns the price of fetching the comments whose ids the field names. A product needs no
// read.
func (f priced) comments() float64 { return float64(f.CommentIDs) * dynamo.CommentUnits() }

// lists enters the field above a list of n comments, each of which may be about another product.
func (p *place) lists(n int) { p.listed, p.products, p.stats = n, float64(n), new(float64) }

// nodes enters a list of n products or comments.
func (p *place) nodes(n int) {
	p.lists(n)
	p.times *= float64(n)
}

// lookup returns the price of looking up places in the list of the page above. All page numbers of
// the page are looked up together.
func (f priced) lookup(inside *place, places int) float64 {
	return raise(&inside.list.places, planner.LookupEstimate(inside.page.Query, places), 1)
}

// stats returns the price of the statistics of products. They are read once for each product,
// however many fields show them.
func (f priced) stats(inside *place) float64 {
	return raise(inside.stats, inside.products*dynamo.StatsUnits(), inside.times)
}

// rows returns the highest price of looking up languages that share a row of their product's
// statistics.
func (f priced) rows(languages int) float64 { return float64(languages) * dynamo.StatsUnits() }

// count returns the price of counting the list of the page above. If the statistics do not have its
// counts, it is counted once, for the most expensive field.
func (f priced) count(inside *place, counting comment.Counting) float64 {
	filter := inside.page.Filter
	if inside.page.Filter.Counted() {
		return f.stats(inside) + f.rows(len(filter.Languages))
	}
	return raise(&inside.list.count, planner.CountEstimate(comment.Query{Filter: filter, Count: counting}), 1)
}

// raise raises a shared charge to units if it is lower. It returns the difference, divided by the
// times that the caller charges it.
func raise(charged *float64, units, times float64) float64 {
	if times == 0 || units <= *charged {
		return 0
	}
	more := units - *charged
	*charged = units
	return more / times
}

// joinUnits is the usual maximum cost of beginning to follow comments: finding the end of the
// events, and reading those that a client missed.
const joinUnits = 5

// eventKinds are the kinds of fields that a subscription may select: those whose values come with
// the event.
var eventKinds = []lookahead.Kind{
	lookahead.Plain, lookahead.Text, lookahead.Media, lookahead.AsOf, lookahead.Ratings, lookahead.CommentEvents, lookahead.ChangingStats,
}

// checkEvents refuses fields of a subscription that read: thousands of subscribers would read for
// each event.
func checkEvents(fields []lookahead.Field) *gqlerror.Error {
	for i := range fields {
		f := &fields[i]
		if !slices.Contains(eventKinds, f.Kind) {
			return &gqlerror.Error{
				Message:    "a subscription reads nothing beside its event: leave out " + f.Name + ", and ask for it by a query when an event comes",
				Extensions: map[string]any{"code": string(EventReads)},
			}
		}
		if err := checkEvents(f.Fields); err != nil {
			return err
		}
	}
	return nil
}
