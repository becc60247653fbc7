// Package comment defines the types of Talkback: comments, products, queries, statistics and
// errors. It knows neither the table nor the API, and imports nothing but the standard library and
// x/text.
package comment

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// Limits of stored comments. They are wider than those of the API, so that a shop's old reviews fit
// unchanged.
const (
	// MaxTextBytes bounds the text. The table and four indexes each hold a copy of a comment, of at
	// most 400 KB:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
	MaxTextBytes = 256 << 10
	// MaxTitleBytes bounds the title.
	MaxTitleBytes = 4 << 10
	// MaxIDBytes bounds the ids of products and authors, which are the shop's own.
	MaxIDBytes = 128
	// maxNameBytes bounds the name of an author.
	maxNameBytes = 512
	// MaxVersion bounds the version: answers hold an Int of GraphQL, of 32 bits.
	MaxVersion = math.MaxInt32
)

// Node is an object that can be fetched again by its ID: a Product or a Comment.
type Node interface{ IsNode() }

// Product is a product of the shop. Talkback knows only its ID.
type Product struct {
	// ID is the shop's own id; see CheckProductID.
	ID string
}

// IsNode marks a product as a Node.
func (Product) IsNode() {}

// IsEntity marks a product as an entity of Apollo Federation.
func (Product) IsEntity() {}

// authorIDPrefix starts the global ids of authors.
const authorIDPrefix = "author:"

// Author is the author of a comment.
type Author struct {
	// ID is the shop's own id of the customer or, for an Imported author, the id in the file of
	// reviews; 1 to MaxIDBytes bytes.
	ID string
	// Name is the name to show, 1 to maxNameBytes bytes.
	Name string
	// Imported says that the author came with a file of reviews and is not known to be a customer of
	// the shop. An imported author is never the customer with the same ID, and no token authenticates
	// one.
	Imported bool
}

// IsEntity marks an author as an entity of Apollo Federation.
func (Author) IsEntity() {}

// GlobalID returns an ID that is unique among all authors, products and comments, such as
// "author:customer:42" or "author:imported:42".
func (a Author) GlobalID() string {
	if a.Imported {
		return authorIDPrefix + "imported:" + a.ID
	}
	return authorIDPrefix + "customer:" + a.ID
}

// CustomerID returns the shop's own ID of the customer, nil for an imported author.
func (a Author) CustomerID() *string {
	if a.Imported {
		return nil
	}
	return &a.ID
}

// Comment is a review of a product by a customer.
type Comment struct {
	// ID says when the comment was written and where it stands in every list.
	ID        ID
	ProductID string
	// Rating is 1 (worst) to 5 (best) stars.
	Rating   int
	Language Language // of the text, canonical
	// Title is the headline, nil if there is none.
	Title *string
	// Text is plain text, empty if the customer gave stars only.
	Text string
	// Author is who wrote it.
	Author Author
	// UpdatedAt is the time of the last edit, to the millisecond; nil if there was none.
	UpdatedAt *time.Time
	// Version is 1 for a new comment, and increases by one with each edit, to MaxVersion at most.
	Version int
	// Mark identifies the last edit, empty if there was none or it was not read. A change that keeps
	// the version needs it, to take effect only once.
	Mark string
	// Status says whether the comment is shown.
	Status Status
	// Reply is the shop's reply, nil if there is none.
	Reply *Reply
	// ReplyDeletion is the version that the deletion of a reply took, 0 if none was deleted since the
	// last reply. Only writers of replies need it, to tell a first reply from a later one.
	ReplyDeletion int
	// Verified says that the author is known to have bought the product.
	Verified bool
	// Media are pictures and videos, at most MaxMedia.
	Media []Media
	// Votes counts the people who find the comment helpful and those who do not, including imported
	// votes.
	Votes VoteCounts
	// ImportedVotes are the votes that the comment was imported with. Lists do not read them.
	ImportedVotes VoteCounts
	// Moderation holds the fields that only the author and moderators see, nil if there are none.
	// Lists do not read it.
	Moderation *Moderation
}

// IsNode marks a comment as a Node.
func (Comment) IsNode() {}

// IsEntity marks a comment as an entity of Apollo Federation.
func (Comment) IsEntity() {}

