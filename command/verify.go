package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
	"github.com/talkback/talkback/stream"
)

// Verify counts all comments and compares the result with the statistics.
type Verify struct {
	OnlyPagesFlag

	Calls int `help:"Number of products to verify concurrently, at most ${max_calls}. More are faster on AWS; 0 for what suits the local engine (default: ${default})." default:"0" placeholder:"N" type:"calls"`
}

// Run prints each drift in a line, and a summary. Drift is an error.
func (c *Verify) Run(ctx context.Context, flags *EngineFlags, term Terminal, line *kong.Context) error {
	target, only, err := c.OnlyPagesFlag.target(line)
	if err != nil {
		return err
	}
	return flags.withPages(ctx, target, "talkback verify", term, func(session *Session, pages *pages) error {
		if only {
			return verifyPages(ctx, session, pages, term)
		}
		if c.Pages == "" {
			store, err := pages.elsewhere(ctx, session)
			if err != nil {
				return err
			}
			if store != "" {
				term.Logger.Warn("page numbers are in another store than the table, and are left out: name it by TALKBACK_PAGES", "store", store)
				pages.table = nil
			}
		}
		return c.verify(ctx, session, pages, term)
	})
}

func (c *Verify) verify(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	options := counts.VerifyOptions{Calls: c.Calls, Leases: func(ctx context.Context) ([]stream.Lease, error) {
		_, leases, err := leases.NewLeases(session.Client, session.Table).Current(ctx)
		return leases, err
	}}
	if pages.table != nil {
		options.Pages = pages.table
	}
	var found counts.Verified
	took, err := session.watchItems(ctx, term, func(ctx context.Context, show func(int64)) (err error) {
		found, err = counts.NewVerifier(session.Client, session.Table, options).Run(ctx, func(items int) { show(int64(items)) })
		return err
	})
	if err != nil {
		return stopped(err, "the verification", "run it again")
	}
	err = printVerified(term.Out, found, took)
	on, unknown := dynamo.DropsExpired(ctx, session.Client, session.Table)
	switch {
	case unknown != nil && len(failedCalls(unknown)) == 0: // it is on for another attribute
		err = errors.Join(err, unknown)
	case unknown != nil:
		term.Logger.Warn("it is not known whether the table deletes expired items: allow dynamodb:DescribeTimeToLive", "error", unknown)
	case !on:
		err = errors.Join(err, fmt.Errorf("table %q keeps expired items, and grows: restart talkback serve or talkback stream, which switch on time to live when they start, if they may (dynamodb:UpdateTimeToLive)", session.Table))
	}
	if pages.store != nil {
		err = errors.Join(err, verifyPages(ctx, session, pages, term))
	}
	return err
}

// printVerified prints the findings. Its error has the numbers of drifts and of invalid items.
func printVerified(out io.Writer, found counts.Verified, took time.Duration) error {
	_, err := io.WriteString(out, verifiedText(found, took, output.ScreenOf(out)))
	if len(found.Drifts) > 0 {
		err = errors.Join(err, errors.New(output.Count(len(found.Drifts), "drift: talkback rebuild repairs it, at any time", "drifts: talkback rebuild repairs them, at any time")))
	}
	return errors.Join(err, improperError(found.Improper))
}

func verifiedText(found counts.Verified, took time.Duration, screen output.Screen) string {
	var text strings.Builder
	for _, drift := range found.Drifts {
		fmt.Fprintln(&text, output.Printable(drift.String()))
	}
	for _, product := range found.Restless {
		fmt.Fprintf(&text, "%s: not verified, because its counts keep changing: run this again later\n", output.Printable(product))
	}
	text.WriteString(improperText(found.Improper))
	votes := ""
	if found.Voted > 0 {
		votes = ", " + output.Count(found.Voted, "of which has votes,", "of which have votes,")
	}
	fmt.Fprintf(&text, "%s%s of %s counted in %.1f s: %s\n",
		output.Count(found.Comments, "comment", "comments"), votes, output.Count(found.Products, "product", "products"), took.Seconds(), driftText(len(found.Drifts), screen.Style))
	if len(found.Drifts) > 0 && found.Unproven {
		fmt.Fprintln(&text, "the stream may not be fully processed: some drifts may be changes that are not counted yet")
	}
	return screen.Fold(text.String())
}

// pagesTries is how often products are compared whose page index seems wrong: they may have changed
// meanwhile. The waits between begin with firstPause and double each time. All such products share
// them, since there may be thousands where a store was damaged.
const (
	pagesTries = 4
	firstPause = time.Second
)

// pagesVerifier compares an index with the comments of a table, product by product. It holds one
// product at a time, and the names of finished products.
type pagesVerifier struct {
	index   pageindex.Index
	store   pageindex.Store // nil for an index inside the table
	scanner *dynamo.Scanner

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
	err = sorted.Each(func(product string, places pageindex.Places) error {
		v.done[product] = true
		return v.verify(ctx, product, places)
	})
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
	verifier := &pagesVerifier{index: index, store: pages.store, scanner: scanner, done: map[string]bool{}}
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
