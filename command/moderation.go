package command

import (
	"time"

	"github.com/talkback/talkback/moderation"
)

// ModerationFlags say which comments wait for a moderator before they are shown.
type ModerationFlags struct {
	Moderation      string        `help:"Which comments wait for a moderator: publish for none, hold for all, rules for those that a file of rules tells (default: ${default})." enum:"publish,hold,rules" default:"publish" placeholder:"rules"`
	ModerationRules string        `help:"File of the rules that tell which comments wait." placeholder:"FILE" complete:"files"`
	Edits           string        `help:"What is shown while an edit of an approved comment waits: beside for the comment as it was, hide for nothing (default: ${default})." enum:"beside,hide" default:"beside" placeholder:"hide"`
	KeepAudit       time.Duration `help:"How long decisions about comments are kept; 0 for ever, 9600h are 400 days (default: ${default})." default:"9600h" placeholder:"9600h"`
}

// open returns the policy. Its errors are usage errors.
func (f ModerationFlags) open() (moderation.Policy, error) {
	policy, err := moderation.Open(f.Moderation, f.ModerationRules)
	if err != nil {
		return policy, usage(err)
	}
	if f.KeepAudit < 0 {
		return policy, usagef("--keep-audit %v is below 0: give a duration, or 0 to keep decisions for ever", f.KeepAudit)
	}
	return policy, nil
}
