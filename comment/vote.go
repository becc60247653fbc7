package comment

import "time"

// Vote is what a customer thinks of a comment.
type Vote string

// The votes: a closed list.
const (
	Helpful    Vote = "HELPFUL"
	NotHelpful Vote = "NOT_HELPFUL"
	// NoVote takes a vote back. It is also the vote of a customer who cast none.
	NoVote Vote = "NONE"
)

// CastVote is the vote of a customer about a comment.
type CastVote struct {
	By   string // the customer
	Vote Vote
	// At is when it was cast or last changed, to the millisecond.
	At time.Time
}

// VoteKey identifies the vote of a customer about a comment.
type VoteKey struct {
	Customer string
	Comment  ID
}

// VoteCounts are numbers of votes about a comment.
type VoteCounts struct {
	Helpful, NotHelpful int
}

// Net returns by how much the helpful votes outnumber the others.
func (n VoteCounts) Net() int { return n.Helpful - n.NotHelpful }

// Add adds votes of one kind; a vote of the kind NoVote changes nothing.
func (n *VoteCounts) Add(v Vote, votes int) {
	switch v {
	case Helpful:
		n.Helpful += votes
	case NotHelpful:
		n.NotHelpful += votes
	}
}

// Plus returns the sums of two counts.
func (n VoteCounts) Plus(more VoteCounts) VoteCounts {
	return VoteCounts{n.Helpful + more.Helpful, n.NotHelpful + more.NotHelpful}
}

// AtLeast returns the counts, each raised to that of least if it is lower.
func (n VoteCounts) AtLeast(least VoteCounts) VoteCounts {
	return VoteCounts{max(n.Helpful, least.Helpful), max(n.NotHelpful, least.NotHelpful)}
}

// MaxVotes bounds the votes that a comment is imported with, of each kind.
const MaxVotes = 1_000_000_000

// check returns a BadInput error unless both counts are 0 to MaxVotes.
func (n VoteCounts) check() error {
	return refuse(min(n.Helpful, n.NotHelpful) < 0 || max(n.Helpful, n.NotHelpful) > MaxVotes, "the number of votes is not 0 to %d", MaxVotes)
}
