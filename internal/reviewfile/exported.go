package reviewfile

// The lines of Talkback's own export. A line contains everything of a comment, and restoring it
// changes nothing. No entity is resolved, no space is trimmed, and the ID, the version and the time
// of the last edit stay. A separate member marks the line as exported. An ID alone would not
// suffice, since others may copy IDs from the API.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/talkback/talkback/comment"
)

// exportMark is the member that marks a line as written by Talkback. Its value, a number, is the
// version of the format. Version 1 had none of the members of extras.
const (
	exportMark    = "talkback"
	exportVersion = 2
)

// exported is an exported line, with members in this order. All but extras are always present;
// title and updatedAt may be null.
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

// Append appends the line of a comment, with its line end. A Reader reads the same comment from it.
func Append(line []byte, c comment.Comment) ([]byte, error) { return appendExported(line, c, false) }

// AppendPartial is Append for a file without some of the table's comments, or without what only
// moderators see. It marks each line as such: see Options.Whole.
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

// errExported is the reason for rejecting an exported line without Restore. Any file could contain
// one, in the name of any customer.
var errExported = errors.New("written by talkback export: --restore takes it as it is, with its authors, dates and versions")

// WithoutRestore is the end of the reason for rejecting a row that no export wrote: the cure of an
// import.
const WithoutRestore = ", or import this one without --restore"

// errPartial is the reason for rejecting a line of a partial export when a whole one is needed.
var errPartial = errors.New("written by an export without --all, or of one product or author, and --replace deletes what a file lacks: take a file of talkback export --all, or leave out --replace")

// isPartial reports whether a row is from a partial export.
func isPartial(rec record) bool { return rec.exported["partial"] == true }

// restorer converts exported rows to comments.
type restorer struct {
	dates dateParser
	whole bool // Options.Whole
}

func (r *restorer) comment(rec record) (comment.Comment, error) {
	if rec.exported == nil {
		return comment.Comment{}, errors.New("not written by talkback export: give a file that it wrote" + WithoutRestore)
	}
	if r.whole && isPartial(rec) {
		return comment.Comment{}, errPartial
	}
	e, err := readExported(rec)
	if err != nil {
		return comment.Comment{}, err
	}
	c := comment.Comment{
		ProductID: e.Product, Rating: e.Rating, Title: e.Title, Text: e.Text, Version: e.Version,
		Author: comment.Author{ID: e.Author, Name: e.AuthorName, Imported: e.Imported},
	}
	if c.ID, err = comment.ParseID(e.ID); err != nil {
		return c, err
	}
	if c.Language, err = comment.StoredLanguage(e.Language); err != nil {
		return c, err
	}
	if err := r.checkCreated(e.CreatedAt, c.CreatedAt()); err != nil {
		return c, err
	}
	if c.UpdatedAt, err = r.dates.timeOrNil("updatedAt", e.UpdatedAt); err != nil {
		return c, err
	}
	if err := e.addTo(&c, &r.dates); err != nil {
		return c, err
	}
	return c, c.Check()
}

// checkCreated returns an error if a creation time differs from that in the ID.
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

// memberKinds are the kinds of the members that are not extras.
var memberKinds = []struct {
	kind     string
	names    []string
	optional bool
}{
	{"a whole number", []string{exportMark, "rating", "version"}, false},
	{"a text", []string{"product", "text", "author", "authorName", "id", "language", "createdAt"}, false},
	{"a text", []string{"title", "updatedAt"}, true},
	{"true or false", []string{"authorImported"}, true}, // releases in which all authors were customers left it out
}

