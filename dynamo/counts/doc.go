// Package counts keeps the exact number of comments of each product by language and rating, and the leaderboards that
// follow from it.
//
// A [Counter] brings the changes that the table's stream tells of into the counts, each change once however often it is
// told. A [Reader] reads statistics and leaderboards. A [Rebuilder] counts everything anew while the Counter goes on, and
// a [Verifier] compares the counts with the comments.
//
// To read it, start with change.go (a record becomes a Change), counter.go and tally.go (changes become one transaction),
// then the items: mark.go, statistics.go with rows.go, places.go and settings.go. reader.go and leaders.go read them.
// rebuild.go and rebuild_product.go count anew, verify.go only compares; both look at a product by verify_look.go.
package counts
