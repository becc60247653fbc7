package comment

// Viewer is the sender of a request.
type Viewer struct {
	// CustomerID is the shop's own ID of the customer, who may write as that author alone. It is nil
	// for everyone else.
	CustomerID *string
	// IsModerator says that the sender may write as any author because it is a moderator.
	IsModerator bool
	// CannotWriteReason says why the sender may not write anything, nil if it may.
	CannotWriteReason *CannotWriteReason
}

// MayWrite reports whether the sender may write: as the author CustomerID or, if that is nil, as any.
func (v Viewer) MayWrite() bool { return v.CannotWriteReason == nil }

// CheckAuthor returns a Forbidden error if a sender that may write may not do so as the author, nor
// change the author's comments.
func (v Viewer) CheckAuthor(author Author) error {
	switch {
	case v.CustomerID == nil:
		return nil
	case author.Imported:
		return Errorf(Forbidden, "the author came with a file of reviews and is not known to be a customer: only a moderator may change this comment")
	case author.ID != *v.CustomerID:
		return Errorf(Forbidden, "the token is another author's: write and change your own comments only")
	}
	return nil
}

// CannotWriteReason says why the sender of a request may not write, for programs.
type CannotWriteReason string

// The reasons: a closed list.
const (
	// TokenRequired is a request without a token.
	TokenRequired CannotWriteReason = "TOKEN_REQUIRED"
	// TokenRefused is a token that is not valid, or no longer.
	TokenRefused CannotWriteReason = "TOKEN_REFUSED"
	// WritingOff is a server that has no tokens and does not let this request write without one.
	WritingOff CannotWriteReason = "WRITING_OFF"
)
