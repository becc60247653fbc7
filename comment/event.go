package comment

// Event is a change of a comment that is or was shown.
type Event struct {
	Kind      EventKind
	CommentID ID
	// Comment is the comment as everyone sees it, nil if it is Gone.
	Comment *Comment
}

// EventKind is what happened to a comment, for clients that follow a list.
type EventKind string

// The kinds: a closed list.
const (
	// CameIn is a comment that is in the list now.
	CameIn EventKind = "ADDED"
	// Changed is a comment that was edited, voted about or replied to.
	Changed EventKind = "CHANGED"
	// Gone is a comment that is not in the list any more.
	Gone EventKind = "GONE"
)
