package reviewfile

// The lines of Talkback's own export. A line holds all of a comment, and restoring it changes
// nothing: no entity is resolved, no space is trimmed, and the ID, the version and the time of the
// last edit stay. A member of its own marks the line as exported. An ID alone would not do, since
// others may copy IDs from the API.

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
)

// exportMark is the member that marks a line as written by Talkback. Its value, a number, is the
// version of the format. Version 1 has none of the members of extras.
const (
	exportMark    = "talkback"
	exportVersion = 2
)

// exported is an exported line, in the order of its members. All but extras are always present; title
// and updatedAt may be null.
type exported struct {
	Talkback   int     `json:"talkback"`
	ID         string  `json:"id"`
	Product    string  `json:"product"`
	Rating     int     `json:"rating"`
	Language   string  `json:"language"`
	Title      *string `json:"title"`
	Text       string  `json:"text"`
	Author     string  `json:"author"`
	AuthorName string  `json:"authorName"`
	Imported   bool    `json:"authorImported"`
	CreatedAt  string  `json:"createdAt"`
	UpdatedAt  *string `json:"updatedAt"`
	Version    int     `json:"version"`
	extras
	Partial bool `json:"partial,omitempty"`
}

// Append appends the line of a comment, with its line end. A Reader of JSON Lines reads the same
// comment from it.
func Append(line []byte, c comment.Comment) ([]byte, error) { return appendExported(line, c, false) }

// AppendPartial is Append for a file that lacks comments of the table, or what only moderators see. Each
// line says so: see Options.Whole.
func AppendPartial(line []byte, c comment.Comment) ([]byte, error) {
	return appendExported(line, c, true)
}

func appendExported(line []byte, c comment.Comment, partial bool) ([]byte, error) {
	e := exported{
		Talkback:   exportVersion,
		ID:         string(c.ID),
		Product:    c.ProductID,
		Rating:     c.Rating,
		Language:   string(c.Language),
		Title:      c.Title,
		Text:       c.Text,
		Author:     c.Author.ID,
		AuthorName: c.Author.Name,
		Imported:   c.Author.Imported,
		CreatedAt:  c.CreatedAt().Format(timeForm),
		UpdatedAt:  timeText(c.UpdatedAt),
		Version:    c.Version,
		extras:     extrasOf(c),
		Partial:    partial,
	}
	return appendJSON(line, e)
}

// errExported is the reason for an exported line in a file that is not to be restored. Any file can
// hold one, in the name of any customer.
var errExported = errors.New("written by talkback export: --restore takes it as it is, with its authors, dates and versions")

// errPartial is the reason for a line of a file that does not hold all of a table, where all is needed.
var errPartial = errors.New("written by an export without --all, or of one product or author, and --replace deletes what a file lacks: take a file of talkback export --all, or leave out --replace")

// isPartial reports whether a row is of a file that does not hold all of a table.
func isPartial(rec record) bool { return rec.exported["partial"] == true }

// restorer makes comments of rows that Talkback wrote.
type restorer struct {
	dates dateParser
	whole bool // Options.Whole
}

func (r *restorer) comment(rec record) (comment.Comment, error) {
	if rec.exported == nil {
		return comment.Comment{}, errors.New("not written by talkback export: import it without --restore")
	}
	if r.whole && isPartial(rec) {
		return comment.Comment{}, errPartial
	}
	m := members{object: rec.exported}
	if version := m.number(exportMark); m.err == nil && (version < 1 || version > exportVersion) {
		return comment.Comment{}, fmt.Errorf("the line was written in form %d of exports; this program reads forms 1 to %d: use a newer one", version, exportVersion)
	}
	c := comment.Comment{
		ProductID: m.text("product"),
		Rating:    m.number("rating"),
		Title:     m.textOrNil("title"),
		Text:      m.text("text"),
		Author:    comment.Author{ID: m.text("author"), Name: m.text("authorName"), Imported: m.flagOrFalse("authorImported")},
		Version:   m.number("version"),
	}
	id, language, created, updated := m.text("id"), m.text("language"), m.text("createdAt"), m.textOrNil("updatedAt")
	if m.err != nil {
		return c, m.err
	}
	var err error
	if c.ID, err = comment.ParseID(id); err != nil {
		return c, err
	}
	if c.Language, err = comment.StoredLanguage(language); err != nil {
		return c, err
	}
	if err := r.checkCreated(created, c.CreatedAt()); err != nil {
		return c, err
	}
	if c.UpdatedAt, err = r.dates.timeOrNil("updatedAt", updated); err != nil {
		return c, err
	}
	if err := readExtras(&c, rec.exported, &r.dates); err != nil {
		return c, err
	}
	return c, c.Check()
}

// checkCreated refuses a creation time that differs from the one in the ID.
func (r *restorer) checkCreated(text string, want time.Time) error {
	if text == want.Format(timeForm) {
		return nil
	}
	at, err := r.dates.parse(text)
	if err != nil {
		return err
	}
	if !at.Equal(want) {
		return fmt.Errorf("createdAt is %.40q, and the id says %s: one of the two was changed; to give a comment another date, leave out %q and the id",
			text, want.Format(timeForm), exportMark)
	}
	return nil
}

// members reads values of an object and remembers the first error.
type members struct {
	object map[string]any
	err    error
}

func (m *members) text(name string) string {
	value, ok := m.object[name].(string)
	if !ok {
		m.miss(name, "a text")
	}
	return value
}

// textOrNil returns a string, nil if the member is missing or null. Null members were removed
// before.
func (m *members) textOrNil(name string) *string {
	if m.object[name] == nil {
		return nil
	}
	value := m.text(name)
	return &value
}

// flagOrFalse returns a boolean, false if the member is missing, as in exports of releases whose
// authors were all customers.
func (m *members) flagOrFalse(name string) bool {
	value, ok := m.object[name].(bool)
	if m.object[name] != nil && !ok {
		m.miss(name, "true or false")
	}
	return value
}

func (m *members) number(name string) int {
	value, _ := m.object[name].(json.Number)
	n, err := value.Int64()
	if err != nil {
		m.miss(name, "a whole number")
	}
	return int(n)
}

func (m *members) miss(name, kind string) {
	if m.err == nil {
		m.err = fmt.Errorf("the line says that it is an export, and its %s is missing or not %s", name, kind)
	}
}
