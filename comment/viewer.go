package comment

import "time"

// Viewer is the sender of a request. The zero Viewer may write as no author.
type Viewer struct {
	// CustomerID is the shop's own ID of the customer, or of the employee with a role, whose signed
	// token was sent. It is nil for everyone else, also with the moderators' token.
	CustomerID *string
	// Roles say what the sender may do beside writing as the author CustomerID.
	Roles Roles
	// Open says that the server has no tokens and trusts the sender's machine: the sender may do
	// everything, though it has no role.
	Open bool
	// VisitorID is the ID of a visitor without an account, whose token was sent. It is no
	// customer's, and empty for everyone else.
	VisitorID string
	// VisitorsVote says that the server gives visitors tokens to vote with, and that the sender sent
	// no other token.
	VisitorsVote bool
	// CannotWriteReason says why the sender may not write anything, nil if it may.
	CannotWriteReason *CannotWriteReason
}

// Roles is a set of roles.
type Roles uint8

// The roles. None includes another.
const (
	// Moderator edits and deletes any comment, and decides which are shown.
	Moderator Roles = 1 << iota
	// Merchant replies to comments in the shop's name.
	Merchant
	// Shop writes as any customer. It is for the shop's own servers.
	Shop
)

// IsModerator reports whether the sender has the role moderator.
func (v Viewer) IsModerator() bool { return v.Roles&Moderator != 0 }

// MayWrite reports whether the sender may write: as the author CustomerID, or as any customer.
func (v Viewer) MayWrite() bool { return v.CannotWriteReason == nil }

// MayWriteAsAnyCustomer reports whether the sender may write and change comments as any customer.
func (v Viewer) MayWriteAsAnyCustomer() bool { return v.may(Shop) }

// MayModerate reports whether the sender may change any comment, and decide which are shown.
func (v Viewer) MayModerate() bool { return v.may(Moderator) }

// MayReply reports whether the sender may reply to comments in the shop's name.
func (v Viewer) MayReply() bool { return v.may(Merchant) }

// VoterID returns the ID that the sender votes as, empty if it may not vote.
func (v Viewer) VoterID() string {
	if v.CustomerID != nil {
		return *v.CustomerID
	}
	return v.VisitorID
}

// CannotVoteReason returns why the sender may not vote, nil if it may.
func (v Viewer) CannotVoteReason() *CannotVoteReason {
	reason := CustomerTokenRequired
	switch {
	case v.VoterID() != "":
		return nil
	case v.VisitorsVote:
		reason = VisitorTokenRequired
	}
	return &reason
}

func (v Viewer) may(role Roles) bool { return v.Open || v.Roles&role != 0 }

// CheckAuthor returns a Forbidden error if a sender that may write may not add comments as the
// author. No sender is an imported author.
func (v Viewer) CheckAuthor(author Author) error {
	if !author.Imported && (v.MayWriteAsAnyCustomer() || v.CustomerID != nil && *v.CustomerID == author.ID) {
		return nil
	}
	return Errorf(Forbidden, "the token is another author's: write and change your own comments only")
}

// CheckVerify returns a Forbidden error if a sender that may write may not say whether the purchase
// of a product is verified.
func (v Viewer) CheckVerify() error {
	if v.MayWriteAsAnyCustomer() || v.MayModerate() {
		return nil
	}
	return Errorf(Forbidden, "only the shop, by the role shop, and moderators say whether a purchase is verified: leave isVerifiedPurchase out")
}

// CheckChange returns a Forbidden error if a sender that may write may not edit and delete the
// author's comments.
func (v Viewer) CheckChange(author Author) error {
	switch {
	case v.MayModerate():
		return nil
	case author.Imported:
		return Errorf(Forbidden, "the author came with a file of reviews and is not known to be a customer: only a moderator may change this comment")
	}
	return v.CheckAuthor(author)
}

// Sees reports whether the sender may see a comment: everyone sees approved ones, and those who may
// change a comment see it in every state.
func (v Viewer) Sees(c Comment) bool { return c.Status == Approved || v.SeesModeration(c) }

// SeesModeration reports whether the sender may see why a comment is rejected, and an edit that
// waits.
func (v Viewer) SeesModeration(c Comment) bool { return v.CheckChange(c.Author) == nil }

// CannotWriteReason says why the sender of a request may not write, for programs.
type CannotWriteReason string

// The reasons: a closed list.
const (
	TokenRequired CannotWriteReason = "TOKEN_REQUIRED" // the request has no token
	TokenRefused  CannotWriteReason = "TOKEN_REFUSED"  // its token is not valid, or no longer
	WritingOff    CannotWriteReason = "WRITING_OFF"    // the server has no tokens and does not let this request write without one
)

// CannotVoteReason says why the sender of a request may not vote, for programs.
type CannotVoteReason string

// The reasons: a closed list.
const (
	CustomerTokenRequired CannotVoteReason = "CUSTOMER_TOKEN_REQUIRED" // only customers vote
	VisitorTokenRequired  CannotVoteReason = "VISITOR_TOKEN_REQUIRED"  // the server gives visitors tokens to vote with
)

// VisitorToken is a token of a visitor without an account.
type VisitorToken struct {
	Token     string
	ExpiresAt time.Time
}
