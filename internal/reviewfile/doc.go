// Package reviewfile reads files of reviews into comments: tab-separated values as Amazon publishes
// them, comma-separated values, and JSON Lines, plain or compressed by gzip. It also writes
// comments as the lines of Talkback's own export, and reads these back unchanged.
//
// The path of a row: open.go opens the file and decompresses gzip. lines.go cuts it into lines of
// bounded length. kinds.go refuses files that hold no reviews, and recognizes formats by the first
// line. tsv.go, csv.go and jsonl.go make records of lines (row.go). columns.go finds the column of
// each field. convert.go makes a comment of a record, or exported.go if Talkback wrote the row. A
// row that cannot become a comment is a RowError, which says where and why, and reading goes on
// after it.
package reviewfile
