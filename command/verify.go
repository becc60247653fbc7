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

	Calls int `help:"Number of products to verify concurrently. More are faster on AWS. Default: what suits the local engine." default:"0" placeholder:"N"`
}

// Run prints every drift, one per line, and a summary. Drift is an error.
func (c *Verify) Run(ctx context.Context, flags *EngineFlags, term Terminal, line *kong.Context) error {
	if err := checkCalls(c.Calls); err != nil {
		return usage(err)
	}
	target, only, err := c.OnlyPagesFlag.target(line)
	if err != nil {
		return err
	}
	return flags.withPages(ctx, target, "talkback verify", term, func(session *Session, pages *pages) error {
		if only {
			return verifyPages(ctx, session, pages, term)
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
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the verification was interrupted; run it again")
	case err != nil:
		return fmt.Errorf("the verification stopped (%w); run it again", err)
	}
	err = errors.Join(printVerified(term.Out, found, took), checkTimeToLive(ctx, session, term))
	if pages.store != nil {
		err = errors.Join(err, verifyPages(ctx, session, pages, term))
	}
	return err
}

// checkTimeToLive returns an error if the table keeps expired items. If that cannot be found out,
// it logs a warning.
func checkTimeToLive(ctx context.Context, session *Session, term Terminal) error {
	on, err := dynamo.DropsExpired(ctx, session.Client, session.Table)
	if err != nil {
		term.Logger.Warn("it is not known whether the table deletes expired items: allow dynamodb:DescribeTimeToLive", "error", err)
		return nil
	}
	if !on {
		return fmt.Errorf("table %q keeps expired items, and grows: talkback serve and talkback stream switch on time to live, if they may (dynamodb:UpdateTimeToLive)", session.Table)
	}
	return nil
}

// printVerified prints what was found. Its error says how many drifts and invalid items there are.
func printVerified(out io.Writer, found counts.Verified, took time.Duration) error {
	_, err := io.WriteString(out, verifiedText(found, took, output.ScreenOf(out)))
	if len(found.Drifts) > 0 {
		err = errors.Join(err, errors.New(output.English.Sprintf("%d drifts: talkback rebuild repairs them, at any time", len(found.Drifts))))
	}
	return errors.Join(err, improperError(found.Improper))
}

// verifiedText formats what was found for a screen, a line for each finding.
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
		votes = output.English.Sprintf(", %d of which have votes,", found.Voted)
	}
	fmt.Fprintln(&text, output.English.Sprintf("%d comments%s of %d products counted in %.1f s: %s",
		found.Comments, votes, found.Products, took.Seconds(), driftText(len(found.Drifts), screen.Style)))
	if len(found.Drifts) > 0 && found.Unproven {
		fmt.Fprintln(&text, "the stream is perhaps not processed up to now: drifts may be changes that are still to be counted")
	}
	return screen.Fold(text.String())
}
