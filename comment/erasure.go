package comment

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// ErasureState says how far the erasure of an author has come.
type ErasureState int

// The states of an erasure: a closed list.
const (
	// ErasureWaiting is an erasure that has not started, or was interrupted. Any server picks it up.
	ErasureWaiting ErasureState = iota
	// ErasureRunning is an erasure in progress.
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

// Erasure is the progress of the erasure of an author, with the number of items of each kind that
// it erased.
type Erasure struct {
	State ErasureState
	// RequestedAt is when it was asked for, and FinishedAt when it ended, nil before that; to the
	// millisecond.
	RequestedAt time.Time
	FinishedAt  *time.Time
	// Comments became tombstones. HeldEdits and Replies were erased with them.
	Comments, HeldEdits, Replies int
	// Decisions are entries of the audit of these comments, and ReportsAbout reports of them.
	Decisions, ReportsAbout int
	// Reports are the author's own reports of comments of others.
	Reports int
	// Votes are the author's own votes about comments of others.
	Votes int
	// Keys are idempotency keys of the comments.
	Keys int
	// ReadUnits and WriteUnits are the capacity units that it consumed.
	ReadUnits, WriteUnits float64
}
