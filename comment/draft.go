package comment

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the API, in characters (Unicode code points). Stored comments may be longer: see
// MaxTextBytes.
const (
	maxDraftText  = 10_000
	maxDraftTitle = 200
	maxDraftName  = 100
	// MaxKeyBytes bounds an idempotency key, in bytes.
	MaxKeyBytes = 128
)

// Draft is a comment to be written, not yet checked.
type Draft struct {
	ProductID string
	Rating    int
	// Language is a BCP 47 tag in any form.
	Language string
	// Title is the headline, nil or empty for none.
	Title *string
	// Text is the text, empty if the author gives stars only.
	Text   string
	Author Author
	// Media are pictures and videos below MediaBase.
	Media     []MediaDraft
	MediaBase MediaBase
	// Verified says whether the author is known to have bought the product, nil if the input does not
	// say.
	Verified *bool
}

// Change holds the fields that an edit changes. A nil field stays as it is.
type Change struct {
	Rating *int
	// Language is a BCP 47 tag in any form.
	Language *string
	// Title is the headline, empty to have none.
	Title *string
	Text  *string
	// Media are pictures and videos below MediaBase, none if the list is empty.
	Media     *[]MediaDraft
	MediaBase MediaBase
	// Verified says whether the author is known to have bought the product.
	Verified *bool
}

// ProblemCode says what is wrong with an input, for programs.
type ProblemCode string

// The codes of problems: a closed list.
const (
	ProblemEmpty          ProblemCode = "EMPTY"           // a field that must not be empty
	ProblemTooLong        ProblemCode = "TOO_LONG"        // a field that is too long
	ProblemOutOfRange     ProblemCode = "OUT_OF_RANGE"    // a number that is too small or too large
	ProblemMalformed      ProblemCode = "MALFORMED"       // a text with characters that cannot be stored, or that is no language tag or ID
	ProblemNotFound       ProblemCode = "NOT_FOUND"       // a comment that does not exist, or was deleted
	ProblemConflict       ProblemCode = "CONFLICT"        // an expected version that another change has already replaced
	ProblemKeyReused      ProblemCode = "KEY_REUSED"      // an idempotency key that was used for something else
	ProblemAlreadyWritten ProblemCode = "ALREADY_WRITTEN" // a second comment of a customer about a product, where each has one
	ProblemOwnComment     ProblemCode = "OWN_COMMENT"     // a vote of an author about a comment of theirs
)

// Problem is one fault of an input.
type Problem struct {
	// Code says what, for programs.
	Code ProblemCode
	// Message says what is wrong, for people, and what to do.
	Message string
	// Path leads to the field of the input, from its root.
	Path []string
	// CommentID is the comment that the customer already has. Only ProblemAlreadyWritten sets it.
	CommentID *ID
}

// Comment returns the draft's comment at a position, or all problems of the draft.
func (d Draft) Comment(at Position) (Comment, []Problem) {
	var p problems
	c := Comment{
		ID:        IDOf(at),
		ProductID: p.productID(d.ProductID),
		Rating:    p.rating(d.Rating),
		Language:  p.language(d.Language),
		Title:     p.title(d.Title),
		Text:      p.text(d.Text),
		Author:    p.author(d.Author),
		Media:     p.media(d.Media, d.MediaBase),
		Verified:  d.Verified != nil && *d.Verified,
		Version:   1,
	}
	return c, p
}

// Apply returns the comment after the change, or all problems of the changed fields. A field that
// keeps its value is not checked: an imported comment may exceed the limits of the API, and a form
// sends all fields back. The caller sets the version and the time of the edit.
func (c Change) Apply(to Comment) (Comment, []Problem) {
	var p problems
	if c.Rating != nil {
		to.Rating = p.rating(*c.Rating)
	}
	if c.Language != nil && *c.Language != string(to.Language) {
		to.Language = p.language(*c.Language)
	}
	if c.Title != nil && *c.Title != titleOf(to) {
		to.Title = p.title(c.Title)
	}
	if c.Text != nil && *c.Text != to.Text {
		to.Text = p.text(*c.Text)
	}
	if c.Media != nil {
		to.Media = p.media(*c.Media, c.MediaBase)
	}
	if c.Verified != nil {
		to.Verified = *c.Verified
	}
	if to.Version >= MaxVersion {
		p.add(ProblemOutOfRange, []string{"version"}, "the comment has the highest version, and cannot be edited again: delete it, or leave it as it is")
	}
	return to, p
}

// titleOf returns the headline, empty if there is none.
func titleOf(c Comment) string { return *cmp.Or(c.Title, new(string)) }

// SaysAs reports whether two comments are equal in everything that an author can change.
func (c Comment) SaysAs(other Comment) bool {
	return c.Rating == other.Rating && c.Language == other.Language && titleOf(c) == titleOf(other) && c.Text == other.Text &&
		slices.Equal(c.Media, other.Media)
}

