package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
)

// Explain prints how a page of comments is read.
type Explain struct {
	Product string `help:"Product whose comments are listed." required:"" placeholder:"espresso-machine"`
	FilterFlags
	Order   string `help:"Order of the list: ${enum} (default: ${default})." enum:"newest-first,oldest-first,highest-rated,lowest-rated,most-helpful" default:"newest-first" placeholder:"ORDER"`
	First   int    `help:"Page size, 0 to ${max_page} comments (default: ${default})." default:"20" placeholder:"20"`
	FromEnd bool   `help:"Read the last comments of the list, or those just before --before, instead of the first."`
	After   string `help:"Only comments after this one in the list, as on the next page. In orders by rating or votes, add its rating, or its helpful votes minus the others: ID/5." placeholder:"ID"`
	Before  string `help:"Only comments before this one in the list, given as for --after." placeholder:"ID"`
	Page    int    `help:"Number of the page, from 1; not with a cursor or the end of the list. 0 is no number." placeholder:"N"`
	PagesFlag
}

// Run reads the page as a warm server would, which knows the product's counts. It prints the plans
// that it considered, the reads that it made, and their cost, but no comment.
func (c *Explain) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	q, err := c.query()
	if err != nil {
		return asUsage(err)
	}
	return c.PagesFlag.withStore(ctx, flags, "talkback explain", term, func(store *dynamo.Store) error {
		if err := store.Warm(ctx, c.Product); err != nil {
			return err
		}
		page, err := store.Comments(ctx, q)
		if err != nil {
			return err
		}
		if page.Plan().ItemsReturned == 0 {
			if err := checkProduct(ctx, store, c.Product); err != nil {
				return err
			}
		}
		_, err = io.WriteString(term.Out, planText(page.Plan(), output.ScreenOf(term.Out)))
		return err
	})
}

func (c *Explain) query() (comment.Query, error) {
	q := comment.Query{Product: c.Product, Slice: comment.Slice{Size: c.First, FromEnd: c.FromEnd, Page: c.Page}}
	q.Order = comment.Order(strings.ToUpper(strings.ReplaceAll(c.Order, "-", "_")))
	if err := comment.CheckProductID(c.Product); err != nil {
		return q, fmt.Errorf("--product: %w", err)
	}
	var err error
	if q.Slice.After, err = placeOf("--after", q.Order, c.After); err != nil {
		return q, err
	}
	if q.Slice.Before, err = placeOf("--before", q.Order, c.Before); err != nil {
		return q, err
	}
	if err := q.Slice.Check(q.Order); err != nil {
		return q, err
	}
	q.Filter, err = c.FilterFlags.filter()
	return q, err
}

// placeOf parses the place of a comment in a list; nil if the text is empty.
func placeOf(flag string, order comment.Order, text string) (*comment.Place, error) {
	if text == "" {
		return nil, nil
	}
	id, number, keyed := strings.Cut(text, "/")
	parsed, err := comment.ParseID(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	place := comment.At(parsed.Position())
	if keyed != order.Keyed() {
		return nil, fmt.Errorf("%s: in orders by rating or votes, and in no other, add the comment's rating, or its helpful votes minus the others, after a slash (%s/5)", flag, id)
	}
	if keyed {
		key, err := strconv.ParseInt(number, 10, 32)
		switch {
		case err == nil && order == comment.MostHelpful:
			key = max(0, key) // comments without helpful votes are by date
		case err != nil || comment.CheckRating(int(key)) != nil:
			return nil, fmt.Errorf("%s: %q is neither a rating from 1 to 5 nor a number of votes", flag, number)
		}
		place.Key = int32(key)
	}
	return place, nil
}

func planText(plan comment.QueryPlan, screen output.Screen) string {
	plans := output.NewTable("PLAN", "PARTITIONS", "ESTIMATED UNITS", "PRICE", "")
	for _, candidate := range plan.Candidates {
		chosen := ""
		if candidate.Chosen {
			chosen = screen.Good("chosen")
		}
		plans.Row(candidate.Name, strconv.Itoa(candidate.Reads), estimateText(candidate.EstimatedUnits), estimateText(candidate.Price), chosen)
	}
	reads := output.NewTable("READ", "INDEX", "LIMIT", "CALLS", "SCANNED", "RETURNED", "UNITS")
	for _, r := range plan.Reads {
		reads.Row(output.Printable(r.PartitionKey), r.Index, strconv.Itoa(r.Limit), strconv.Itoa(r.Queries),
			strconv.Itoa(r.ItemsRead), strconv.Itoa(r.ItemsKept), fmt.Sprintf("%.1f", r.ReadUnits))
	}
	for _, skip := range plan.Skipped {
		reads.Row(output.Printable(skip.PartitionKey), skip.Index, screen.Faint("skipped: empty at "+skip.AsOf.UTC().Format(time.TimeOnly)))
	}
	result := fmt.Sprintf("The page shows %s. Waves: %d, calls: %d, scanned: %d, read units: %.1f of at most %.0f, milliseconds: %.1f\n",
		output.Count(plan.ItemsReturned, "comment", "comments"), plan.Waves, plan.Queries, plan.ItemsRead, plan.ReadUnits, plan.MostUnits, plan.Milliseconds())
	return screen.Fold(positionText(plan)) + plans.On(screen) + "\n" + reads.On(screen) + "\n" + screen.Fold(result)
}

// positionText describes how the page index was used, or a page by number found; "" if neither was.
func positionText(plan comment.QueryPlan) string {
	p := plan.Position
	switch {
	case p == nil:
		return ""
	case p.Rank == nil:
		return fmt.Sprintf("The index of page numbers found comments of the list (waves: %d, calls: %d, read units: %.1f). Fetched by their ids: %d\n\n",
			p.Waves, p.Calls, p.ReadUnits, plan.Lookups)
	}
	way := "Read through from the nearer end"
	if p.By == comment.ByIndex {
		way = fmt.Sprintf("Looked up in the index of page numbers (waves: %d, calls: %d, read units: %.1f)", p.Waves, p.Calls, p.ReadUnits)
	}
	return fmt.Sprintf("%s: comments before the page: %d, of these read and left out: %d\n\n", way, *p.Rank, p.Skipped)
}

func estimateText(estimate *float64) string {
	if estimate == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", *estimate)
}
