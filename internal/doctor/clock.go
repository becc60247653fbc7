package doctor

import "time"

const (
	// dateStep is the resolution of the header Date.
	dateStep = time.Second
	// countsAllow is how far clocks may be apart: docs/design/watermarks.md.
	countsAllow = 2 * time.Second
	// signaturesAllow is how far clocks may be apart before AWS refuses a signature.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
	signaturesAllow = 5 * time.Minute
)

// Clock compares the time in an answer's header Date with the time at which it came.
func Clock(said, came time.Time) Finding {
	const check = "clock"
	off, direction := came.Sub(said.Add(dateStep)), "ahead of"
	if came.Before(said) {
		off, direction = said.Sub(came), "behind"
	}
	switch {
	case off <= 0:
		return New(check, OK, "agrees with the table's, within a second")
	case off <= countsAllow:
		return New(check, OK, "%v %s the table's", off.Round(time.Millisecond), direction)
	case off <= signaturesAllow:
		return New(check, Warning, "%v %s the table's: new comments get wrong times", off.Round(time.Second), direction).
			Cured("set the clock of this machine, by NTP for example")
	}
	return New(check, Problem, "%v %s the table's: AWS refuses what is signed so", off.Round(time.Second), direction).
		Cured("set the clock of this machine, by NTP for example")
}
