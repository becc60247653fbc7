// Package planbench measures the cost of plans against perfect foresight. It asks for pages of
// products' comments by every set of ratings, with and without languages. The pages are near the
// beginning of the list and deep in it. It reads each page in several ways. Each way shows the page
// and finds out whether comments come before and after it.
//
//	make bench-plans                                  # generated comments; writes docs/plans.csv and docs/plans.svg
//	make bench-plans DATA=reviews.tsv LANGUAGE=en     # reviews of your own, read as import reads them
//
// Where to find what: data.go has the comments, made by generate.go and catalogue.go or read from a
// file. questions.go and lists.go choose their pages. ways.go has the ways to read a page,
// ledger.go and foresight.go the least that any way can cost. measure.go runs them all, set.go for
// many products. summary.go takes averages, and report.go and plot.go write them down.
//
// Reads are answered from memory by table.go and query.go, which tests compare with real
// engines. So a page takes microseconds. No measurement is a time.
package planbench
