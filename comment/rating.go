package comment

// MaxRating is the best rating; the worst is 1.
const MaxRating = 5

// CheckRating returns a BadInput error unless rating is 1 to 5.
func CheckRating(rating int) error {
	if rating < 1 || rating > MaxRating {
		return Errorf(BadInput, "a rating is 1 to %d stars, not %d", MaxRating, rating)
	}
	return nil
}
