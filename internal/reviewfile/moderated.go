package reviewfile

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/talkback/talkback/comment"
)

// extras are the members of an exported line that most comments lack: a line has only those that say
// something. A line without a status is of an approved comment.
type extras struct {
	Status      string               `json:"status,omitempty"`
	Reason      string               `json:"reason,omitempty"`
	Held        []comment.HoldReason `json:"held,omitempty"`
	HeldSince   *string              `json:"heldSince,omitempty"`
	HeldEdit    *exportedEdit        `json:"heldEdit,omitempty"`
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
	if e.Held, e.ReportCount = m.Held, m.Reports; len(m.Held) > 0 {
		e.HeldSince = timeText(&m.Since)
	}
	if h := m.HeldEdit; h != nil {
		e.HeldEdit = &exportedEdit{Rating: h.Rating, Language: string(h.Language), Title: h.Title, Text: h.Text, Media: h.Media, At: timeText(&h.At), Version: h.Version}
	}
	return e
}

// readExtras reads the members of extras into a comment.
func readExtras(c *comment.Comment, object map[string]any, dates *dateParser) (err error) {
	e, err := extrasIn(object)
	if err != nil {
		return err
	}
	c.Verified, c.Media = e.Verified, e.Media
	c.ImportedVotes = comment.VoteCounts{Helpful: e.Votes, NotHelpful: e.OtherVotes}
	c.Votes = c.ImportedVotes
	if e.Status != "" {
		if c.Status, err = comment.ParseStatus(e.Status); err != nil {
			return err
		}
	}
	if e.Reply != nil {
		if c.Reply, err = e.Reply.comment(dates); err != nil {
			return err
		}
	}
	m := comment.Moderation{Held: e.Held, Reports: e.ReportCount}
	if e.Reason != "" {
		reason := comment.RejectionReason(e.Reason)
		m.Reason = &reason
	}
	if len(m.Held) > 0 {
		if m.Since, err = dates.needed("heldSince", e.HeldSince); err != nil {
			return err
		}
	}
	if e.HeldEdit != nil {
		if m.HeldEdit, err = e.HeldEdit.comment(dates); err != nil {
			return err
		}
	}
	if c.Status != comment.Approved || len(m.Held) > 0 || m.HeldEdit != nil || m.Reports != 0 {
		c.Moderation = &m
	}
	*c = c.InQueue()
	return nil
}

// extraNames are the members of extras.
var extraNames = []string{"status", "reason", "held", "heldSince", "heldEdit", "reports", "reply", "verified", "votes", "notHelpfulVotes", "media"}

// extrasIn reads the members of extras, which must be of the right kinds.
func extrasIn(object map[string]any) (e extras, err error) {
	there := map[string]any{}
	for _, name := range extraNames {
		if value := object[name]; value != nil {
			there[name] = value
		}
	}
	if len(there) == 0 {
		return e, nil
	}
	text, err := json.Marshal(there)
	if err != nil {
		return e, err
	}
	err = json.Unmarshal(text, &e)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return e, fmt.Errorf("the line says that it is an export, and its %s is of another kind than in exports", kind.Field)
	}
	return e, err
}

func (e *exportedReply) comment(dates *dateParser) (reply *comment.Reply, err error) {
	reply = &comment.Reply{Text: e.Text, Name: e.Name, Version: e.Version}
	if reply.CreatedAt, err = dates.needed("reply.createdAt", e.CreatedAt); err != nil {
		return nil, err
	}
	reply.UpdatedAt, err = dates.timeOrNil("reply.updatedAt", e.UpdatedAt)
	return reply, err
}

func (e *exportedEdit) comment(dates *dateParser) (edit *comment.HeldEdit, err error) {
	edit = &comment.HeldEdit{Rating: e.Rating, Title: e.Title, Text: e.Text, Media: e.Media, Version: e.Version}
	if edit.Language, err = comment.StoredLanguage(e.Language); err != nil {
		return nil, fmt.Errorf("heldEdit.language: %w", err)
	}
	edit.At, err = dates.needed("heldEdit.at", e.At)
	return edit, err
}
