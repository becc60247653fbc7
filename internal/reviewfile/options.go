package reviewfile

import (
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// Format is the format of a file.
type Format string

// The formats.
const (
	// TSV is tab-separated values below a header. Quotes have no meaning.
	TSV Format = "tsv"
	// CSV is comma-separated values below a header, quoted as in RFC 4180. If the header has
	// semicolons instead, these separate the values. Excel writes them where numbers have a decimal
	// comma.
	CSV Format = "csv"
	// JSONLines is one JSON object on each line.
	JSONLines Format = "jsonl"
)

// FormatOf returns the format for the extension of a file name, with or without .gz at its end;
// empty if it has no known one.
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

// Options say how to read a file.
type Options struct {
	// Format is the file's format. If it is empty, the beginning of the file decides.
	Format Format
	// From is the system whose export the file is, one of Presets. Only columns that are known to be in
	// such exports are read then. If it is empty, columns go by their usual names.
	From string
	// Columns names the columns of fields. It wins over those of From. An empty name means
	// that the file does not have the field, whatever its columns are called.
	Columns map[Field]string
	// Language, unless empty, is the language of all rows. If LanguageOf is set, or Columns names a
	// column of languages, it applies to rows whose column is empty.
	Language comment.Language
	// Detect, unless nil, returns the language of a text, for rows that have none otherwise. An error
	// ends the reading.
	Detect func(text string) (comment.Language, error)
	// LanguageOf translates values of the language's column to languages. Case does not matter, so
	// no two keys may differ in case alone.
	LanguageOf map[string]comment.Language
	// Customers says that author IDs in the file are those of the shop's own customers. Otherwise
	// authors are imported ones, as are those without an ID in any case.
	Customers bool
	// AuthorKey, unless empty, replaces the author IDs of the file with their HMAC-SHA-256 by this key.
	AuthorKey []byte
	// AuthorsAsTheyAre takes author IDs and names that look like e-mail addresses. Without it and
	// AuthorKey, they end the reading with ErrAddress.
	AuthorsAsTheyAre bool
	// Zone is the time zone of dates that name none; nil stands for UTC.
	Zone *time.Location
	// MediaBase is the prefix of the addresses of pictures and videos. Without it, they are not read.
	MediaBase comment.MediaBase
	// ShopName is the name of replies that have none. If it is empty, that is Shop.
	ShopName string
	// Restore says that Talkback's own export wrote the lines. They are taken as they are, with
	// their authors and versions, so a file that a stranger wrote must not be read like this.
	Restore bool
	// Whole refuses, with Restore, lines of a file that does not hold all of a table.
	Whole bool
}

// oneLanguage reports whether all rows have the same language, whatever a column says.
func (o Options) oneLanguage() bool {
	_, mapped := o.Columns[Language]
	return o.Language != "" && !mapped && len(o.LanguageOf) == 0
}

// Field is a field of a comment that a column of a file can hold.
type Field string

// The fields.
const (
	// ID is the ID of the review in its source. With the product's ID it determines the ID of the
	// comment.
	ID Field = "id"
	// Product is the ID of the product.
	Product Field = "product"
	// Rating is 1 to 5 stars.
	Rating Field = "rating"
	// Language is the language of the text, or a value that Options.LanguageOf translates.
	Language Field = "language"
	// Title is the headline.
	Title Field = "title"
	// Text is the text of the review. In a file with headlines but no texts it is the headline.
	Text Field = "text"
	// Author is the ID of the author.
	Author Field = "author"
	// AuthorName is the name of the author.
	AuthorName Field = "authorName"
	// CreatedAt is when the review was written.
	CreatedAt Field = "createdAt"
	// Status says whether the review is shown, in a word of those in status.go. Without one, it is.
	Status Field = "status"
	// Reply is what the shop answered, ReplyName who did so, and ReplyDate when.
	Reply     Field = "reply"
	ReplyName Field = "replyName"
	ReplyDate Field = "replyDate"
	// Verified says whether the author is known to have bought the product, in a word of those in status.go.
	Verified Field = "verified"
	// Votes is how many people found the review helpful.
	Votes Field = "votes"
	// Media is the addresses of pictures and videos, read if Options.MediaBase is set.
	Media Field = "media"
)

// Fields returns all fields, in the order in which help texts list them.
func Fields() []Field {
	return []Field{ID, Product, Rating, Language, Title, Text, Author, AuthorName, CreatedAt, Status, Reply, ReplyName, ReplyDate, Verified, Votes, Media}
}
