package votes

// Few makes a Recounter keep the counts of slices from that many votes on.
func Few(r *Recounter, votes int) *Recounter {
	r.many = votes
	return r
}
