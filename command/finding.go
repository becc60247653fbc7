package command

import (
	"fmt"
	"slices"
)

// checkResult is the severity of a finding.
type checkResult string

// The results, from good to bad.
const (
	resultOK      checkResult = "ok"
	resultUnknown checkResult = "unknown" // the check could not decide
	resultWarning checkResult = "warning" // the service works, but needs attention
	resultProblem checkResult = "problem" // the service does not work, or its answers are wrong
)

// finding is the outcome of a check.
type finding struct {
	Check  string      `json:"check"` // such as "permission Query"
	Result checkResult `json:"result"`
	Found  string      `json:"found"`
	Cure   string      `json:"cure,omitempty"` // empty if nothing has to be done
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
