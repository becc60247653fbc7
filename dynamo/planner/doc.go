// Package planner decides how a page or a count is read: which partitions of which index, how many
// items of each, and which partitions are left out because they are known to be empty.
//
// A filter by languages and ratings is a rectangle of the language x rating grid. A [Cover] is a
// set of partitions that together hold each cell of the rectangle once. For example, "German or
// English, 4 or 5 stars" is covered by two partitions of languages, by two of ratings, by four
// cells, or by the whole product. All but the cells also hold comments that the filter excludes; a
// residual filter drops those, but reading them is paid for.
//
// A [Planner] estimates the price of each cover from what is [Known] of the product, or from what is
// likely of any product (a [Prior]), and takes the cheapest. What is left of a read after a first call
// that was not enough may be planned anew, from what that call told: see [Plan.Rest]. A [Plan] is a pure function of the planner and a [Request]: nothing is read and nothing
// is remembered. Package dynamo carries plans out. Wrong estimates cost read units, never comments.
//
// Start with planner.go, then covers.go, candidates.go and estimator.go; belief.go has what is likely.
package planner
