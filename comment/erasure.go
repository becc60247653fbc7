package comment

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// ErasureState says how far the erasure of an author came.
type ErasureState int

// The states of an erasure: a closed list.
const (
	// ErasureWaiting is an erasure that no process does yet, or that was interrupted. Any server takes
	// it over.
	ErasureWaiting ErasureState = iota
	// ErasureRunning is an erasure that a process does.
	ErasureRunning
	// ErasureDone is an erasure that has ended.
	ErasureDone
)

// String returns the name of the state in the API, such as "RUNNING".
func (s ErasureState) String() string { return []string{"WAITING", "RUNNING", "DONE"}[s] }

// MarshalGQL writes the state as a value of an enum.
func (s ErasureState) MarshalGQL(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(s.String())) }

// UnmarshalGQL refuses every value: no input has a state.
func (s *ErasureState) UnmarshalGQL(value any) error {
	return fmt.Errorf("%v is not given by clients", value)
}

// Erasure is what became of everything that was held about an author.
type Erasure struct {
	// State says how far it came.
	State ErasureState
	// RequestedAt is when it was asked for, and FinishedAt when it ended, nil before that; to the
	// millisecond.
	RequestedAt time.Time
	FinishedAt  *time.Time
	// Comments were made tombstones. HeldEdits and Replies went with them.
	Comments, HeldEdits, Replies int
	// Decisions are entries of the audit of these comments, and ReportsAbout reports of them.
	Decisions, ReportsAbout int
	// Reports are the author's own reports of comments of others.
	Reports int
	// Votes are the author's own votes about comments of others.
	Votes int
	// Keys are idempotency keys of the comments.
	Keys int
	// ReadUnits and WriteUnits are what it consumed.
	ReadUnits, WriteUnits float64
}
