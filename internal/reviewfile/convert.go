package reviewfile

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// converter converts records to comments.
type converter struct {
	options        Options
	languageOf     map[string]comment.Language // with keys in lower case
	headlineIsText bool                        // the file has headlines and no texts
	layout         layout                      // of the last record
	dates, gmt     dateParser
}

// comment converts a record to a comment. Errors are for users, and contain nothing of the text.
func (r *converter) comment(rec record) (comment.Comment, error) {
	if rec.exported != nil {
		return comment.Comment{}, errExported
	}
	if !slices.Equal(r.layout.columns, rec.columns) {
		r.layout = layoutOf(rec.columns, r.options, r.headlineIsText)
	}
	row := values{record: rec, layout: r.layout}
	c := comment.Comment{
		ProductID: row.get(Product),
		Text:      cleanText(row.prose(Text)),
		Version:   1,
	}
	if title := cleanLine(row.prose(Title)); title != "" {
		c.Title = &title
	}
	author, name := strings.Map(dropControl, row.get(Author)), cleanLine(row.prose(AuthorName))
	date := row.get(CreatedAt)
	rating, language := row.get(Rating), row.get(Language)
	status, verified, votes := row.get(Status), row.get(Verified), row.get(Votes)
	if row.err != nil {
		return c, row.err
	}
	for _, id := range []string{c.ProductID, row.get(ID), author} {
		if rounded.MatchString(id) { // so different products or people may have it
			return c, fmt.Errorf("a spreadsheet has rounded the id %.20q: import the file as it was exported", id)
		}
	}
	dates := &r.dates
	if r.layout.gmt {
		dates = &r.gmt
	}
	created, err := dates.parse(date)
	if err != nil {
		return c, err
	}
	if c.Rating, err = parseRating(rating); err != nil {
		return c, err
	}
	if c.Language, err = r.language(language, c); err != nil {
		return c, err
	}
	distinct := row.distinct(r.options.From)
	c.ID = comment.IDOf(comment.PositionAt(created, distinct))
	if c.Author, err = authorOf(r.options, author, name, distinct); err != nil {
		return c, err
	}
	if status == "" && r.options.needsStatus() {
		return c, errors.New("the status is missing: --map status= publishes all rows")
	}
	if err := setStatus(&c, status); err != nil {
		return c, err
	}
	if c.Reply, err = r.reply(&row, c.CreatedAt()); err != nil {
		return c, err
	}
	if err := setTraits(&c, verified, votes); err != nil {
		return c, err
	}
	if c.Media, err = mediaIn(row.raw(Media), r.options.MediaBase); err != nil {
		return c, err
	}
	return c, c.Check()
}

// rounded matches a number of at least 12 digits as spreadsheets show and save it.
var rounded = regexp.MustCompile(`^\d(?:[.,]\d+)?E\+\d\d$`)

// values reads a record's fields and keeps the first error.
type values struct {
	record
	layout layout
	err    error
}

func (v *values) get(field Field) string {
	if i, found := v.layout.index[field]; found && v.nested != nil && v.nested[i] {
		if v.values[i] == "[]" {
			return ""
		}
		if v.err == nil {
			v.err = fmt.Errorf("the %s is an object or a list; it has to be a text or a number", field)
		}
	}
	return v.raw(field)
}

// raw returns the value of a field, with an object or a list as JSON; empty if the row has none.
func (v *values) raw(field Field) string {
	i, found := v.layout.index[field]
	if !found {
		return ""
	}
	return strings.TrimSpace(v.values[i])
}

// prose returns the value of a field that may contain entities. It joins surrogate pairs.
func (v *values) prose(field Field) string {
	text, ok := joinEntities(v.get(field))
	if !ok && v.err == nil {
		v.err = errors.New(halfOf(string(field), "an entity such as &#55357;"))
	}
	return text
}

// distinct returns the part of an ID that distinguishes comments of the same millisecond. It is the
// same each time a row is read: a hash of the review's ID and the product's. For a preset without
// an ID, it is a hash of what the author wrote, so that a later export with another status or reply
// yields the same comment. Otherwise it is a hash of the whole row.
func (v *values) distinct(preset string) [10]byte {
	hash := sha256.New()
	add := func(text string) { // with its length, so that different lists have different hashes
		_, _ = hash.Write(binary.AppendUvarint(nil, uint64(len(text)))) // a hash takes everything
		_, _ = hash.Write([]byte(text))
	}
	if id := v.get(ID); id != "" {
		add("id")
		add(v.get(Product))
		add(id)
	} else if preset != "" {
		add("review")
		for _, field := range []Field{Product, Rating, Title, Text, Author, AuthorName, CreatedAt} {
			add(v.get(field))
		}
	} else {
		add("row")
		for i, column := range v.columns {
			add(column)
			add(v.values[i])
		}
	}
	return [10]byte(hash.Sum(nil))
}

