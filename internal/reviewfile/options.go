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
	// semicolons instead, these separate the values: Excel writes them where commas are decimal.
	CSV Format = "csv"
	// JSONLines is one JSON object on each line.
	JSONLines Format = "jsonl"
)

// FormatOf returns the format for the extension of a file name, ignoring .gz at its end; empty if
// the extension is unknown.
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
	// From is the system that exported the file, one of Presets. Then only the known columns of
	// such exports are read. If it is empty, columns are recognized by their usual names.
	From string
	// Columns maps fields to names of columns. It takes precedence over From. An empty name means
	// that the file does not have the field, whatever its columns are called.
	Columns map[Field]string
	// Language, unless empty, is the language of all rows. If LanguageOf is set, or Columns names a
	// column of languages, it is the default for rows whose column is empty.
	Language comment.Language
	// Detect, unless nil, returns the language of a row without one. An error stops reading.
	Detect func(text string) (comment.Language, error)
	// LanguageOf translates values of the language column to languages. Keys are compared without
	// case, so no two may differ only in case.
	LanguageOf map[string]comment.Language
	// Customers means that author IDs in the file are those of the shop's own customers. Otherwise
	// authors are imported ones. Authors without an ID always are.
	Customers bool
	// AuthorKey, unless empty, replaces the author IDs of the file by their HMAC-SHA-256.
	AuthorKey []byte
	// AuthorsAsTheyAre accepts author IDs and names that look like e-mail addresses. Without it and
	// AuthorKey, they stop reading with ErrAddress.
	AuthorsAsTheyAre bool
	// Zone is the time zone of dates without one; nil means UTC.
	Zone *time.Location
	// MediaBase is the prefix of the addresses of pictures and videos; empty reads none.
	MediaBase comment.MediaBase
	// ShopName is the name of replies without one; empty means Shop.
	ShopName string
	// Restore means that the file is Talkback's own export. Its lines are taken unchanged, with
	// their authors and versions, so never use it for a stranger's file.
	Restore bool
	// Whole, with Restore, rejects lines of a partial export.
	Whole bool
}

// oneLanguage reports whether all rows have the same language, regardless of columns.
func (o Options) oneLanguage() bool {
	_, mapped := o.Columns[Language]
	return o.Language != "" && !mapped && len(o.LanguageOf) == 0
}

// Field is a field of a comment that a column of a file can hold.
type Field string

// The fields.
const (
	// ID is the ID of the review in its source. With the product's, it determines the comment's.
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
	// CreatedAt is the time when the review was written.
	CreatedAt Field = "createdAt"
	// Status says whether the review is shown, by a word in status.go. Without one, it is shown.
	Status Field = "status"
	// Reply is the shop's answer, ReplyName its author, and ReplyDate its date.
	Reply     Field = "reply"
	ReplyName Field = "replyName"
	ReplyDate Field = "replyDate"
	// Verified says whether the author is known to have bought the product, by a word in status.go.
	Verified Field = "verified"
	// Votes is how many people found the review helpful.
	Votes Field = "votes"
	// Media is the addresses of pictures and videos, which are read if Options.MediaBase is set.
	Media Field = "media"
)

// Fields returns all fields, in the order in which help texts list them.
func Fields() []Field {
	return []Field{ID, Product, Rating, Language, Title, Text, Author, AuthorName, CreatedAt, Status, Reply, ReplyName, ReplyDate, Verified, Votes, Media}
}
