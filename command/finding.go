package command

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/stream"
)

// examiner checks a table.
type examiner struct {
	// Client calls the engine. Required.
	Client *dynamodb.Client
	// Source reads the table's stream. Required by ofStream.
	Source stream.Source
	// Table is the name of the table. Required.
	Table string
	// Words explains in plain words why a call failed. Required.
	Words func(error) string
}

// checkResult is the severity of a finding.
type checkResult string

// The results, from good to bad.
const (
	// resultOK means that nothing is wrong.
	resultOK checkResult = "ok"
	// resultUnknown means that the check could not decide.
	resultUnknown checkResult = "unknown"
	// resultWarning does not stop the service, but needs attention.
	resultWarning checkResult = "warning"
	// resultProblem stops the service, or makes answers wrong.
	resultProblem checkResult = "problem"
)

// finding is the outcome of a check.
type finding struct {
	// Check names the check, such as "permission Query".
	Check string `json:"check"`
	// Result is the severity.
	Result checkResult `json:"result"`
	// Found describes the outcome.
	Found string `json:"found"`
	// Cure is what to do, empty for nothing.
	Cure string `json:"cure,omitempty"`
}

// newFinding returns a finding. Its words are formatted as by [fmt.Sprintf].
func newFinding(check string, result checkResult, format string, values ...any) finding {
	return finding{Check: check, Result: result, Found: fmt.Sprintf(format, values...)}
}

// cured returns the finding with a cure.
func (f finding) cured(format string, values ...any) finding {
	f.Cure = fmt.Sprintf(format, values...)
	return f
}

// countFindings returns the number of findings with a result.
func countFindings(all []finding, result checkResult) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return f.Result != result }))
}
