package reviewfile

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// Format is how a file is written.
type Format string

// The formats.
const (
	// TSV is tab-separated values below a header. Quotes mean nothing.
	TSV Format = "tsv"
	// CSV is comma-separated values below a header, quoted as in RFC 4180. If the header has semicolons instead, as Excel
	// writes where the comma is in decimal numbers, these separate the values.
	CSV Format = "csv"
	// JSONLines is one JSON object on each line.
	JSONLines Format = "jsonl"
)

// FormatOf is the format that the name of a file tells, with or without .gz at its end; empty when it tells none.
func FormatOf(name string) Format {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "tsv", "tab":
		return TSV
	case "csv":
		return CSV
	case "jsonl", "ndjson", "json":
		return JSONLines
	}
	return ""
}

// Options say how to understand a file.
type Options struct {
	// Format is told by the beginning of the file if it is empty.
	Format Format
	// Columns gives the column of a field. It wins over the names that are known anyway; an empty column means that the
	// file does not have the field, whatever its columns are called.
	Columns map[Field]string
	// Language, unless empty, is the language of all rows. Beside LanguageOf, or a column given for the language, it is
	// that of the rows whose column tells none.
	Language comment.Language
	// LanguageOf turns values of the language's column into languages. Case does not matter, so no two keys may differ in
	// case alone.
	LanguageOf map[string]comment.Language
	// Customers says that the ids of authors in the file are the shop's own of its customers. Else authors are imported ones,
	// and in any case those of whom the file tells no id are.
	Customers bool
}

// Field is what a column of a file can hold of a comment.
type Field string

// The fields.
const (
	// ID is the id of the review where the file comes from. With the product's id it makes the id of the comment.
	ID Field = "id"
	// Product is the id of the product.
	Product Field = "product"
	// Rating is 1 to 5 stars.
	Rating Field = "rating"
	// Language is the language of the text, or what Options.LanguageOf turns into it.
	Language Field = "language"
	// Title is the headline.
	Title Field = "title"
	// Text is what was written. In a file with headlines and no texts it is the headline.
	Text Field = "text"
	// Author is the id of the author.
	Author Field = "author"
	// AuthorName is the name of the author.
	AuthorName Field = "authorName"
	// CreatedAt is when it was written.
	CreatedAt Field = "createdAt"
)

// Fields are all fields, in the order in which people think of them.
func Fields() []Field {
	return []Field{ID, Product, Rating, Language, Title, Text, Author, AuthorName, CreatedAt}
}
