package reviewfile

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/talkback/talkback/comment"
)

// Lines about an author that are no comments. Their member "about" says what they are; they lack the
// mark of exported comments, so an import rejects them. Ids of other people are in none of them.

// aboutDecision is a line of a decision about a comment of the author.
type aboutDecision struct {
	About     string                   `json:"about"`
	Comment   string                   `json:"comment"`
	DecidedAt string                   `json:"decidedAt"`
	From      string                   `json:"from"`
	To        string                   `json:"to"`
	Version   int                      `json:"version"`
	Reason    *comment.RejectionReason `json:"reason"`
	Note      *string                  `json:"note"`
}

// aboutReport is a line of a report by the author.
type aboutReport struct {
	About      string `json:"about"`
	Comment    string `json:"comment"`
	ReportedAt string `json:"reportedAt"`
	Reason     string `json:"reason"`
	Note       string `json:"note"`
}

// aboutVote is a line of a vote by the author.
type aboutVote struct {
	About   string `json:"about"`
	Comment string `json:"comment"`
	VotedAt string `json:"votedAt"`
	Vote    string `json:"vote"`
}

// aboutKey is a line of the idempotency key of a comment.
type aboutKey struct {
	About   string `json:"about"`
	Comment string `json:"comment"`
	Hash    string `json:"hash"`
	Expires string `json:"expires"`
}

// AppendDecision appends the line of a decision about a comment, without who decided.
func AppendDecision(line []byte, d comment.Decision) ([]byte, error) {
	return appendJSON(line, aboutDecision{
		About: "decision", Comment: string(d.CommentID), DecidedAt: d.At().Format(timeForm),
		From: d.From.String(), To: d.To.String(), Version: d.Version, Reason: d.Reason, Note: d.NoteOrNil(),
	})
}

// AppendReport appends the line of a report of a comment.
func AppendReport(line []byte, id comment.ID, r comment.Report) ([]byte, error) {
	return appendJSON(line, aboutReport{
		About: "report", Comment: string(id), ReportedAt: r.At.UTC().Format(timeForm), Reason: string(r.Reason), Note: r.Note,
	})
}

// AppendVote appends the line of a vote about a comment.
func AppendVote(line []byte, id comment.ID, v comment.CastVote) ([]byte, error) {
	return appendJSON(line, aboutVote{About: "vote", Comment: string(id), VotedAt: v.At.UTC().Format(timeForm), Vote: string(v.Vote)})
}

// AppendKey appends the line of an idempotency key, of which only a hash is kept.
func AppendKey(line []byte, id comment.ID, hash string, expires time.Time) ([]byte, error) {
	return appendJSON(line, aboutKey{About: "key", Comment: string(id), Hash: hash, Expires: expires.UTC().Format(timeForm)})
}

// appendJSON appends a value as one line.
func appendJSON(line []byte, value any) ([]byte, error) {
	out := bytes.NewBuffer(line)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
