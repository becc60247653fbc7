// Package prior learns what products of a table are like: how many comments they have, how ratings
// and languages mix, how large comments are. The planner uses it for products of which nothing else
// is known.
//
// A [Learner] is told of pages and statistics as they pass by. Each product has one vote, however
// often it is read, so one odd product changes little. What is learnt is blended with the planner's
// default, and old votes fade. A [Keeper] saves it in one item of the table, where servers merge
// what they learnt, and a new process starts with it. A wrong prior costs read units, never
// comments.
//
// Start with learner.go, then tally.go and keeper.go.
package prior
