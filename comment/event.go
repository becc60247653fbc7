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
	CameIn  EventKind = "ADDED"   // the comment is in the list now
	Changed EventKind = "CHANGED" // it was edited, voted about or replied to
	Gone    EventKind = "GONE"    // it is not in the list any more
)
