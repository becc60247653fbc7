package reviewfile_test

import (
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
		{why: "WordPress, of a product in the trash", columns: "comment_approved", values: `post-trashed`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &other}},
		{why: "Bazaarvoice", columns: "ModerationStatus", values: `REJECTED`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &other}},
		{why: "Magento", columns: "status", values: `Not Approved`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &other}},
		{why: "spam says why", columns: "Review Status", values: `Spam`, status: comment.Rejected, moderation: &comment.Moderation{Reason: &spam}},
		{why: "taken back", columns: "status", values: `withdrawn`, status: comment.Withdrawn, moderation: &comment.Moderation{}},
		{why: "an unknown word is not guessed", columns: "status", values: `California`, reason: `the status "California" is not known; the words are: approved, published`},
		{why: "the cure is named", columns: "status", values: `California`, reason: `leave the column out by --map status=`},
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
		got, reason := first(t, file, reviewfile.Options{Format: reviewfile.CSV, ShopName: "Red Kettle"})
		want := got
		want.Status, want.Moderation, want.Reply = row.status, row.moderation, row.reply
		if diff := cmp.Diff(want, got); !asWanted(reason, row.reason) || reason == "" && diff != "" {
			t.Errorf("%s: %q, want %q; %s", row.why, reason, row.reason, diff)
		}
	}
}

// Verified purchases and votes are read from the columns and words of other systems.
func TestTraits(t *testing.T) {
	for _, row := range []struct {
		why, columns, values string
		verified             bool
		votes                int
		reason               string
	}{
		{why: "no column"},
		{why: "no value", columns: "verified\tvotes", values: "\t"},
		{why: "as exported", columns: "verified\tvotes", values: "true\t12", verified: true, votes: 12},
		{why: "Amazon's columns", columns: "helpful_votes\ttotal_votes\tverified_purchase", values: "3\t4\tY", verified: true, votes: 3},
		{why: "not verified", columns: "verified_purchase", values: "N"},
		{why: "Judge.me", columns: "verified", values: "buyer", verified: true},
		{why: "Judge.me, only the address is verified", columns: "verified", values: "email"},
		{why: "a number with a separator", columns: "vote", values: "1,204", votes: 1204},
		{why: "a number of a data frame", columns: "votes", values: "3.0", votes: 3},
		{why: "no votes", columns: "votes", values: "0"},
		{why: "an unknown word is not guessed", columns: "verified", values: "perhaps", reason: `verified is "perhaps", which is neither true, yes`},
		{why: "the cure is named", columns: "verified", values: "perhaps", reason: "leave the column out by --map verified="},
		{why: "votes below 0", columns: "votes", values: "-1", reason: `the number of votes "-1" is not a whole number from 0 to 1000000000; leave the column out by --map votes=`},
		{why: "a decimal comma", columns: "votes", values: "3,0", reason: "not a whole number"},
		{why: "a sign", columns: "votes", values: "+3", reason: "not a whole number"},
		{why: "several separators", columns: "votes", values: "1,234,567.0", votes: 1234567},
		{why: "a share", columns: "votes", values: "0.5", reason: "not a whole number"},
		{why: "more than there are people", columns: "votes", values: "99999999999", reason: "not a whole number"},
		{why: "words", columns: "votes", values: "many", reason: "not a whole number"},
	} {
		file := "id\tproduct\trating\tlang\ttext\tdate\t" + row.columns + "\n1\tp\t5\ten\tfine\t2024-05-01\t" + row.values + "\n"
		got, reason := first(t, file, reviewfile.Options{Format: reviewfile.TSV})
		if !asWanted(reason, row.reason) || got.Verified != row.verified || got.ImportedVotes.Helpful != row.votes {
			t.Errorf("%s: verified %v, %d votes, %q, want %q", row.why, got.Verified, got.ImportedVotes.Helpful, reason, row.reason)
		}
	}
}

// Pictures are read from the columns and lists of other systems, if their prefix is known.
func TestMediaOfFiles(t *testing.T) {
	const a, b = "https://media.example/a.jpg", "https://media.example/b,c.png"
	for _, row := range []struct {
		why, column, value string
		base               comment.MediaBase
		want               string // paths
		reason             string
	}{
		{"one", "media", a, "https://media.example/", "a.jpg", ""},
		{"Judge.me", "picture_urls", a + "," + b, "https://media.example/", "a.jpg b,c.png", ""},
		{"spaces and bars", "images", a + " | " + b + ";", "https://media.example/", "a.jpg b,c.png", ""},
		{"Judge.me, scaled", "picture_urls", a + "?auto=format&w=1024," + b + "?w=160", "https://media.example/", "a.jpg b,c.png", ""},
		{"commas and spaces", "images", a + ", " + b + "?w=160 , " + a, "https://media.example/", "a.jpg b,c.png a.jpg", ""},
		{"a list", "images", `["` + a + `"]`, "https://media.example/", "a.jpg", ""},
		{"nothing", "images", "", "https://media.example/", "", ""},
		{"without a prefix they are not read", "images", "what=ever", "", "", ""},
		{"of another host", "media", "https://evil.example/a.jpg", "https://media.example/", "", "has to begin with https://media.example/"},
		{"the cure is named", "media", "https://evil.example/a.jpg", "https://media.example/", "", "leave the column out by --map media="},
		{"a list of objects", "media", `[{"url": ""}]`, "https://media.example/", "", "not a list of addresses"},
		{"more than a comment has", "media", strings.Repeat(a+" ", 9), "https://media.example/", "", "at most 8; leave the column out by --map media="},
		{"no picture", "media", "https://media.example/a.svg", "https://media.example/", "", "media: the address has to end with the extension"},
	} {
		file := "product\trating\tlang\ttext\tdate\t" + row.column + "\np\t5\ten\tfine\t2024-05-01\t" + row.value + "\n"
		got, reason := first(t, file, reviewfile.Options{Format: reviewfile.TSV, MediaBase: row.base})
		var paths []string
		for _, m := range got.Media {
			paths = append(paths, m.Path)
		}
		if !asWanted(reason, row.reason) || reason == "" && strings.Join(paths, " ") != row.want {
			t.Errorf("%s: %v, %q, want %q", row.why, paths, reason, row.reason)
		}
	}
}