// reply returns the reply of the shop, nil for none. Without a date, it gets that of the review.
func (r *converter) reply(row *values, written time.Time) (*comment.Reply, error) {
	reply := &comment.Reply{Text: cleanText(row.prose(Reply)), Name: cleanLine(row.prose(ReplyName)), CreatedAt: written, Version: 1}
	date := row.get(ReplyDate)
	if row.err != nil || reply.Text == "" {
		return nil, row.err
	}
	reply.Name = cmp.Or(reply.Name, r.options.ShopName, "Shop")
	if date == "" {
		return reply, nil
	}
	at, err := r.dates.parse(date)
	if err != nil {
		return nil, fmt.Errorf("of the reply, %w", err)
	}
	reply.CreatedAt = at.Truncate(time.Millisecond)
	return reply, nil
}

// parseRating parses a whole number of stars. A fraction of zero is allowed, as in 4.0 or 4,0.
func parseRating(text string) (int, error) {
	if text == "" {
		return 0, errors.New("the rating is missing")
	}
	whole, fraction, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	if len(whole) != 1 || whole[0] < '1' || whole[0] > '0'+comment.MaxRating || strings.Trim(fraction, "0") != "" {
		return 0, fmt.Errorf("the rating %.20q is not a whole number of stars from 1 to %d", text, comment.MaxRating)
	}
	return int(whole[0] - '0'), nil
}

// language returns the language of a row: that of its column, else the default, or a detected one.
func (r *converter) language(value string, c comment.Comment) (comment.Language, error) {
	whole := r.options.Language
	if whole != "" && value == "" || r.options.oneLanguage() {
		return whole, nil
	}
	if value == "" && r.options.Detect != nil {
		text := c.Text
		if c.Title != nil {
			text = *c.Title + "\n" + text
		}
		detected, err := r.options.Detect(text)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errDetector, err)
		}
		return detected, nil
	}
	if value == "" {
		return "", errors.New("the language is missing")
	}
	language, found := r.languageOf[strings.ToLower(value)]
	if !found && r.layout.byMarket {
		language, found = marketLanguages[strings.ToUpper(value)]
	}
	if found {
		return language, nil
	}
	language, err := comment.ParseLanguage(value)
	if r.layout.byMarket {
		err = fmt.Errorf("the marketplace %.20q has no known language: give one by --language-of MARKETPLACE=TAG", value)
	}
	if err != nil && whole != "" {
		return whole, nil
	}
	return language, err
}

// ErrAddress stops reading a file that would publish an e-mail address.
var ErrAddress = errors.New("the author is an e-mail address, and ids and names of authors are public: give --hash-authors, " +
	"or --authors-as-they-are if all may see the addresses, or leave them out by --map author=, and --map authorName= for names")

// errDetector stops reading a file because Options.Detect failed.
var errDetector = errors.New("languages cannot be detected")

// EndsReading reports whether an error concerns the whole file, not a row.
func EndsReading(err error) bool { return errors.Is(err, ErrAddress) || errors.Is(err, errDetector) }

// address matches what looks like an e-mail address in a text.
var address = regexp.MustCompile(`[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+`)

// isAddress reports whether a text contains what looks like an e-mail address.
func isAddress(text string) bool { return strings.Contains(text, "@") && address.MatchString(text) }

// The author of a review that names none. The ID ends with the row's distinct bytes, so that
// strangers do not become one person.
const (
	anonymousPrefix = "anonymous-"
	anonymousName   = "Anonymous"
)

// authorOf completes the author of a review. Without an ID, the name is the ID, or its hash if it
// is too long. So different names are different authors.
func authorOf(options Options, id, name string, distinct [10]byte) (comment.Author, error) {
	a := comment.Author{ID: id, Name: name, Imported: id == "" || !options.Customers}
	named := isAddress(name)
	switch key := options.AuthorKey; {
	case len(key) > 0 && id != "":
		a.ID = hashOf(key, id)
	case len(key) > 0 && named:
		a.ID = hashOf(key, name)
	case (named || isAddress(id)) && !options.AuthorsAsTheyAre:
		return a, ErrAddress
	case id != "":
	case name == "" || strings.EqualFold(name, anonymousName):
		a.ID = anonymousPrefix + hex.EncodeToString(distinct[:])
	case len(name) > comment.MaxIDBytes:
		hash := sha256.Sum256([]byte(name))
		a.ID = hex.EncodeToString(hash[:])
	default:
		a.ID = name
	}
	if name == "" || named && !options.AuthorsAsTheyAre {
		a.Name = anonymousName
	}
	return a, nil
}

// hashOf returns a hash that replaces an author's ID. The key keeps others from finding an address
// by hashing known ones. Case does not matter.
func hashOf(key []byte, id string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(strings.ToLower(id))) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil))
}
