package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/output"
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
		votes = ", and the votes of " + output.Count(found.Voted, "comment", "comments") + " in any state,"
	}
	fmt.Fprintf(&text, "%s of %s%s counted in %.1f s: %s\n",
		output.Count(found.Comments, "comment", "comments"), output.Count(found.Products, "product", "products"), votes, took.Seconds(), driftText(len(found.Drifts), screen.Style))
	if len(found.Drifts) > 0 && found.Unproven {
		fmt.Fprintln(&text, "the stream may not be fully processed: some drifts may be changes that are not counted yet")
	}
	return screen.Fold(text.String())
}
