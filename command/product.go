package command

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/leases"
)

// explainedAge is the default of --statistics-age.
const explainedAge = 5 * time.Second

// withStore opens the table and its page numbers, and calls use with a store that reads as a
// server's does.
func (f PagesFlag) withStore(ctx context.Context, flags *EngineFlags, owner string, term Terminal, use func(*dynamo.Store) error) (err error) {
	target, err := f.target()
	if err != nil {
		return err
	}
	session, err := flags.Open(ctx, Opening{Owner: owner}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	pages, err := openPages(ctx, target, session, owner, term.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	return use(dynamo.NewStore(session.Client, session.Table, dynamo.Options{
		Watermark: watermarkOf(session), StatisticsAge: explainedAge,
		Journal: leases.NewLeases(session.Client, session.Table), PageNumbers: pages.found,
	}))
}

// checkProduct returns an error if a product has no comments at all.
func checkProduct(ctx context.Context, store *dynamo.Store, id string) error {
	page, err := store.Comments(ctx, comment.Query{Product: id, Order: comment.NewestFirst, Slice: comment.Slice{Size: 1}})
	if err == nil && len(page.Comments) == 0 {
		return noProduct(id)
	}
	return err
}

// noProduct returns the error that a product has no comments.
func noProduct(id string) error {
	return comment.Errorf(comment.NotFound, "there is no comment of product %q in the table: check the id, whose case matters", id)
}
