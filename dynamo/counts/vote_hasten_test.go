package counts

// CountFewVotes makes a Recounter keep the counts of slices from this number of votes on, and read no more at
// once.
func CountFewVotes(r *VoteRecounter, votes int) *VoteRecounter {
	r.many, r.atOnce = votes, votes
	return r
}
