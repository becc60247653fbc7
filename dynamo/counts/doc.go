// Package counts keeps the exact number of comments of each product by language and rating, and the leaderboards that
// follow from it.
//
// A [Counter] brings the changes that the table's stream tells of into the counts, each change once however often it is
// told. A [Reader] reads statistics and leaderboards. A [Rebuilder] counts everything anew while the Counter goes on, and
// a [Verifier] compares the counts with the comments.
package counts
