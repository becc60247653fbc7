package planner

// shortage is what a call of a part has to bring, so that no other has to follow.
type shortage struct {
	share share
	// mean and deviation are of how many items have to be scanned.
	mean, deviation float64
	// returned is what a residual filter returns, and want how many that has to be. It is nil if mean
	// and deviation are all that is known.
	returned *betaBinomial
	want     int
}

// likely is the probability that a call with a limit is not enough, if it does not come to the end.
func (s *shortage) likely(limit int) float64 {
	if s.returned != nil {
		return s.returned.below(s.want, limit)
	}
	return above(s.share.enough(limit), s.mean, s.deviation)
}
