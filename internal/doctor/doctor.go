// Package doctor checks whether Talkback can work in its environment: whether the role has the
// permissions, whether the table is suitable, and whether clocks agree. It changes no item and no
// setting.
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
	// Words explains in plain words why a call failed. Required.
	Words func(error) string
}

// Result is the severity of a finding.
type Result string

// The results, from good to bad.
const (
	// OK means that nothing is wrong.
	OK Result = "ok"
	// Unknown means that the check could not decide.
	Unknown Result = "unknown"
	// Warning does not stop the service, but needs attention.
	Warning Result = "warning"
	// Problem stops the service, or makes answers wrong.
	Problem Result = "problem"
)

// Finding is the outcome of a check.
type Finding struct {
	// Check names the check, such as "permission Query".
	Check string `json:"check"`
	// Result is the severity.
	Result Result `json:"result"`
	// Found describes the outcome.
	Found string `json:"found"`
	// Cure is what to do, empty for nothing.
	Cure string `json:"cure,omitempty"`
}

// New returns a finding. Its words are formatted as by [fmt.Sprintf].
func New(check string, result Result, format string, values ...any) Finding {
	return Finding{Check: check, Result: result, Found: fmt.Sprintf(format, values...)}
}

// Cured returns the finding with a cure.
func (f Finding) Cured(format string, values ...any) Finding {
	f.Cure = fmt.Sprintf(format, values...)
	return f
}

// Count returns the number of findings with a result.
func Count(all []Finding, result Result) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return f.Result != result }))
}