// Same reports whether two comments are equal, as far as an edit or a decision can change them.
func (c Comment) Same(other Comment) bool {
	return c.SaysAs(other) && c.Version == other.Version && c.Status == other.Status && reflect.DeepEqual(c.Moderation, other.Moderation)
}

// problems collects the problems of an input, field by field.
type problems []Problem

func (p *problems) add(code ProblemCode, path []string, format string, args ...any) {
	*p = append(*p, Problem{Code: code, Message: fmt.Sprintf(format, args...), Path: path})
}

func (p *problems) productID(id string) string {
	if err := CheckProductID(id); err != nil {
		p.add(codeOfID(id), []string{"productId"}, "%s", err.Error())
	}
	return id
}

// codeOfID returns what is wrong with an id that is not valid.
func codeOfID(id string) ProblemCode {
	switch {
	case id == "":
		return ProblemEmpty
	case len(id) > MaxIDBytes:
		return ProblemTooLong
	}
	return ProblemMalformed
}

func (p *problems) rating(rating int) int {
	if err := CheckRating(rating); err != nil {
		p.add(ProblemOutOfRange, []string{"rating"}, "%s", err.Error())
	}
	return rating
}

func (p *problems) language(tag string) Language {
	language, err := ParseLanguage(tag)
	if err != nil {
		p.add(ProblemMalformed, []string{"language"}, "%s", err.Error())
	}
	return language
}

func (p *problems) title(title *string) *string {
	if title == nil || IsBlank(*title) {
		return nil
	}
	p.plain([]string{"title"}, *title, maxDraftTitle)
	return title
}

func (p *problems) text(text string) string {
	if IsBlank(text) {
		return "" // as of a customer who gives stars only
	}
	p.plain([]string{"text"}, text, maxDraftText)
	return text
}

// media checks drafts, and returns the media below a prefix. Each has one problem at most.
func (p *problems) media(drafts []MediaDraft, base MediaBase) []Media {
	if len(drafts) > MaxMedia {
		p.add(ProblemTooLong, []string{"media"}, "there are %d pictures and videos; a comment has at most %d", len(drafts), MaxMedia)
		return nil
	}
	var all []Media
	for i, draft := range drafts {
		m, field, err := draft.media(base)
		if err != nil {
			code := ProblemMalformed
			switch {
			case field == "width":
				code = ProblemOutOfRange
			case len(m.Path) > maxMediaPath, utf8.RuneCountInString(m.Alt) > maxMediaAlt:
				code = ProblemTooLong
			}
			p.add(code, []string{"media", strconv.Itoa(i), field}, "%s", err.Error())
		}
		all = append(all, m)
	}
	return all
}

func (p *problems) author(a Author) Author {
	p.customerID(a.ID)
	name := []string{"author", "name"}
	if IsBlank(a.Name) {
		p.add(ProblemEmpty, name, "an author needs a name to show")
	}
	p.plain(name, a.Name, maxDraftName)
	return a
}

// IsCustomerID reports whether id is valid for the author of a draft.
func IsCustomerID(id string) bool {
	var p problems
	p.customerID(id)
	return len(p) == 0
}

func (p *problems) customerID(id string) {
	path := []string{"author", "id"}
	switch {
	case id == "":
		p.add(ProblemEmpty, path, "an author needs an id: the shop's own of the customer")
	case len(id) > MaxIDBytes:
		p.add(ProblemTooLong, path, "an author's id has %d bytes; at most %d are kept", len(id), MaxIDBytes)
	default:
		p.plain(path, id, MaxIDBytes)
	}
}

// plain checks text: valid UTF-8, not too long, no control characters but newline and tab.
func (p *problems) plain(path []string, text string, most int) {
	what := path[len(path)-1]
	if !utf8.ValidString(text) {
		p.add(ProblemMalformed, path, "the %s is not valid UTF-8", what)
		return
	}
	if length := utf8.RuneCountInString(text); length > most {
		p.add(ProblemTooLong, path, "the %s has %d characters; at most %d are taken", what, length, most)
	}
	if at := strings.IndexFunc(text, isControl); at >= 0 {
		p.add(ProblemMalformed, path, "the %s holds the control character %U; only newline and tab are taken", what, []rune(text[at:])[0])
	}
}

// ReplyDraft is a reply to be written in the shop's name.
type ReplyDraft struct {
	CommentID string
	// Version is the version of the reply that is edited, 0 for a first reply.
	Version int
	Text    string
	// Name is the name to show. If it is nil, the reply keeps its name; a first reply gets the shop's.
	Name *string
}

// Problems returns all problems of a reply that is to be written, at once.
func (r Reply) Problems() []Problem {
	var p problems
	text, name := []string{"text"}, []string{"name"}
	if IsBlank(r.Text) {
		p.add(ProblemEmpty, text, "a reply needs a text; deleteReply removes one")
	}
	p.plain(text, r.Text, MaxReply)
	if IsBlank(r.Name) {
		p.add(ProblemEmpty, name, "a reply needs a name to show: give one, or start the server with --shop-name")
	}
	p.plain(name, r.Name, maxDraftName)
	return p
}
