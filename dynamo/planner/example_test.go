package planner_test

import (
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// firstPage asks for the 20 newest comments of a list.
func firstPage() planner.Request {
	list := planner.StretchOf(comment.Query{Order: comment.NewestFirst})
	return planner.Request{Window: list.Window(list.Links[0]), Purpose: comment.ReadPage, Want: list.Want(20)}
}

// Two of five ratings of a product. Most products are small, so one read of the whole product finds
// all of their comments. Of a product that has thousands of comments, few with these ratings, it
// would scan hundreds of others.
func ExamplePlanner_Take() {
	list := planner.Planner{Product: "kettle", Filter: comment.Filter{Ratings: []int{1, 3}}}
	fmt.Println(list.Take(firstPage()))

	list.Known = planner.Knowledge{
		Stats: comment.Stats{"en": {Counts: comment.Counts{600, 150, 400, 1000, 7850}}},
		Sizes: planner.Sizes{Any: planner.ItemSize{Mean: 400, Deviation: 200}},
	}
	fmt.Println(list.Take(firstPage()))
	// Output:
	// for the page and its neighbours: up to 21 comments of product "kettle", newest first
	//   by whole product (about 0.8 units, price 1.0), not by ratings (about 1.1 units, price 1.2): without statistics, estimated for a typical product
	//   read 44 of P#kettle in all, residual filter: ratings [1 3]
	// for the page and its neighbours: up to 21 comments of product "kettle", newest first
	//   by ratings (about 2.1 units, price 2.2), not by whole product (about 11.3 units, price 12.0)
	//   read 18 of P#kettle/1 in byRating
	//   read 15 of P#kettle/3 in byRating
}

// Trusted counts say that no Icelandic comment has one star. The planner skips the read that would
// find nothing.
func ExamplePlanner_Take_skipped() {
	list := planner.Planner{
		Product: "kettle",
		Filter:  comment.Filter{Languages: []comment.Language{"de", "is"}, Ratings: []int{1}},
		Known: planner.Knowledge{
			Stats:   comment.Stats{"de": {Counts: comment.Counts{40, 10, 20, 60, 300}}, "en": {Counts: comment.Counts{600, 150, 400, 1000, 7850}}, "is": {Counts: comment.Counts{0, 1, 0, 2, 4}}},
			Age:     time.Second,
			Trusted: true,
		},
	}
	fmt.Println(list.Take(firstPage()))
	// Output: for the page and its neighbours: up to 21 comments of product "kettle", newest first
	//   by cells (about 1.5 units, price 1.5), not by mixture (about 1.5 units, price 1.5), not by languages (about 15.7 units, price 16.4), not by ratings (about 23.1 units, price 23.8), not by whole product (about 62.8 units, price 64.7)
	//   read 21 of P#kettle/de/1 in byLangAndRating
	//   skip P#kettle/is/1 in byLangAndRating: empty by statistics of 1s ago
}

// A range of dates is counted by the table, one partition for each rating.
func ExamplePlanner_Count() {
	list := planner.Planner{Product: "kettle", Filter: comment.Filter{Languages: []comment.Language{"de"}, Ratings: []int{1, 2}}}
	fmt.Println(list.Count(comment.CountByRating))
	// Output:
	// for the count of the whole list: all comments of product "kettle"
	//   count P#kettle/de/1 in byLangAndRating
	//   count P#kettle/de/2 in byLangAndRating
}
