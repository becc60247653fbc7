// Package planner decides how a page or a count is read: from which partitions of which index, how far, and what is left
// out because counts say that it is empty. A [Planner] is given all that is known, and its plans are a pure function of
// that; package dynamo carries them out.
//
// A filter by languages and ratings is a rectangle of the language x rating grid. A [Cover] is a set of partitions that
// together hold every cell of the rectangle once. The planner estimates what each cover costs and takes the cheapest.
package planner
