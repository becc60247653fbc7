package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/terminal"
)

// Explain prints how a page of comments is read.
type Explain struct {
	Product       string     `help:"Product whose comments are listed." required:"" placeholder:"espresso-machine"`
	Languages     []string   `help:"Only comments in these languages." placeholder:"en,de"`
	Ratings       []int      `help:"Only comments with these ratings." placeholder:"1,4"`
	CreatedAfter  *time.Time `help:"Only comments written on this day or later, or from a time on, such as 2024-05-31T12:00:00Z. Days begin at midnight UTC." placeholder:"2024-05-31"`
	CreatedBefore *time.Time `help:"Only comments written before this day or time." placeholder:"2024-06-30"`
	OldestFirst   bool       `help:"List the oldest comment first instead of the newest."`
	First         int        `help:"Page size, 0 to ${max_page} comments (default: ${default})." default:"20" placeholder:"20"`
	FromEnd       bool       `help:"Read the last comments of the list, or those just before --before, instead of the first."`
	After         string     `help:"Only comments after this one in the list, as on the next page." placeholder:"ID"`
	Before        string     `help:"Only comments before this one in the list." placeholder:"ID"`
	Page          int        `help:"Number of the page, from 1; not with a cursor or the end of the list. 0 is no number." placeholder:"N"`
	PagesFlag
}

// Run reads the page like a warm server, which has the product's counts. It prints the plans that
// were considered, the reads that were made, and what they cost, but no comment.
func (c *Explain) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	q, err := c.query()
	if err != nil {
		return usage(err)
	}
	target, err := c.PagesFlag.target()
	if err != nil {
		return err
	}
	session, err := flags.Open(ctx, Opening{Owner: "talkback explain"}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	pages, err := openPages(ctx, target, session, "talkback explain", term.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	store := dynamo.NewStore(session.Client, session.Table)
	store.UseStatistics(watermarkOf(session), explainedAge)
	pages.number(store)
	if err := store.Warm(ctx, c.Product); err != nil {
		return err
	}
	page, err := store.Comments(ctx, q)
	if err != nil {
		return err
	}
	if page.Plan.ItemsReturned == 0 {
		if err := c.checkProduct(ctx, store); err != nil {
			return err
		}
	}
	_, err = io.WriteString(term.Out, explained(page.Plan, terminal.ScreenOf(term.Out)))
	return err
}

// checkProduct returns an error if the product has no comments at all.
func (c *Explain) checkProduct(ctx context.Context, store *dynamo.Store) error {
	page, err := store.Comments(ctx, comment.Query{Product: c.Product, Order: comment.NewestFirst, Slice: comment.Slice{Size: 1}})
	if err == nil && len(page.Comments) == 0 {
		return noProduct(c.Product)
	}
	return err
}

// explainedAge is the default of --statistics-age.
const explainedAge = 5 * time.Second

func (c *Explain) query() (comment.Query, error) {
	q := comment.Query{Product: c.Product, Order: comment.NewestFirst, Slice: comment.Slice{Size: c.First, FromEnd: c.FromEnd, Page: c.Page}}
	if c.OldestFirst {
		q.Order = comment.OldestFirst
	}
	if err := comment.CheckProductID(c.Product); err != nil {
		return q, fmt.Errorf("--product: %w", err)
	}
	var err error
	if q.Slice.After, err = placeOf("--after", c.After); err != nil {
		return q, err
	}
	if q.Slice.Before, err = placeOf("--before", c.Before); err != nil {
		return q, err
	}
	if err := q.Slice.Check(q.Order); err != nil {
		return q, err
	}
	q.Filter, err = c.filter()
	return q, err
}

// placeOf returns the position of a comment in lists, nil if no id is given.
func placeOf(flag, id string) (*comment.Position, error) {
	if id == "" {
		return nil, nil
	}
	parsed, err := comment.ParseID(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	position := parsed.Position()
	return &position, nil
}

func (c *Explain) filter() (comment.Filter, error) {
	filter := comment.Filter{Ratings: c.Ratings, CreatedAfter: c.CreatedAfter, CreatedBefore: c.CreatedBefore}
	for _, tag := range c.Languages {
		language, err := comment.StoredLanguage(tag)
		if err != nil {
			return filter, fmt.Errorf("--languages: %w", err)
		}
		filter.Languages = append(filter.Languages, language)
	}
	return filter.Normalize()
}

// explained formats a plan as tables.
func explained(plan comment.QueryPlan, screen terminal.Screen) string {
	result := fmt.Sprintf("The page shows %d comments. Waves: %d, calls: %d, scanned: %d, read units: %.1f of at most %.0f, milliseconds: %.1f\n",
		plan.ItemsReturned, plan.Waves, plan.Queries, plan.ItemsRead, plan.ReadUnits, plan.MostUnits, plan.Milliseconds())
	return screen.Fold(positionText(plan.Position)) + plansTable(plan.Candidates, screen.Style).On(screen) + "\n" +
		readsTable(plan, screen.Style).On(screen) + "\n" + screen.Fold(result)
}

// positionText tells how a page by number was found, "" for another page.
func positionText(p *comment.PagePosition) string {
	if p == nil || p.Rank == nil {
		return ""
	}
	way := "Read through from the nearer end"
	if p.By == comment.ByIndex {
		way = fmt.Sprintf("Looked up in the index of page numbers (waves: %d, calls: %d, read units: %.1f)", p.Waves, p.Calls, p.ReadUnits)
	}
	return fmt.Sprintf("%s: comments before the page: %d, of these read and left out: %d\n\n", way, *p.Rank, p.Skipped)
}

func plansTable(candidates []comment.PlanCandidate, style terminal.Style) *terminal.Table {
	table := terminal.NewTable("PLAN", "PARTITIONS", "ESTIMATED UNITS", "PRICE", "")
	for _, candidate := range candidates {
		chosen := ""
		if candidate.Chosen {
			chosen = style.Good("chosen")
		}
		table.Row(candidate.Name, strconv.Itoa(candidate.Reads), estimateText(candidate.EstimatedUnits), estimateText(candidate.Price), chosen)
	}
	return table
}

// estimateText is an estimate for a table; nil is unknown.
func estimateText(estimate *float64) string {
	if estimate == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", *estimate)
}

func readsTable(plan comment.QueryPlan, style terminal.Style) *terminal.Table {
	table := terminal.NewTable("READ", "INDEX", "LIMIT", "CALLS", "SCANNED", "RETURNED", "UNITS")
	for _, r := range plan.Reads {
		table.Row(terminal.Printable(r.PartitionKey), r.Index, strconv.Itoa(r.Limit), strconv.Itoa(r.Queries),
			strconv.Itoa(r.ItemsRead), strconv.Itoa(r.ItemsKept), fmt.Sprintf("%.1f", r.ReadUnits))
	}
	for _, skip := range plan.Skipped {
		table.Row(terminal.Printable(skip.PartitionKey), skip.Index, style.Faint("skipped: empty at "+skip.AsOf.UTC().Format(time.TimeOnly)))
	}
	return table
}
