package dynamo

import "time"

// Hasten lets a rebuild wait for next to nothing: the engines of tests show no transaction in part.
func Hasten(r *Rebuilder) *Rebuilder {
	r.pace = pace{beat: 20 * time.Millisecond, secondLook: time.Millisecond, shardsKnown: time.Millisecond, lastWords: 100 * time.Millisecond}
	return r
}

// HastenButForReaders leaves readers of leaderboards the time that they need.
func HastenButForReaders(r *Rebuilder) *Rebuilder {
	Hasten(r).pace.shardsKnown = 300 * time.Millisecond
	return r
}

// HastenVerifier does the same for a verification.
func HastenVerifier(v *Verifier) *Verifier {
	v.wait = time.Millisecond
	return v
}
