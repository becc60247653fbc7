// Package counts keeps the exact number of comments of each product by language and rating, and the
// leaderboards that follow from it.
//
// A [Counter] applies the changes in the table's stream to the counts, each change once, however
// often its record comes. A [Reader] reads statistics and leaderboards. A [Rebuilder] counts
// everything anew while the Counter goes on. A [Verifier] compares the counts with the comments.
//
// To read it, start with change.go (a record becomes a Change), counter.go and tally.go (changes
// become one transaction), then the items: marker.go, statistics.go with rows.go, places.go and
// settings.go. reader.go and leaders.go read them. rebuild.go and rebuild_product.go count anew,
// verify.go only compares; both examine products with examiner.go.
package counts
