package planner

import "github.com/talkback/talkback/comment"

// What is likely of a product of which nothing is known. It is made for a shop most of whose products
// have a handful of comments, and some thousands. Plans for such a product cost least on average. If
// a shop is of another kind, plans cost more read units, and show the same comments.

// likelyComments are how many comments products have, and how many products have so many. A product
// weighs as much as it is asked for while nothing is known of it.
var likelyComments = likelySizes{
	{1, .30}, {2, .15}, {3, .10}, {4, .07}, {5.5, .09}, {7.5, .06}, {10.5, .06}, {14.5, .04}, {20.5, .035}, {28.5, .02},
	{40.5, .018}, {56.5, .012}, {80.5, .011}, {112.5, .007}, {160.5, .006}, {224.5, .005}, {320.5, .004}, {448.5, .003},
	{768.5, .003}, {1536.5, .002}, {3072.5, .001}, {6144.5, .001}, {12288.5, .001}, {24577.5, .001},
}

// likelyRatings are the mean shares of the ratings among a product's comments, beginning with rating
// 1. Two thirds of the comments have five stars, and there is more anger than indifference.
var likelyRatings = [comment.MaxRating]float64{.09, .05, .08, .17, .61}

const (
	// ratingsAlike says how alike products are in their ratings: the mean shares count as much as so
	// many comments of the product itself. It is the concentration of a Dirichlet distribution: if the
	// share of a rating has mean m and variance v, it is m(1-m)/v - 1.
	ratingsAlike = 8
	// likelyLanguage is the mean share of a language that is asked for.
	likelyLanguage = .4
	// languagesAlike says how alike products are in their languages, as ratingsAlike. It is low, as most
	// products have comments in one language only.
	languagesAlike = 1
)
