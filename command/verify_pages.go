package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
)

// pagesTries is how often a product is compared whose page index seems wrong: it may have changed
// meanwhile. The waits between double from firstPause on.
const (
	pagesTries = 4
	firstPause = time.Second
)

// pagesVerifier compares an index with the comments of a table, product by product. It holds one
// product at a time, and the names of those that it is done with.
type pagesVerifier struct {
	index   pageindex.Index
	lister  pageindex.Lister // nil for an index that has no products but those of the table
	scanner *dynamo.Scanner

	comments int
	drifts   []pageindex.Drift
	done     map[string]bool // products with comments
}

// run compares. It calls show with how many comments were read.
func (v *pagesVerifier) run(ctx context.Context, show func(comments int64)) (err error) {
	sorted, err := objects.NewSorted()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	for c, err := range v.scanner.All(ctx) {
		if err != nil {
			return err
		}
		if err := sorted.Add(c.ProductID, c.Cell(), c.ID.Position()); err != nil {
			return err
		}
		v.comments++
		show(int64(v.comments))
	}
	err = sorted.Each(func(product string, places pageindex.Places) error {
		v.done[product] = true
		return v.verify(ctx, product, places)
	})
	if err != nil || v.lister == nil {
		return err
	}
	return v.verifyOthers(ctx)
}

// verifyOthers looks for comments in the index of products that have none in the table.
func (v *pagesVerifier) verifyOthers(ctx context.Context) error {
	others := map[string]bool{}
	err := v.lister.Products(ctx, func(product string) {
		if !v.done[product] {
			others[product] = true
		}
	})
	if err != nil {
		return err
	}
	for _, product := range slices.Sorted(maps.Keys(others)) {
		if err := v.verify(ctx, product, pageindex.Places{}); err != nil {
			return err
		}
	}
	return nil
}

// verify compares a product. A difference counts if it is still there at the last try.
func (v *pagesVerifier) verify(ctx context.Context, product string, places pageindex.Places) error {
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		drifts, err := pageindex.Audit(ctx, v.index, product, places)
		if err != nil || len(drifts) == 0 || try == pagesTries {
			v.drifts = append(v.drifts, drifts...)
			return err
		}
		if err := task.Wait(ctx, pause); err != nil {
			return err
		}
		places = pageindex.Places{}
		for c, err := range v.scanner.OfProduct(ctx, product) {
			if err != nil {
				return err
			}
			places.Add(c.Cell(), c.ID.Position())
		}
	}
}

// verifyPages compares the page index of the flag with the comments, and prints what differs.
func verifyPages(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	scanner := dynamo.NewScanner(session.Client, session.Table, 0)
	scanner.OnImproper = func(layout.Improper) {} // verify without --pages names it
	verifier := &pagesVerifier{index: pages.whileLate(), lister: pages.store, scanner: scanner, done: map[string]bool{}}
	took, err := session.watchItems(ctx, term, verifier.run)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the verification was interrupted; run it again")
	case comment.KindOf(err) == comment.Unavailable:
		return err
	case err != nil:
		return fmt.Errorf("the verification stopped (%w); run it again", err)
	}
	return verifier.print(term.Out, took)
}

// print prints what was found. Its error says how many drifts there are.
func (v *pagesVerifier) print(out io.Writer, took time.Duration) error {
	screen := output.ScreenOf(out)
	var text strings.Builder
	for _, drift := range v.drifts {
		fmt.Fprintln(&text, output.Printable(drift.String()))
	}
	fmt.Fprintln(&text, output.English.Sprintf("%d comments of %d products looked up in %.1f s: %s", v.comments, len(v.done), took.Seconds(), driftText(len(v.drifts), screen.Style)))
	_, err := io.WriteString(out, screen.Fold(text.String()))
	if len(v.drifts) > 0 {
		err = errors.Join(err, errors.New(output.English.Sprintf("%d drifts: talkback rebuild --pages repairs them, at any time", len(v.drifts))))
	}
	return err
}

func driftText(drifts int, style output.Style) string {
	if drifts == 0 {
		return style.Good("no drift")
	}
	return style.Bad(output.English.Sprintf("%d drifts", drifts))
}
