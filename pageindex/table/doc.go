// Package table is the index of page numbers that is in the comments' own table. It reads and
// merges what package runs defines and the counting transactions of package counts write.
//
// The head of a product's index is an attribute of its statistics. All other items have a partition
// of their own:
//
//	R#<product>  K#<version>-<number>  a chunk of runs
//	R#<product>  L                     the directory, with the runs of a small product
//	R#<product>  L#<number>            an entry of the log
package table
