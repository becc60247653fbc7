package reviewfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/reviewfile"
)

// States and replies are read from the columns and words of other systems.
func TestStatesAndReplies(t *testing.T) {
	written := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	waits := &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: written}
	spam, other := comment.Spam, comment.OtherReason
	for _, row := range []struct {
		why, columns, values string
		status               comment.Status
		moderation           *comment.Moderation
		reply                *comment.Reply
		reason               string
	}{
		{why: "no column"},
		{why: "no word", columns: "status", values: ``},
		{why: "the name of the API", columns: "status", values: `APPROVED`},
		{why: "Judge.me, shown", columns: "curated", values: `ok`},
		{why: "Judge.me, not decided on", columns: "curated", values: `not-yet`, status: comment.Pending, moderation: waits},
		{why: "Shopify's own reviews", columns: "state", values: `unpublished`, status: comment.Pending, moderation: waits},
		{why: "WooCommerce", columns: "comment_approved", values: `0`, status: comment.Pending, moderation: waits},
		{why: "Bazaarvoice", columns: "ModerationStatus", values: `REJECTED`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &other}},
		{why: "Magento", columns: "status", values: `Not Approved`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &other}},
		{why: "spam says why", columns: "Review Status", values: `Spam`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &spam}},
		{why: "taken back", columns: "status", values: `withdrawn`, status: comment.Withdrawn, moderation: &comment.Moderation{}},
		{why: "an unknown word is not guessed", columns: "status", values: `California`, reason: `the status "California" is not known; the words are: approved, published`},
		{why: "the cure is named", columns: "status", values: `California`, reason: `--map status= leaves the column out`},
		{why: "a reply alone", columns: "reply", values: ` Thank you &amp; bye<br>`,
			reply: &comment.Reply{Text: "Thank you & bye", Name: "Red Kettle", CreatedAt: written, Version: 1}},
		{why: "a reply with name and date", columns: "reply,reply_name,replied_at", values: `Thanks,Ann,2024-05-02 10:00:00`,
			reply: &comment.Reply{Text: "Thanks", Name: "Ann", CreatedAt: written.Add(34 * time.Hour), Version: 1}},
		{why: "Trustpilot's columns", columns: "Company Reply,Company Reply Date", values: `Thanks,2024-05-02`,
			reply: &comment.Reply{Text: "Thanks", Name: "Red Kettle", CreatedAt: written.Add(24 * time.Hour), Version: 1}},
		{why: "a name without a reply", columns: "reply,reply_name", values: `,Ann`},
		{why: "a date of a reply that is none", columns: "reply,reply_date", values: `Thanks,soon`, reason: "of the reply, the date"},
		{why: "a reply that is too long", columns: "reply", values: strings.Repeat("x", 1001), reason: "the reply has 1001 characters"},
	} {
		file := "id,product,rating,lang,text,date," + row.columns + "\n1,p,5,en,fine,2024-05-01," + row.values + "\n"
		reader, err := reviewfile.NewReader(strings.NewReader(file), reviewfile.Options{Format: reviewfile.CSV, ShopName: "Red Kettle"})
		if err != nil {
			t.Fatalf("%s: %v", row.why, err)
		}
		got, err := reader.Next()
		var bad *reviewfile.RowError
		if row.reason != "" {
			if !errors.As(err, &bad) || !strings.Contains(bad.Reason, row.reason) {
				t.Errorf("%s: %v, want %s", row.why, err, row.reason)
			}
			continue
		}
		want := got.Comment
		want.Status, want.Moderation, want.Reply = row.status, row.moderation, row.reply
		if diff := cmp.Diff(want, got.Comment); err != nil || diff != "" {
			t.Errorf("%s: %v %s", row.why, err, diff)
		}
	}
}
