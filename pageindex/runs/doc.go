// Package runs counts the comments of a product in stretches, so that the place of a rank is found
// without reading comments. It makes no calls: it decides what to store, and what stored parts say.
//
// A [Run] is a stretch of positions of 64 comments or so, with their number by language and rating.
// Which run a comment belongs to follows from its position. Four parts tell about all comments:
//
//   - The [Head] counts the newest ones. It is part of the product's statistics. When it holds 64,
//     they become a run.
//   - The log says what happened below the head: each [Entry] holds changes, and perhaps a new run.
//   - The directory and its chunks hold the runs. A merge brings the log into them now and then.
//
// The statistics, the markers of the comments and one entry of the log change in one transaction.
// So at every moment:
//
//  1. The head's counts are the sum of the markers at or above its bound.
//  2. A run's counts, with the entries that were not merged, are the sum of its markers.
//  3. The entries from the first that was not merged to the head's last all exist.
package runs
