package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
)

// pagesTries is how often products are compared whose page index seems wrong: they may have changed
// meanwhile. The waits between begin with firstPause and double each time. All such products share
// them, since there may be thousands where a store was damaged.
const (
	pagesTries = 4
	firstPause = time.Second
)

// patientIndex repeats lookups for which the table is too busy: what was verified before would be
// lost.
type patientIndex struct{ pageindex.Index }

// Find implements pageindex.Index.
func (p patientIndex) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (found pageindex.Found, err error) {
	busy := call.Retry(ctx, func() (progress bool, _ error) {
		if found, err = p.Index.Find(ctx, list, targets); comment.KindOf(err) == comment.Throttled {
			return false, err
		}
		return false, nil
	})
	return found, cmp.Or(busy, err)
}

// pagesVerifier compares an index with the comments of a table, product by product. It holds one
// product at a time, and the names of finished products.
type pagesVerifier struct {
	index   pageindex.Index
	store   pageindex.Store // nil for an index inside the table
	scanner *dynamo.Scanner
	out     io.Writer // of the progress of lookups, which take longer than the scan

	comments int
	drifts   []pageindex.Drift
	done     map[string]bool // products with comments
	suspects []string        // products that the latest attempt found wrong
}

// run compares all products. It calls show with the number of comments read so far.
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
	looked, progress := 0, output.NewProgress(v.out, int64(v.comments), "comments looked up")
	err = sorted.Each(func(product string, places pageindex.Places) error {
		v.done[product] = true
		for _, positions := range places {
			looked += len(positions)
		}
		err := v.verify(ctx, product, places)
		progress.Show(looked, int64(looked))
		return err
	})
	progress.End()
	if err != nil {
		return err
	}
	if err := v.strangers(ctx); err != nil {
		return err
	}
	return v.again(ctx)
}

// strangers compares the products of the index that have no comments in the table.
func (v *pagesVerifier) strangers(ctx context.Context) error {
	if v.store == nil {
		return nil
	}
	others := map[string]bool{}
	err := v.store.Products(ctx, func(product string) {
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

// verify compares one product.
func (v *pagesVerifier) verify(ctx context.Context, product string, places pageindex.Places) error {
	drifts, err := pageindex.Audit(ctx, v.index, product, places)
	if len(drifts) > 0 {
		v.suspects, v.drifts = append(v.suspects, product), append(v.drifts, drifts...)
	}
	return err
}

// again compares the products that seem wrong until none does, or the last attempt. What that one
// finds is wrong.
func (v *pagesVerifier) again(ctx context.Context) error {
	for try, pause := 2, firstPause; try <= pagesTries && len(v.suspects) > 0; try, pause = try+1, 2*pause {
		if err := task.Wait(ctx, pause); err != nil {
			return err
		}
		suspects := v.suspects
		v.suspects, v.drifts = nil, nil
		for _, product := range suspects {
			places := pageindex.Places{}
			for c, err := range v.scanner.OfProduct(ctx, product) {
				if err != nil {
					return err
				}
				places.Add(c.Cell(), c.ID.Position())
			}
			if err := v.verify(ctx, product, places); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyPages compares the page index with the comments, and prints the differences.
func verifyPages(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	scanner := dynamo.NewScanner(session.Client, session.Table, 0)
	scanner.Bare = true                           // page numbers count a comment whose text is damaged
	scanner.OnImproper = func(layout.Improper) {} // verify without --pages lists invalid items
	index := pageindex.Index(pages.keeper)
	if pages.table != nil {
		index = pages.table
	} else {
		pages.keeper.Pace.Lag = math.MaxInt64 // it answers however late counting is, which then shows as a drift
	}
	verifier := &pagesVerifier{index: patientIndex{index}, store: pages.store, scanner: scanner, out: term.Err, done: map[string]bool{}}
	took, err := session.watchItems(ctx, term, verifier.run)
	switch {
	case comment.KindOf(err) == comment.Unavailable && !errors.Is(err, context.Canceled):
		return pages.explain(err)
	case err != nil:
		return stopped(err, "the verification", "run it again")
	}
	screen := output.ScreenOf(term.Out)
	var text strings.Builder
	for _, drift := range verifier.drifts {
		fmt.Fprintln(&text, output.Printable(drift.String()))
	}
	drifts := len(verifier.drifts)
	fmt.Fprintf(&text, "%s of %s looked up in %.1f s: %s\n",
		output.Count(verifier.comments, "comment", "comments"), output.Count(len(verifier.done), "product", "products"), took.Seconds(), driftText(drifts, screen.Style))
	_, err = io.WriteString(term.Out, screen.Fold(text.String()))
	if drifts > 0 {
		err = errors.Join(err, errors.New(output.Count(drifts, "drift: talkback rebuild --pages repairs it, at any time", "drifts: talkback rebuild --pages repairs them, at any time")))
	}
	return err
}

func driftText(drifts int, style output.Style) string {
	if drifts == 0 {
		return style.Good("no drift")
	}
	return style.Bad(output.Count(drifts, "drift", "drifts"))
}
