package command

import (
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
)

// FilterFlags say which comments of a product a command is about.
type FilterFlags struct {
	Languages     []string   `help:"Only comments in these languages." placeholder:"en,de"`
	Ratings       []int      `help:"Only comments with these ratings." placeholder:"1,4"`
	CreatedAfter  *time.Time `help:"Only comments written on this day or later, or from a time on, such as 2024-05-31T12:00:00Z. Days begin at midnight UTC." placeholder:"2024-05-31"`
	CreatedBefore *time.Time `help:"Only comments written before this day or time." placeholder:"2024-06-30"`
}

// filter returns the filter, normalized. An error names the wrong flag.
func (f FilterFlags) filter() (comment.Filter, error) {
	filter := comment.Filter{Ratings: f.Ratings, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore}
	for _, tag := range f.Languages {
		language, err := comment.StoredLanguage(tag)
		if err != nil {
			return filter, fmt.Errorf("--languages: %w", err)
		}
		filter.Languages = append(filter.Languages, language)
	}
	return filter.Normalize()
}
