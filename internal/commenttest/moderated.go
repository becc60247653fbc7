package commenttest

import (
	"math/rand/v2"
	"time"

	"github.com/talkback/talkback/comment"
)

// Moderated returns a comment in a random state, with all that it can have in this state. That is a
// reply, a held edit, a rejected edit, reports and reasons to wait.
func Moderated(r *rand.Rand, c comment.Comment) comment.Comment {
	c.Status = skewed(r, comment.Approved, comment.Pending, comment.Rejected, comment.Withdrawn)
	at := c.CreatedAt().Add(time.Duration(r.IntN(1e9)) * time.Millisecond)
	if r.IntN(3) == 0 {
		c.Reply = &comment.Reply{Text: nastyText(r, 1, 9), Name: nastyText(r, 1, 3), CreatedAt: at, Version: 1 + r.IntN(2)}
		if c.Reply.Version > 1 {
			c.Reply.UpdatedAt = &at
		}
	}
	c.ImportedVotes = comment.VoteCounts{Helpful: max(0, r.IntN(9)-4), NotHelpful: max(0, r.IntN(9)-6)}
	c.Votes = c.ImportedVotes
	m := comment.Moderation{RejectedEdit: max(0, r.IntN(8)-4)}
	if c.Status == comment.Rejected {
		m.Reason = new(skewed(r, comment.RejectionReasons()...))
	}
	if c.Status == comment.Approved {
		m.Reports = max(0, r.IntN(8)-4)
		if r.IntN(3) == 0 {
			edit := Nasty(r, c.ProductID)
			m.HeldEdit = &comment.HeldEdit{Rating: edit.Rating, Language: edit.Language, Title: edit.Title, Text: edit.Text, Media: edit.Media, At: at, Version: c.Version + 1 + r.IntN(2)}
		}
	}
	if c.Status == comment.Pending || m.HeldEdit != nil || m.Reports > 0 && r.IntN(2) == 0 {
		m.Held = heldReasons(r, m.Reports > 0)
		m.Since = at
	}
	if m.Reports > 0 || m.RejectedEdit > 0 || c.Status != comment.Approved || m.HeldEdit != nil {
		c.Moderation = &m
	}
	return c
}

// heldReasons returns reasons to wait, at least one. HeldReported is among them if people reported
// the comment.
func heldReasons(r *rand.Rand, reported bool) []comment.HoldReason {
	var out []comment.HoldReason
	for _, reason := range comment.HoldReasons() {
		if r.IntN(4) == 0 || reported && reason == comment.HeldReported {
			out = append(out, reason)
		}
	}
	if len(out) == 0 {
		out = append(out, comment.HeldAlways)
	}
	return out
}
