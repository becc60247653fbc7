package votes

// Few makes a Recounter keep the counts of slices from this number of votes on, and read no more at
// once.
func Few(r *Recounter, votes int) *Recounter {
	r.many, r.atOnce = votes, votes
	return r
}
