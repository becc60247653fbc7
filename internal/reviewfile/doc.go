// Package reviewfile reads files of reviews into comments: tab-separated values as Amazon publishes them, comma-separated
// values, and JSON Lines, plain or compressed by gzip. It also writes the lines by which Talkback hands out its own
// comments, and reads those back as they were.
//
// The way of a row: open.go opens the file and looks through gzip, lines.go cuts it into lines of bounded length, kinds.go refuses what holds no reviews and knows formats by their beginning, tsv.go,
// csv.go and jsonl.go make records of them, columns.go knows which column holds which field, and convert.go makes a
// comment of a record, or exported.go, when Talkback wrote it. A row that cannot become a comment says why and where, and reading goes on after it.
package reviewfile
