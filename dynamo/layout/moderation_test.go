package layout

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// moderated returns a random comment in any state, perhaps with a reply, a held edit and reports.
func moderated(t *rapid.T, r *rand.Rand) comment.Comment {
	c := commenttest.Random(r, rapid.SampledFrom([]string{"42", "a#b#c", "コーヒー"}).Draw(t, "product"))
	c.Status = comment.Status(rapid.IntRange(0, 3).Draw(t, "status"))
	at := c.CreatedAt()
	if rapid.Bool().Draw(t, "reply") {
		c.Reply = &comment.Reply{Text: strings.Repeat("thank you ", rapid.IntRange(1, 50).Draw(t, "length")), Name: "shop", CreatedAt: at, Version: rapid.IntRange(1, 3).Draw(t, "version")}
		if c.Reply.Version > 1 {
			c.Reply.UpdatedAt = &at
		}
	}
	m := comment.Moderation{Reports: rapid.IntRange(0, 3).Draw(t, "reports")}
	if c.Status == comment.Rejected {
		reason := rapid.SampledFrom([]comment.RejectionReason{comment.Spam, comment.OtherReason}).Draw(t, "reason")
		m.Reason = &reason
	}
	if rapid.Bool().Draw(t, "edit") {
		edit := commenttest.Random(r, "42")
		m.HeldEdit = &comment.HeldEdit{Rating: edit.Rating, Language: edit.Language, Title: edit.Title, Text: edit.Text, Media: edit.Media, At: at, Version: c.Version + 1}
	}
	if rapid.Bool().Draw(t, "held") {
		m.Held = rapid.SliceOfNDistinct(rapid.SampledFrom(comment.HoldReasons()), 1, 9, rapid.ID[comment.HoldReason]).Draw(t, "reasons")
		m.Since = at.Add(time.Hour)
	}
	m.RejectedEdit = rapid.IntRange(0, 2).Draw(t, "rejected")
	if c.Status != comment.Approved || !cmp.Equal(m, comment.Moderation{}) {
		c.Moderation = &m
	}
	return c
}

// A comment in any state decodes to the same comment. An update from one comment to another, as
// UpdateItem applies it, results in the item of the other, and leaves equal attributes alone.
func TestStatesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		before, after := moderated(t, r), moderated(t, r)
		after.ID = before.ID
		got, err := Decode(Encode(before))
		if diff := cmp.Diff(before, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
		stored := Encode(before)
		stored[attrVotes] = Text("12,3") // changed meanwhile
		update, values := Update(Encode(before), Encode(after))
		set, remove, _ := strings.Cut(update, "REMOVE ")
		for _, part := range strings.Split(strings.TrimPrefix(strings.TrimSpace(set), "SET "), ", ") {
			if attr, value, found := strings.Cut(part, " = "); found {
				stored[attr] = values[value]
			}
		}
		for _, attr := range strings.Split(remove, ", ") {
			delete(stored, attr)
		}
		want := maps.Clone(Encode(after))
		want[attrVotes] = Text("12,3")
		if !reflect.DeepEqual(want, stored) {
			t.Fatalf("after %q: %v, want %v", update, stored, want)
		}
	})
}

// A comment without a state and without keys of lists may never have been approved. It is improper,
// however it is read.
func TestACommentWithoutAState(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	c.Status = comment.Withdrawn
	it := Encode(c)
	delete(it, AttrState)
	if got, err := Decode(it); err == nil || !strings.Contains(err.Error(), `set its attribute "z" to "P", and rebuild`) {
		t.Errorf("it reads as %s, %v", got.Status, err)
	}
}