// readExported reads the members of a row. Null members count as missing.
func readExported(rec record) (e exported, err error) {
	version, err := rec.exported[exportMark].(json.Number).Int64()
	if err == nil && (version < 1 || version > exportVersion) {
		return e, fmt.Errorf("the line was written in form %d of exports; this program reads forms 1 to %d: use a newer one", version, exportVersion)
	}
	err = jsonv2.Unmarshal(rec.raw, &e, jsontext.AllowDuplicateNames(true))
	wrong, ok := errors.AsType[*jsonv2.SemanticError](err)
	if err != nil && !ok {
		return e, err
	}
	var path []string // of the member of another kind
	if ok {
		path = slices.DeleteFunc(slices.Collect(wrong.JSONPointer.Tokens()), func(name string) bool { return strings.Trim(name, "0123456789") == "" })
	}
	for _, of := range memberKinds {
		for _, name := range of.names {
			if !of.optional && rec.exported[name] == nil || ok && path[0] == name {
				return e, fmt.Errorf("the line says that it is an export, and its %s is missing or not %s", name, of.kind)
			}
		}
	}
	if ok {
		return e, fmt.Errorf("the line says that it is an export, and its %s is of another kind than in exports", strings.Join(path, "."))
	}
	return e, nil
}

// extras are the members of an exported line that most comments lack. A line omits empty ones; a
// line without a status is an approved comment.
type extras struct {
	Status      string               `json:"status,omitempty"`
	Reason      string               `json:"reason,omitempty"`
	Held        []comment.HoldReason `json:"held,omitempty"`
	HeldSince   *string              `json:"heldSince,omitempty"`
	HeldEdit    *exportedEdit        `json:"heldEdit,omitempty"`
	Rejected    int                  `json:"rejectedEdit,omitempty"`
	ReportCount int                  `json:"reports,omitempty"`
	Reply       *exportedReply       `json:"reply,omitempty"`
	Verified    bool                 `json:"verified,omitempty"`
	Votes       int                  `json:"votes,omitempty"`
	OtherVotes  int                  `json:"notHelpfulVotes,omitempty"`
	Media       []comment.Media      `json:"media,omitempty"`
}

// exportedEdit is an edit that waits for a moderator.
type exportedEdit struct {
	Rating   int             `json:"rating"`
	Language string          `json:"language"`
	Title    *string         `json:"title"`
	Text     string          `json:"text"`
	Media    []comment.Media `json:"media,omitempty"`
	At       *string         `json:"at"`
	Version  int             `json:"version"`
}

// exportedReply is a reply of the shop.
type exportedReply struct {
	Text      string  `json:"text"`
	Name      string  `json:"name"`
	CreatedAt *string `json:"createdAt"`
	UpdatedAt *string `json:"updatedAt"`
	Version   int     `json:"version"`
}

func extrasOf(c comment.Comment) (e extras) {
	if c.Status != comment.Approved {
		e.Status = c.Status.String()
	}
	e.Verified, e.Votes, e.OtherVotes, e.Media = c.Verified, c.Votes.Helpful, c.Votes.NotHelpful, c.Media
	if r := c.Reply; r != nil {
		e.Reply = &exportedReply{Text: r.Text, Name: r.Name, CreatedAt: timeText(&r.CreatedAt), UpdatedAt: timeText(r.UpdatedAt), Version: r.Version}
	}
	m := c.Moderation
	if m == nil {
		return e
	}
	if m.Reason != nil {
		e.Reason = string(*m.Reason)
	}
	e.Held, e.Rejected, e.ReportCount = m.Held, m.RejectedEdit, m.Reports
	if len(m.Held) > 0 {
		e.HeldSince = timeText(&m.Since)
	}
	if h := m.HeldEdit; h != nil {
		e.HeldEdit = &exportedEdit{Rating: h.Rating, Language: string(h.Language), Title: h.Title, Text: h.Text, Media: h.Media, At: timeText(&h.At), Version: h.Version}
	}
	return e
}

