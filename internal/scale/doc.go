// Package scale reckons what becomes of a table with 10^9 comments, 10^5 views a second and a product
// with a hundredth of all. Its tests draw the views and comments of seconds, spread them over
// partitions as DynamoDB does, and count what is throttled. Units and sizes are those of package cost,
// ceilings those of a partition. docs/scale.md says what follows; its figures are in docs/scale.csv.
//
//	go test ./internal/scale -v            # prints the figures, and holds the documents against them
//	go test ./internal/scale -update       # writes docs/scale.csv
package scale
