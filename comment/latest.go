package comment

// Latest says which newest comments of products are going to be asked for.
type Latest struct {
	// Ratings are sets of ratings. The newest comment with a rating of each set is wanted.
	Ratings [][]int
	// Among is how many of the newest comments of each product are read anyway. Only what is not
	// among them has to be found.
	Among int
	// WithoutText leaves the texts of the comments empty.
	WithoutText bool
}
