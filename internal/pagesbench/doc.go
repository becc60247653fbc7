// Package pagesbench measures the stores of page numbers side by side: the time and the calls of a
// jump to a page by its number, under several filters, for products with few and with many
// comments; the cost of an insert, of a delete and of a build; and the storage. It compares them
// with walking by cursor, and with OFFSET over whole rows in PostgreSQL.
//
//	make bench-pages                        # writes docs/page-stores.csv, .svg, and the tables of .md
//	make bench-pages COUNTS=1000,100000     # other numbers of comments; writes nothing
//
// Where to find what: candidates_test.go opens the stores and returns their sizes. table_test.go
// and markers_test.go do so for those in DynamoDB, which billed_test.go charges by AWS's rules.
// rivals_test.go has the two other ways to a page. measure_test.go asks all of them for the same
// pages, and report_test.go writes down the results. A jump to a wrong place fails. TestSmall does
// all that with few comments, so that it keeps working.
//
// The package has tests only.
package pagesbench
