// Package votes keeps the votes about comments counted: a comment's item says how many there are.
//
// Nothing is ever added to a total. A [Recounter] counts the votes of a comment anew whenever a record
// of the stream says that one changed, so it does no harm if the record comes twice, late or to two
// processes at once. records.go says which comments records concern, recount.go counts them.
package votes
