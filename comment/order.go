package comment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Order is the order of a list of comments. In each of the orders, a comment stands at a Place.
type Order string

// The orders of a list.
const (
	// NewestFirst lists the latest comment first.
	NewestFirst Order = "NEWEST_FIRST"
	// OldestFirst lists the earliest comment first.
	OldestFirst Order = "OLDEST_FIRST"
	// HighestRated lists comments with 5 stars first, then those with 4, and so on. Among comments of
	// one rating, the latest comes first.
	HighestRated Order = "HIGHEST_RATED"
	// LowestRated lists comments with 1 star first. Among comments of one rating, the latest comes
	// first.
	LowestRated Order = "LOWEST_RATED"
	// MostHelpful lists comments that more people found helpful than not, those with the most net
	// votes first, and then all others. Among comments of equal net votes, and among the others,
	// the latest comes first.
	MostHelpful Order = "MOST_HELPFUL"
)

// Place is where a comment stands in a list: by its key in the order of the list, and among
// comments of one key by its position. A place stays valid when the comment is deleted, or its
// rating or votes change.
type Place struct {
	// Key is the rating in orders by rating, the net votes in MostHelpful if they are above 0, and
	// else 0.
	Key int32
	// Position is the position of the comment.
	Position Position
}

// At returns the place of a position in orders by date, which give every comment the same key.
func At(p Position) *Place { return &Place{Position: p} }

// Compare orders places by key and then by position, both ascending, as sort keys of an index are.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Key, other.Key), p.Position.Compare(other.Position))
}

// Next returns the place right above p.
func (p Place) Next() Place {
	if p.Position == MaxPosition {
		return Place{Key: p.Key + 1}
	}
	return Place{p.Key, p.Position.Next()}
}

// Previous returns the place right below p.
func (p Place) Previous() Place {
	if p.Position == (Position{}) {
		return Place{p.Key - 1, MaxPosition}
	}
	return Place{p.Key, p.Position.Previous()}
}

// Keyed reports whether the order gives comments different keys.
func (o Order) Keyed() bool { return o == HighestRated || o == LowestRated || o == MostHelpful }

// Descends reports whether comments of one key are listed by descending position.
func (o Order) Descends() bool { return o == NewestFirst || o.Keyed() }

// Dated returns the order among comments of one key: NewestFirst or OldestFirst.
func (o Order) Dated() Order {
	if o.Descends() {
		return NewestFirst
	}
	return OldestFirst
}

// PlaceOf returns the place of a comment.
func (o Order) PlaceOf(c Comment) Place {
	place := Place{Position: c.ID.Position()}
	switch o {
	case HighestRated, LowestRated:
		place.Key = int32(c.Rating)
	case MostHelpful:
		place.Key = int32(min(max(0, c.AllVotes().Net()), MaxKey))
	}
	return place
}

// Compare returns a negative number if a comes before b in the list, a positive one if it comes
// behind it, and 0 if they are equal.
func (o Order) Compare(a, b Place) int {
	keys, positions := cmp.Compare(a.Key, b.Key), a.Position.Compare(b.Position)
	if o == HighestRated || o == MostHelpful {
		keys = -keys
	}
	if o.Descends() {
		positions = -positions
	}
	return cmp.Or(keys, positions)
}

// Front returns a place before all comments of a key, and behind those of all keys before it.
func (o Order) Front(key int32) Place {
	if o.Descends() {
		return Place{key, MaxPosition}
	}
	return Place{Key: key}
}

// MaxKey is the highest key of a comment. There are places above it.
const MaxKey = math.MaxInt32 - 1

// Link is a part of a list whose comments have neighbouring keys. If they have one key, it is a
// list in the order of dates.
type Link struct {
	// Low and High are the lowest and the highest key of its comments.
	Low, High int32
	// Filter selects them.
	Filter Filter
	// Name says in words what they have in common, "" if the link is the whole list.
	Name string
}

// Has reports whether comments of the link may have a key.
func (l Link) Has(key int32) bool { return l.Low <= key && key <= l.High }

// ByVotes reports whether comments of the link have different keys, which are their net votes.
func (l Link) ByVotes() bool { return l.Low < l.High }

// Links returns the parts of a list, in the order of the list. An order by rating has a link for
// each rating that the filter allows. MostHelpful has one for comments with helpful votes and one
// for the others, unless the filter selects the former. An order by date has the list itself. The
// filter must be normalized.
func (o Order) Links(filter Filter) []Link {
	switch {
	case o == MostHelpful && filter.Helpful != nil && *filter.Helpful:
		return []Link{{Low: 1, High: MaxKey, Filter: filter, Name: "helpful"}}
	case o == MostHelpful:
		voted, others := filter, filter
		voted.Helpful, others.Helpful = new(true), new(false)
		return []Link{{Low: 1, High: MaxKey, Filter: voted, Name: "helpful"}, {Filter: others, Name: "others"}}
	case !o.Keyed():
		return []Link{{Filter: filter}}
	}
	links := make([]Link, 0, MaxRating)
	for rating := 1; rating <= MaxRating; rating++ {
		if len(filter.Ratings) == 0 || slices.Contains(filter.Ratings, rating) {
			link := Link{Low: int32(rating), High: int32(rating), Filter: filter, Name: fmt.Sprintf("rating %d", rating)}
			link.Filter.Ratings = []int{rating}
			links = append(links, link)
		}
	}
	if o == HighestRated {
		slices.Reverse(links)
	}
	return links
}

// CheckSettled returns a BadInput error unless new comments come to an end of the list: only then
// can a client follow it.
func (o Order) CheckSettled() error {
	return refuse(o.Keyed(), "settledOnly needs a list in the order of dates, and in the order %s new comments can appear anywhere: give it with %s, or leave it out", o, OldestFirst)
}
