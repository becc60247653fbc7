// Package votes keeps the number of votes in each comment's item up to date.
//
// Nothing is ever added to a total. A [Recounter] counts the votes of a comment anew whenever a
// record of the stream shows a changed vote. So it does no harm if the record comes twice, late or
// to two processes at once. records.go finds the comments that records concern, and recount.go
// counts their votes.
package votes
