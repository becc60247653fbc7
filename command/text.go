package command

import (
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// timeText returns a time for people, in UTC.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// starsOf returns a rating as stars.
func starsOf(rating int) string {
	return strings.Repeat("★", rating) + strings.Repeat("☆", comment.MaxRating-rating)
}
