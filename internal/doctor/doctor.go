// Package doctor finds out whether Talkback can work where it is to run: whether the role may do
// what a process does, whether the table is the one it needs, and whether clocks agree. It changes
// no item and no setting.
package doctor

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/stream"
)

// Examiner checks a table.
type Examiner struct {
	// Client calls the engine. Required.
	Client *dynamodb.Client
	// Source reads the table's stream. Required by Stream.
	Source stream.Source
	// Table is the name of the table. Required.
	Table string
	// Words says in plain words why a call failed. Required.
	Words func(error) string
}

// Result is how bad a finding is.
type Result string

// The results, from good to bad.
const (
	// OK is as it should be.
	OK Result = "ok"
	// Unknown could not be found out.
	Unknown Result = "unknown"
	// Warning does not stop the service, but somebody should look at it.
	Warning Result = "warning"
	// Problem stops the service, or makes an answer wrong.
	Problem Result = "problem"
)

// Finding is what a check found.
type Finding struct {
	// Check is what was checked, such as "permission Query".
	Check string `json:"check"`
	// Result is how bad it is.
	Result Result `json:"result"`
	// Found is what was found, in words.
	Found string `json:"found"`
	// Cure is what to do, empty if there is nothing to do.
	Cure string `json:"cure,omitempty"`
}

// New returns a finding. Its words are formatted as by [fmt.Sprintf].
func New(check string, result Result, format string, values ...any) Finding {
	return Finding{Check: check, Result: result, Found: fmt.Sprintf(format, values...)}
}

// Cured returns the finding with what to do.
func (f Finding) Cured(format string, values ...any) Finding {
	f.Cure = fmt.Sprintf(format, values...)
	return f
}

// Count returns how many findings have a result.
func Count(all []Finding, result Result) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Result != result }))
}