// GlobalID returns the ID as text, as the schema has it.
func (c Comment) GlobalID() string { return string(c.ID) }

// Product returns the product that the comment is about.
func (c Comment) Product() Product { return Product{ID: c.ProductID} }

// CreatedAt returns when the comment was written, in UTC to the millisecond. The ID holds this
// time.
func (c Comment) CreatedAt() time.Time { return c.ID.Position().Time() }

// TextBytes returns the size of the texts of a comment in bytes, those of its reply and media
// included. Everything else in it is small.
func (c Comment) TextBytes() int {
	bytes := len(c.Text)
	if c.Title != nil {
		bytes += len(*c.Title)
	}
	if c.Reply != nil {
		bytes += len(c.Reply.Text)
	}
	for _, m := range c.Media {
		bytes += len(m.Path) + len(m.Alt)
	}
	return bytes
}

// Votes are the votes about a comment, as answers show them.
type Votes struct {
	VoteCounts
	// CommentID is the comment.
	CommentID ID
}

// ShownVotes returns the votes about the comment.
func (c Comment) ShownVotes() *Votes { return &Votes{c.Votes, c.ID} }

// AllVotes returns the votes about the comment, at least as many as it was imported with.
func (c Comment) AllVotes() VoteCounts { return c.Votes.AtLeast(c.ImportedVotes) }

// NoComment returns the NotFound error for an unknown id. A comment that the caller may not see
// gets the same error.
func NoComment(id ID) *Error { return Errorf(NotFound, "there is no comment %s, or no longer", id) }

// RejectionReason returns why the comment is rejected, nil if it is not or its Moderation was not
// read.
func (c Comment) RejectionReason() *RejectionReason { return c.moderation().Reason }

// HeldEdit returns the edit that waits for a moderator, nil if none does or Moderation was not
// read.
func (c Comment) HeldEdit() *HeldEdit { return c.moderation().HeldEdit }

// RejectedEdit returns the field of the Moderation, 0 if that was not read.
func (c Comment) RejectedEdit() int { return c.moderation().RejectedEdit }

// moderation returns the fields that lists do not show, zero if there are none.
func (c Comment) moderation() Moderation { return *cmp.Or(c.Moderation, new(Moderation)) }

// rfc3339 is stricter than package time, which also reads an hour of one digit, a comma before a
// fraction, and offsets up to 24:60. A fraction has more digits than that of any clock.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,40})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// ParseTime reads a time as RFC 3339 writes it. It returns a BadInput error for anything else, and
// for leap seconds, which package time does not have.
func ParseTime(text string) (time.Time, error) {
	if rfc3339.MatchString(text) {
		if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Errorf(BadInput, `a DateTime is written as in RFC 3339, with a zone: "2024-05-01T12:00:00Z"`)
}

// IsTime reports whether answers can hold a time: RFC 3339 writes the years 0 to 9999.
func IsTime(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

// CheckProductID returns a BadInput error unless id can be the id of a product: 1 to MaxIDBytes
// bytes of valid UTF-8 without control characters, not starting like the id of a comment or of an
// author.
func CheckProductID(id string) error {
	if err := checkText("product id", id, 1, MaxIDBytes); err != nil {
		return err
	}
	switch {
	case IsID(id):
		return Errorf(BadInput, "a product id cannot start with %q, which starts the ids of comments", IDPrefix)
	case strings.HasPrefix(id, authorIDPrefix):
		return Errorf(BadInput, "a product id cannot start with %q, which starts the ids of authors", authorIDPrefix)
	case strings.ContainsAny(id, "\n\t"):
		return Errorf(BadInput, "a product id cannot hold a newline or a tab")
	}
	return nil
}

// String identifies the comment for a log. It shows nothing of its content.
func (c Comment) String() string {
	return fmt.Sprintf("%s of product %q", c.ID, c.ProductID)
}

// MaxRating is the best rating; the worst is 1.
const MaxRating = 5

// CheckRating returns a BadInput error unless rating is 1 to 5.
func CheckRating(rating int) error {
	if rating < 1 || rating > MaxRating {
		return Errorf(BadInput, "a rating is 1 to %d stars, not %d", MaxRating, rating)
	}
	return nil
}
