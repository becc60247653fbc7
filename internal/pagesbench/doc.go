// Package pagesbench measures the stores of page numbers side by side: the time and the calls of a
// jump to a page by its number, under several filters, for products with few and with many comments;
// the cost of an insert, of a delete and of a build; and the storage. Beside them stand walking by
// cursor, and OFFSET over whole rows in PostgreSQL.
//
//	make bench-pages                        # writes docs/page-stores.csv, .svg, and the tables of .md
//	make bench-pages COUNTS=1000,100000     # other numbers of comments; writes nothing
//
// The way of a figure: candidates_test.go opens the stores and says how large they are, table_test.go
// and markers_test.go those in DynamoDB, which billed_test.go charges by AWS's rules. rivals_test.go
// has the two other ways to a page, measure_test.go asks all of them for the same pages, and
// report_test.go writes down what that took. A jump that finds a wrong
// place fails. TestSmall does all that with few comments, so that it goes on working.
//
// It has tests only.
package pagesbench
