package comment

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Status says whether a comment is shown. Lists, counts, page numbers and leaderboards hold
// approved comments only.
type Status int

// The states of a comment: a closed list. The zero value is Approved, which most comments are.
const (
	Approved  Status = iota // everyone sees the comment
	Pending                 // it waits for a moderator; its author and moderators see it
	Rejected                // a moderator refused it; its author and moderators see it
	Withdrawn               // its author took it back; an edit submits it again
)

// statusNames are the names of the states in the API and in files.
var statusNames = []string{"APPROVED", "PENDING", "REJECTED", "WITHDRAWN"}

// String returns the name of the state in the API and in files, such as "PENDING".
func (s Status) String() string { return statusNames[s] }

// ParseStatus returns the state with a name. It returns a BadInput error for any other name.
func ParseStatus(name string) (Status, error) {
	if i := slices.Index(statusNames, name); i >= 0 {
		return Status(i), nil
	}
	return Approved, Errorf(BadInput, "a state is one of %v, not %.40q", statusNames, name)
}

// MarshalGQL writes the state as a value of an enum.
func (s Status) MarshalGQL(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(s.String())) }

// UnmarshalGQL reads a value of an enum.
func (s *Status) UnmarshalGQL(value any) (err error) {
	*s, err = ParseStatus(fmt.Sprint(value))
	return err
}

// RejectionReason says why a moderator rejected a comment, for its author and for programs.
type RejectionReason string

// The reasons: a closed list.
const (
	Spam         RejectionReason = "SPAM"          // advertising, or text written for search engines
	Offensive    RejectionReason = "OFFENSIVE"     // a text that insults or threatens
	OffTopic     RejectionReason = "OFF_TOPIC"     // a text about something else than the product
	PersonalData RejectionReason = "PERSONAL_DATA" // a text with a name, an address or a number of a person
	NotAReview   RejectionReason = "NOT_A_REVIEW"  // a question, an order or a test
	OtherReason  RejectionReason = "OTHER"         // none of these; the note of the decision says more
)

// RejectionReasons returns all reasons, in the order in which they are listed.
func RejectionReasons() []RejectionReason {
	return []RejectionReason{Spam, Offensive, OffTopic, PersonalData, NotAReview, OtherReason}
}

// HoldReason says why a comment waits for a moderator.
type HoldReason string

// The reasons: a closed list. All but the first three are rules.
const (
	HeldAlways     HoldReason = "POLICY"        // the policy to hold every comment
	HeldEdited     HoldReason = "EDIT"          // an edit of an approved comment
	HeldReported   HoldReason = "REPORTED"      // a comment that enough people reported
	HeldLink       HoldReason = "LINK"          // a text with a link or an address
	HeldRating     HoldReason = "RATING"        // a low rating
	HeldWord       HoldReason = "WORD"          // a text with a word of the shop's list
	HeldLanguage   HoldReason = "LANGUAGE"      // a language that the shop does not list
	HeldUnverified HoldReason = "NOT_VERIFIED"  // an author who is not known to have bought the product
	HeldFirst      HoldReason = "FIRST_COMMENT" // an author without an approved comment
)

// HoldReasons returns all reasons, in the order in which they are stored and shown.
func HoldReasons() []HoldReason {
	return []HoldReason{HeldAlways, HeldEdited, HeldReported, HeldLink, HeldRating, HeldWord, HeldLanguage, HeldUnverified, HeldFirst}
}

// Reply is the shop's reply to a comment.
type Reply struct {
	// Text is plain text, 1 to MaxReply characters.
	Text string
	// Name is the name of the shop or of the person who replied, 1 to maxNameBytes bytes.
	Name string
	// CreatedAt is when it was written, and UpdatedAt when it was last edited, nil if it never was; to
	// the millisecond.
	CreatedAt time.Time
	UpdatedAt *time.Time
	// Version is 1 for a first reply, and increases by one with each edit. A deletion takes a version
	// too, so that a later reply never has the version of an earlier one.
	Version int
}

// MaxReply bounds the text of a Reply, in characters.
const MaxReply = 1000

// HeldEdit is an edit of an approved comment that waits for a moderator beside it.
type HeldEdit struct {
	// Rating, Language, Title, Text and Media become the comment's once the edit is approved.
	Rating   int
	Language Language
	Title    *string
	Text     string
	Media    []Media
	// At is the time of the edit, to the millisecond.
	At time.Time
	// Version is the version that the comment has once the edit is approved. An edit that replaces
	// this one has a higher version.
	Version int
}

// Moderation holds the fields of a comment that only its author and moderators see.
type Moderation struct {
	// Reason is why the comment is rejected, nil if it is not.
	Reason *RejectionReason
	// HeldEdit is an edit that waits, nil if none does.
	HeldEdit *HeldEdit
	// Held says why the comment waits for a moderator, nil if it does not.
	Held []HoldReason
	// Since is when it began to wait, zero if it does not.
	Since time.Time
	// RejectedEdit is the version of the latest edit that was rejected beside the comment, 0 for none.
	// No later edit reuses it, so that a late decision about the rejected edit cannot apply to another
	// text. If the comment was rejected beside an edit, which then took its place, it is the version
	// that the comment had.
	RejectedEdit int
	// Reports is how many people reported the comment since the last decision. Its author does not
	// see it.
	Reports int
}