// addTo adds the extras to a comment.
func (e extras) addTo(c *comment.Comment, dates *dateParser) (err error) {
	c.Verified, c.Media = e.Verified, e.Media
	c.ImportedVotes = comment.VoteCounts{Helpful: e.Votes, NotHelpful: e.OtherVotes}
	c.Votes = c.ImportedVotes
	if e.Status != "" {
		if c.Status, err = comment.ParseStatus(e.Status); err != nil {
			return err
		}
	}
	if r := e.Reply; r != nil {
		c.Reply = &comment.Reply{Text: r.Text, Name: r.Name, Version: r.Version}
		if c.Reply.CreatedAt, err = dates.needed("reply.createdAt", r.CreatedAt); err != nil {
			return err
		}
		if c.Reply.UpdatedAt, err = dates.timeOrNil("reply.updatedAt", r.UpdatedAt); err != nil {
			return err
		}
	}
	m := comment.Moderation{Held: e.Held, RejectedEdit: e.Rejected, Reports: e.ReportCount}
	if e.Reason != "" {
		m.Reason = new(comment.RejectionReason(e.Reason))
	}
	if len(m.Held) > 0 {
		if m.Since, err = dates.needed("heldSince", e.HeldSince); err != nil {
			return err
		}
	}
	if h := e.HeldEdit; h != nil {
		m.HeldEdit = &comment.HeldEdit{Rating: h.Rating, Title: h.Title, Text: h.Text, Media: h.Media, Version: h.Version}
		if m.HeldEdit.Language, err = comment.StoredLanguage(h.Language); err != nil {
			return fmt.Errorf("heldEdit.language: %w", err)
		}
		if m.HeldEdit.At, err = dates.needed("heldEdit.at", h.At); err != nil {
			return err
		}
	}
	if c.Status != comment.Approved || len(m.Held) > 0 || m.HeldEdit != nil || m.RejectedEdit != 0 || m.Reports != 0 {
		c.Moderation = &m
	}
	*c = c.InQueue()
	return nil
}

// Lines about an author that are not comments. Their member "about" says what they are. They lack
// the mark of exported comments, so an import rejects them. None contains ids of other people.

// AppendDecision appends the line of a decision about a comment, without the moderator.
func AppendDecision(line []byte, d comment.Decision) ([]byte, error) {
	return appendJSON(line, struct {
		About     string                   `json:"about"`
		Comment   string                   `json:"comment"`
		DecidedAt string                   `json:"decidedAt"`
		From      string                   `json:"from"`
		To        string                   `json:"to"`
		Version   int                      `json:"version"`
		Reason    *comment.RejectionReason `json:"reason"`
		Note      *string                  `json:"note"`
	}{"decision", string(d.CommentID), d.At().Format(timeForm), d.From.String(), d.To.String(), d.Version, d.Reason, d.NoteOrNil()})
}

// AppendReport appends the line of a report of a comment.
func AppendReport(line []byte, id comment.ID, r comment.Report) ([]byte, error) {
	return appendJSON(line, struct {
		About      string `json:"about"`
		Comment    string `json:"comment"`
		ReportedAt string `json:"reportedAt"`
		Reason     string `json:"reason"`
		Note       string `json:"note"`
	}{"report", string(id), r.At.UTC().Format(timeForm), string(r.Reason), r.Note})
}

// AppendVote appends the line of a vote about a comment.
func AppendVote(line []byte, id comment.ID, v comment.CastVote) ([]byte, error) {
	return appendJSON(line, struct {
		About   string `json:"about"`
		Comment string `json:"comment"`
		VotedAt string `json:"votedAt"`
		Vote    string `json:"vote"`
	}{"vote", string(id), v.At.UTC().Format(timeForm), string(v.Vote)})
}

// AppendKey appends the line of an idempotency key. Only its hash is stored.
func AppendKey(line []byte, id comment.ID, hash string, expires time.Time) ([]byte, error) {
	return appendJSON(line, struct {
		About   string `json:"about"`
		Comment string `json:"comment"`
		Hash    string `json:"hash"`
		Expires string `json:"expires"`
	}{"key", string(id), hash, expires.UTC().Format(timeForm)})
}

func appendJSON(line []byte, value any) ([]byte, error) {
	out := bytes.NewBuffer(line)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
