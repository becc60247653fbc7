package comment

import (
	"cmp"
	"math"
	"time"
)

// Sizes of a page.
const (
	// DefaultPageSize is the size of a page unless another is requested.
	DefaultPageSize = 20
	// MaxPageSize is the largest page.
	MaxPageSize = 100
)

// SettleTime is the age from which only an import or a moderator's approval can add another comment
// before a comment. It is the sum of 15 s of attempts to write after the ID was made, 2 s of
// difference between servers' clocks and 10 s of index lag, rounded up.
const SettleTime = 30 * time.Second

// Query asks for one page of the comments of a product.
type Query struct {
	Product string // its id
	// Filter selects comments. It must be normalized.
	Filter Filter
	// Order is the order of the whole list.
	Order Order
	// Slice is the requested part of the list.
	Slice Slice
	// Count says what of the whole list to count as well.
	Count Counting
	// SettledOnly excludes comments younger than SettleTime from the page. It does not change
	// counts or cursors.
	SettledOnly bool
	// WithoutText leaves the texts of the comments empty, for clients that do not show them.
	WithoutText bool
	// WithoutNeighbours does not look for a comment after the page: HasNext and HasPrevious mean
	// nothing then.
	WithoutNeighbours bool
	// Numbering says which page numbers and links to look up as well.
	Numbering Numbering
}

// Latest says which of the newest comments of products a request will ask for.
type Latest struct {
	// Ratings are sets of ratings. For each set, the request asks for the newest comment with one of
	// its ratings.
	Ratings [][]int
	// Among is how many of the newest comments of each product are read anyway. Only comments that are
	// not among them have to be found.
	Among int
	// WithoutText leaves the texts of the comments empty.
	WithoutText bool
}

// StatsAndLatest is the result of fetching statistics of products together with their newest
// comments.
type StatsAndLatest struct {
	// Found has the statistics of products that have comments, Failed the errors of those that could
	// not be fetched.
	Found  map[string]Stats
	Failed map[string]error
	// AsOf is a time up to which Found includes all changes, zero if that is unknown.
	AsOf time.Time
	// Comments were fetched in the same call; nil for the id of a comment that does not exist.
	Comments map[ID]*Comment
}

// Counting says what to count of a whole list. Counting reads the whole list.
type Counting int

// What can be counted, from the cheapest to the dearest.
const (
	CountNothing Counting = iota
	CountTotal
	CountByRating
)

// Slice is a part of a list: up to Size comments between two places, from one end, or a page by
// its number.
type Slice struct {
	// Size is the maximum number of comments, 0 to MaxPageSize.
	Size int
	// FromEnd takes comments backwards from the end of the list, or from Before.
	FromEnd bool
	// After excludes this place and all before it in the list; nil excludes none.
	After *Place
	// Before excludes this place and all after it in the list; nil excludes none.
	Before *Place
	// Page is the number of the page, from 1: the pages before it have Size comments each. 0 requests
	// a page without a number.
	Page int
}

// Rank returns how many comments of the list come before a page requested by number.
func (s Slice) Rank() int { return max(0, s.Page-1) * s.Size }

// LooksUp reports whether page numbers of a query depend on where comments are in the list. If not,
// they follow from the length of the list, which statistics have. Pages without comments have no
// numbers.
func (q Query) LooksUp() bool {
	n, counted, atCursor := q.Numbering, q.Filter.Counted(), q.Slice.After != nil || q.Slice.Before != nil
	return q.Slice.Size > 0 && (n.Links || n.Count && !counted || n.Number && q.Slice.KnownNumber() == 0 && (!counted || atCursor))
}

// KnownNumber returns the number of the page if it is the same in any list, else 0.
func (s Slice) KnownNumber() int {
	switch {
	case s.Page > 0:
		return s.Page
	case s.After == nil && !s.FromEnd && s.Size > 0:
		return 1
	}
	return 0
}

// Number returns the number of the page, 0 if pages have no comments. after is how many comments of
// the list come up to the cursor After, 0 without one; end is how many come before the cursor
// Before, total without one. A page that was reached by cursor may begin in the middle of a
// numbered one, because comments came and went since. It has the number of the page whose beginning
// is closest.
func (s Slice) Number(after, end, total int) int {
	if page := s.KnownNumber(); page > 0 || s.Size == 0 {
		return page
	}
	first := after
	if s.FromEnd {
		first = max(first, end-s.Size)
	}
	page := (first+s.Size/2)/s.Size + 1
	if first < total {
		page = min(page, Pages(total, s.Size)) // past the middle of the last page, rounding goes one too far
	}
	return page
}

