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
	"github.com/talkback/talkback/internal/terminal"
	"github.com/talkback/talkback/internal/wait"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/audit"
)

// pagesLooks is how often a product is compared whose page index seems wrong: it may have changed
// meanwhile. The waits between double from firstLook on.
const (
	pagesLooks = 4
	firstLook  = time.Second
)

// verifiedPages is what a comparison of page numbers with comments found.
type verifiedPages struct {
	comments, products int
	drifts             []audit.Drift
}

// verifyPages compares an index with all comments of a table. It calls tell with how many of these
// were read.
func verifyPages(ctx context.Context, session *Session, index pageindex.Index, tell func(comments int)) (verifiedPages, error) {
	var found verifiedPages
	scanner := dynamo.NewScanner(session.Client, session.Table, 0)
	scanner.OnImproper = func(layout.Improper) {} // verify without --pages names it
	products := map[string]audit.Places{}
	for c, err := range scanner.All(ctx) {
		if err != nil {
			return found, err
		}
		if products[c.ProductID] == nil {
			products[c.ProductID] = audit.Places{}
		}
		products[c.ProductID].Add(c.Cell(), c.ID.Position())
		found.comments++
		tell(found.comments)
	}
	found.products = len(products)
	for _, product := range slices.Sorted(maps.Keys(products)) {
		drifts, err := verifyProduct(ctx, scanner, index, product, products[product])
		if err != nil {
			return found, err
		}
		found.drifts = append(found.drifts, drifts...)
	}
	return found, nil
}

// verifyProduct compares an index with a product. A difference counts if it is still there after
// some looks.
func verifyProduct(ctx context.Context, scanner *dynamo.Scanner, index pageindex.Index, product string, places audit.Places) ([]audit.Drift, error) {
	for look, pause := 1, firstLook; ; look, pause = look+1, 2*pause {
		drifts, err := audit.Product(ctx, index, product, places)
		if err != nil || len(drifts) == 0 || look == pagesLooks {
			return drifts, err
		}
		if err := wait.For(ctx, pause); err != nil {
			return nil, err
		}
		places = audit.Places{}
		for c, err := range scanner.OfProduct(ctx, product) {
			if err != nil {
				return nil, err
			}
			places.Add(c.Cell(), c.ID.Position())
		}
	}
}

// printPagesVerified compares the page index of the flag with the comments, and prints what differs.
func printPagesVerified(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	progress, err := progressOfItems(ctx, session, term)
	if err != nil {
		return err
	}
	var found verifiedPages
	err = session.watch(ctx, func(ctx context.Context) error {
		var err error
		found, err = verifyPages(ctx, session, pages.whileLate(), func(n int) { progress.Show(n, int64(n)) })
		return err
	})
	took := progress.End()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the verification was interrupted; run it again")
	case comment.KindOf(err) == comment.Unavailable:
		return err
	case err != nil:
		return fmt.Errorf("the verification stopped (%w); run it again", err)
	}
	return printVerifiedPages(term.Out, found, took)
}

// printVerifiedPages prints what was found. Its error says how many drifts there are.
func printVerifiedPages(out io.Writer, found verifiedPages, took time.Duration) error {
	screen := terminal.ScreenOf(out)
	var text strings.Builder
	for _, drift := range found.drifts {
		fmt.Fprintln(&text, terminal.Printable(drift.String()))
	}
	fmt.Fprintln(&text, terminal.English.Sprintf("%d comments of %d products looked up in %.1f s: %s", found.comments, found.products, took.Seconds(), driftText(len(found.drifts), screen.Style)))
	_, err := io.WriteString(out, screen.Fold(text.String()))
	if len(found.drifts) > 0 {
		err = errors.Join(err, errors.New(terminal.English.Sprintf("%d drifts: talkback rebuild --pages repairs them, at any time", len(found.drifts))))
	}
	return err
}

func driftText(drifts int, style terminal.Style) string {
	if drifts == 0 {
		return style.Good("no drift")
	}
	return style.Bad(terminal.English.Sprintf("%d drifts", drifts))
}
