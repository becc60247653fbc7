package command

import (
	"context"
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/leases"
)

// explainedAge is the default of --statistics-age.
const explainedAge = 5 * time.Second

// withStore opens the table and its page numbers, and calls use with a store like a server's.
func (f PagesFlag) withStore(ctx context.Context, flags *EngineFlags, owner string, term Terminal, use func(*dynamo.Store) error) error {
	target, err := f.target()
	if err != nil {
		return err
	}
	return flags.withPages(ctx, target, owner, term, func(session *Session, pages *pages) error {
		return use(dynamo.NewStore(session.Client, session.Table, dynamo.Options{
			Watermark: newLeases(session), StatisticsAge: explainedAge,
			Journal: leases.NewLeases(session.Client, session.Table), PageNumbers: pages.found,
		}))
	})
}

// checkProduct returns an error if a product has no comments at all.
func checkProduct(ctx context.Context, store *dynamo.Store, id string) error {
	page, err := store.Comments(ctx, comment.Query{Product: id, Order: comment.NewestFirst, Slice: comment.Slice{Size: 1}})
	if err == nil && len(page.Comments) == 0 {
		return noProduct(id)
	}
	return err
}

func noProduct(id string) error {
	return comment.Errorf(comment.NotFound, "there is no approved comment of product %q in the table: check the id, whose case matters", id)
}

// FilterFlags select the comments of a product that a command is about.
type FilterFlags struct {
	Languages     []string   `help:"Only comments in these languages." placeholder:"en,de"`
	Ratings       []int      `help:"Only comments with these ratings." placeholder:"1,4"`
	Verified      bool       `help:"Only comments of verified purchases."`
	WithMedia     bool       `help:"Only comments with pictures or videos."`
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
	if f.Verified {
		filter.Verified = &f.Verified
	}
	if f.WithMedia {
		filter.WithMedia = &f.WithMedia
	}
	return filter.Normalize()
}