// Check returns a BadInput error for a size out of range, for cursors with no place between them,
// and for a page number combined with a cursor or FromEnd.
func (s Slice) Check(order Order) error {
	if s.Size < 0 || s.Size > MaxPageSize {
		return Errorf(BadInput, "a page has 0 to %d comments, not %d", MaxPageSize, s.Size)
	}
	if s.Page != 0 {
		return s.CheckPage()
	}
	return refuse(s.After != nil && s.Before != nil && order.Compare(*s.After, *s.Before) >= 0,
		"the cursor in before must stand behind the one in after; swap them, or give one of them alone")
}

// CheckPage is Check for a page by number, which must be 1 to the largest Int of GraphQL.
func (s Slice) CheckPage() error {
	return cmp.Or(
		refuse(s.Page < 1, "page is %d, but pages count from 1", s.Page),
		refuse(s.Page > math.MaxInt32, "page is %d, but numbers of pages end at %d", s.Page, math.MaxInt32),
		refuse(s.FromEnd, "give page with first, not with last: pages count from the start of the list"),
		refuse(s.After != nil || s.Before != nil, "give either page or a cursor, not both: a cursor alone says where its page is"),
		refuse(s.Size < 1 || s.Size > MaxPageSize, "a page by number has 1 to %d comments, not %d: give another first, or leave out page", MaxPageSize, s.Size),
	)
}

// Page is a part of a list of comments.
type Page struct {
	// Comments are in the order of the list.
	Comments []Comment
	// HasNext and HasPrevious report whether the list has comments after and before the page.
	HasNext, HasPrevious bool
	// Counted is the result of counting the whole list, nil if the query counts nothing.
	Counted *Counted
	// Numbered are the numbers of the pages, nil if they were not looked up: see Query.LooksUp.
	Numbered *Numbered
	// Explain makes the QueryPlan that Plan returns; nil for a page that was not read.
	Explain func() QueryPlan
}

// Plan says how the page was read.
func (p Page) Plan() QueryPlan {
	if p.Explain == nil {
		return QueryPlan{}
	}
	return p.Explain()
}

// Lacks returns why requested counts or page numbers are missing, nil if none are.
func (p Page) Lacks() error {
	return cmp.Or(cmp.Or(p.Counted, new(Counted)).Err, cmp.Or(p.Numbered, new(Numbered)).Err)
}

// Counted is the result of counting a whole list.
type Counted struct {
	Total int
	// ByRating are the numbers of comments by rating, zero unless requested.
	ByRating Counts
	// Err is why counting failed, nil if it succeeded.
	Err error
}

// QueryPlan says how a page was read, and at what cost.
type QueryPlan struct {
	// Describe returns the plan and its outcome in words, on demand; nil if there is no plan.
	Describe func() string
	// Candidates are the ways in which the page could have been read, the chosen one first. There
	// is none if nothing had to be read.
	Candidates []PlanCandidate
	// Reads are the partitions that were read, or planned to be.
	Reads []PlanRead
	// Skipped are the partitions that were not read because they were empty.
	Skipped []PlanSkip
	// Queries is the number of calls made to the table. Like ItemsRead and ReadUnits, it covers
	// Reads and Lookups.
	Queries int
	// Waves is the number of waves: groups of parallel calls, one after the other.
	Waves int
	// ItemsRead is how many comments the table scanned, ItemsReturned how many the page shows.
	ItemsRead, ItemsReturned int
	// Position says how the page was found, and how the index of page numbers was used. It is nil if
	// the index was not used and the page was not requested by number.
	Position *PagePosition
	// Lookups is how many comments were fetched by ID: an edit had just moved them, or the index of
	// page numbers found them.
	Lookups int
	// ReadUnits is in read capacity units, as the table reported them.
	ReadUnits float64
	// MostUnits is the cost bound at which reading stops, in the same units, if no comment has more
	// than 1 KB.
	MostUnits float64
	// Duration is how long the reads took, from the first call to the last answer.
	Duration time.Duration
	// Kept is the age of a page from the page cache, 0 for a page that was read for this answer.
	Kept time.Duration
}

