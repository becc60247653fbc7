package planner

import (
	"sort"

	"github.com/talkback/talkback/comment"
)

// Prior is what is likely of a product of which nothing is known: how many comments products have,
// how these spread over ratings and languages, and how large they are. Plans for such a product
// cost least on average if the product is one of those that the Prior describes. A wrong Prior
// costs read units, never comments. A Prior that is in use is not changed.
type Prior struct {
	// Products are the shares of products by number of comments, at least 1, in the classes of
	// SizeClass. A product weighs as much as it is asked for while nothing is known of it. Only
	// their ratios matter.
	Products [SizeClasses]float64
	// Ratings are the mean shares of the ratings among a product's comments, beginning with rating
	// 1. Each product weighs the same. Only their ratios matter.
	Ratings [comment.MaxRating]float64
	// RatingsAlike says how alike products are in their ratings: the mean shares count as much as
	// so many comments of the product itself. It is the concentration of a Dirichlet distribution:
	// if the share of a rating has mean m and variance v, it is m(1-m)/v - 1. 0 is as 1.
	RatingsAlike float64
	// Languages are the mean shares of some languages among a product's comments, nil if none is
	// known. Their sum is at most 1.
	Languages map[comment.Language]float64
	// OtherLanguage is the mean share of a language that is not in Languages.
	OtherLanguage float64
	// LanguagesAlike says how alike products are in their languages, as RatingsAlike. It is low if
	// most products have comments in one language only.
	LanguagesAlike float64
	// Sizes are the item sizes of a product. Zero values are not known.
	Sizes Sizes
	// Learnt is from how many products the Prior was learnt, 0 for DefaultPrior.
	Learnt int
}

// SizeClasses is how many classes of products a Prior tells apart by number of comments.
const SizeClasses = len(SizeBounds) + 1

// SizeBounds are the highest numbers of comments of all classes but the last, which has no end.
var SizeBounds = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384}

// SizeClass is the class of a product with so many comments, at least 1.
func SizeClass(comments int) int { return sort.SearchInts(SizeBounds[:], comments) }

// DefaultPrior is the Prior of a shop of which nothing is known. Most products have a handful of
// comments, and some have thousands. Two thirds of the comments have five stars, and there is more
// anger than indifference. A language that is asked for is one in which many products have
// comments.
func DefaultPrior() *Prior { return &defaultPrior }

var defaultPrior = Prior{
	Products: [SizeClasses]float64{
		.30, .15, .10, .07, .09, .06, .06, .04, .035, .02, .018, .012, .011, .007, .006, .005, .004, .003, .003, .002, .001, .001, .001, .001,
	},
	Ratings:        [comment.MaxRating]float64{.09, .05, .08, .17, .61},
	RatingsAlike:   8,
	OtherLanguage:  .4,
	LanguagesAlike: 1,
	Sizes:          Sizes{Any: unknownSize},
}

// Hint is what is known of a product without its counts: from a larger part of its comments than a
// page, or from long ago. The zero value says nothing.
type Hint struct {
	// Comments is about how many comments the product has, 0 if that is not known.
	Comments float64
	// Ratings are the shares of the ratings among them, beginning with rating 1; all zero if they
	// are not known. Only their ratios matter.
	Ratings [comment.MaxRating]float64
	// Languages are the shares of the comments that are in the languages of the filter, in their
	// order; all zero if they are not known.
	Languages [HintedLanguages]float64
}

// HintedLanguages is for how many languages of a filter a Hint is used.
const HintedLanguages = maxMixed