// Summary returns the plan and its outcome in words.
func (p QueryPlan) Summary() string {
	if p.Describe == nil {
		return ""
	}
	return p.Describe()
}

// Milliseconds returns the duration in milliseconds.
func (p QueryPlan) Milliseconds() float64 { return milliseconds(p.Duration) }

// Age returns how long ago the page was read, in milliseconds, 0 if it was read for this answer.
func (p QueryPlan) Age() float64 { return milliseconds(p.Kept) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// PlanCandidate is a way to read a page. The one with the lowest price is chosen.
type PlanCandidate struct {
	// Name says which partitions are read: "whole product", "ratings", "languages", "cells",
	// "mixture", "media" or "helpful". For "page numbers", comments are found by their ranks.
	Name string
	// Reads is how many partitions that are.
	Reads int
	// EstimatedUnits is what its first wave of reads was expected to cost in read capacity units, by
	// the statistics of the product or by what is likely; nil if no way was estimated.
	EstimatedUnits *float64
	// Price decides between candidates. It is the sum of EstimatedUnits, a tenth for each read beyond
	// the first, and the price of a further wave times its probability for each read; nil like
	// EstimatedUnits.
	Price *float64
	// Chosen is whether the page was read this way.
	Chosen bool
}

// PagePosition says how the first comment of a page was found.
type PagePosition struct {
	// By is the way it was found.
	By PositionSource
	// Rank is how many comments of the list come before the page, nil if that is not known.
	Rank *int
	// Skipped is how many comments were read and skipped to get to the page.
	Skipped int
	// Counted is whether TotalCount and stats of a range of dates come from the index.
	Counted bool
	// Calls and Waves count the lookups in the index, and ReadUnits is what they consumed of the
	// table. None of these is in the sums of the plan.
	Calls, Waves int
	ReadUnits    float64
}

// PositionSource is how the first comment of a page was found.
type PositionSource string

// The ways to find a page.
const (
	ByReading PositionSource = "READ_THROUGH" // all comments between the page and the nearer end of the list are read
	ByIndex   PositionSource = "INDEX"        // the page is looked up in an index
	ByCursor  PositionSource = "CURSOR"       // it was not requested by number
)

// PlanRead is one partition of one index that was read for a page.
type PlanRead struct {
	Purpose ReadPurpose
	// Index and PartitionKey say what was read.
	Index, PartitionKey string
	// SortKeyFrom and SortKeyTo are the bounds of the sort key, both included; nil for none.
	SortKeyFrom, SortKeyTo *string
	// Descending is true when the highest sort key comes first.
	Descending bool
	// Limit is how many items the first call scans; 0 for all.
	Limit int
	// Conditions are the residual filter, by which the table returned only some items of the
	// partition; empty for all.
	Conditions []Condition
	// Queries is the number of calls, ItemsRead how many items they scanned, ItemsKept how many of
	// these they returned.
	Queries, ItemsRead, ItemsKept int
	// ReadUnits is in read capacity units, as the table reported them.
	ReadUnits float64
}

// ResidualRatings returns the ratings that the residual filter allows, nil for all.
func (r PlanRead) ResidualRatings() (ratings []int) {
	for _, value := range ValuesOf(r.Conditions, OfRating) {
		ratings = append(ratings, value.Number)
	}
	return ratings
}

// ResidualLanguages returns the languages that the residual filter allows, nil for all.
func (r PlanRead) ResidualLanguages() (languages []Language) {
	for _, value := range ValuesOf(r.Conditions, OfLanguage) {
		languages = append(languages, Language(value.Text))
	}
	return languages
}

// PlanSkip is one partition of one index that was known to hold no matching comment.
type PlanSkip struct {
	// Purpose is why it would have been read.
	Purpose ReadPurpose
	// Index and PartitionKey say what was skipped.
	Index, PartitionKey string
	// AsOf is the time up to which the counts that showed the partition empty include all changes.
	AsOf time.Time
}

// ReadPurpose is why a partition was read.
type ReadPurpose string

// The purposes of a read.
const (
	ReadPage  ReadPurpose = "PAGE"  // for the comments of the page
	ReadProbe ReadPurpose = "PROBE" // to learn whether comments lie beyond a cursor
	ReadSkip  ReadPurpose = "SKIP"  // to get past the comments before a page by number
	ReadCount ReadPurpose = "COUNT" // to count the comments of a list
)
