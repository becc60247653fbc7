package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/output"
)

// explainedAge is the default of --statistics-age.
const explainedAge = 5 * time.Second

// withStore opens the table and its page numbers, and calls use with a store that reads as a
// server's does.
func (f PagesFlag) withStore(ctx context.Context, flags *EngineFlags, owner string, term Terminal, use func(*dynamo.Store) error) error {
	target, err := f.target()
	if err != nil {
		return err
	}
	return flags.withPages(ctx, target, owner, term, func(session *Session, pages *pages) error {
		return use(dynamo.NewStore(session.Client, session.Table, dynamo.Options{
			Watermark: watermarkOf(session), StatisticsAge: explainedAge,
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

// noProduct returns the error that a product has no comments.
func noProduct(id string) error {
	return comment.Errorf(comment.NotFound, "there is no comment of product %q in the table: check the id, whose case matters", id)
}

// FilterFlags say which comments of a product a command is about.
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

// Stats prints how the comments of a product are rated.
type Stats struct {
	Product string `arg:"" help:"Product whose comments are counted."`
	FilterFlags
	PagesFlag
}

// Run prints the statistics of the product, or counts its comments within a range of dates.
func (c *Stats) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	if err := comment.CheckProductID(c.Product); err != nil {
		return usage(err)
	}
	filter, err := c.FilterFlags.filter()
	if err != nil {
		return usage(err)
	}
	return c.PagesFlag.withStore(ctx, flags, "talkback stats", term, func(store *dynamo.Store) error {
		rated, err := readRated(ctx, store, c.Product, filter)
		if err != nil {
			return err
		}
		_, err = io.WriteString(term.Out, rated.text(time.Now(), output.ScreenOf(term.Out)))
		return err
	})
}

// rated says how comments of a product are rated.
type rated struct {
	product string
	filter  comment.Filter
	counts  comment.Counts
	// languages are rows of the statistics, which know no dates.
	languages []ratedLanguage
	latest    *time.Time // when the latest comment was written, nil if there is none
	upTo      *time.Time // up to when changes are counted, nil if unknown
}

// ratedLanguage is how comments in a language are rated.
type ratedLanguage struct {
	name   string
	counts comment.Counts
}

// isDated reports whether a filter has a range of dates. Its comments are counted for the answer.
func isDated(filter comment.Filter) bool {
	return filter.CreatedAfter != nil || filter.CreatedBefore != nil
}

// readRated reads how the comments of a product that pass a filter are rated. It returns a NotFound
// error if the product has no comments at all.
func readRated(ctx context.Context, store *dynamo.Store, product string, filter comment.Filter) (rated, error) {
	r := rated{product: product, filter: filter}
	q := comment.Query{Product: product, Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 1}, WithoutText: true}
	if isDated(filter) {
		q.Count = comment.CountByRating
	}
	page, err := store.Comments(ctx, q)
	if err != nil {
		return r, err
	}
	if len(page.Comments) > 0 {
		latest := page.Comments[0].CreatedAt()
		r.latest = &latest
	} else if err := checkProduct(ctx, store, product); err != nil {
		return r, err
	}
	if page.Counted != nil {
		r.counts = page.Counted.ByRating
		return r, page.Counted.Err
	}
	if upTo, known := store.CountedUpTo(ctx); known { // before the statistics, which may know more
		r.upTo = &upTo
	}
	err = r.readStatistics(ctx, store)
	return r, err
}

// readStatistics reads the counts from the statistics of the product.
func (r *rated) readStatistics(ctx context.Context, store *dynamo.Store) error {
	found, failed, err := store.StatsOf(ctx, []string{r.product})
	if err := errors.Join(err, failed[r.product]); err != nil {
		return err
	}
	stats := found[r.product].Clone()
	if err := addSharedRows(ctx, store, r.product, stats, r.filter.Languages); err != nil {
		return err
	}
	r.counts = stats.Counts(r.filter)
	for _, row := range stats.Languages(comment.Filter{}) {
		only := r.filter
		only.Languages = []comment.Language{row.Language}
		if len(r.filter.Languages) == 0 || slices.Contains(r.filter.Languages, row.Language) {
			r.addLanguage(string(row.Language), stats.Counts(only))
		}
	}
	slices.SortStableFunc(r.languages, func(a, b ratedLanguage) int { return cmp.Compare(b.counts.Total(), a.counts.Total()) })
	if len(r.filter.Languages) == 0 {
		only := r.filter
		only.Languages = []comment.Language{comment.OtherLanguages}
		r.addLanguage("others", stats.Counts(only))
	}
	return nil
}

func (r *rated) addLanguage(name string, counts comment.Counts) {
	if counts.Total() > 0 {
		r.languages = append(r.languages, ratedLanguage{name, counts})
	}
}

// addSharedRows adds the counts of languages that share a row of the statistics.
func addSharedRows(ctx context.Context, store *dynamo.Store, product string, stats comment.Stats, languages []comment.Language) error {
	var shared []comment.ProductLanguage
	for _, language := range stats.Others(languages) {
		shared = append(shared, comment.ProductLanguage{Product: product, Language: language})
	}
	if len(shared) == 0 {
		return nil
	}
	rows, failed, err := store.RowsOf(ctx, shared)
	for _, key := range shared {
		err = errors.Join(err, failed[key])
		if row, found := rows[key]; found {
			stats[key.Language] = row
		}
	}
	return err
}

// text formats the counts for a screen.
func (r rated) text(now time.Time, screen output.Screen) string {
	comments := "1 comment"
	if total := r.counts.Total(); total != 1 {
		comments = output.English.Sprintf("%d comments", total)
	}
	head := screen.Head(output.Printable(r.product)) + "\n" + comments
	if mean, any := r.counts.Average(); any {
		head += fmt.Sprintf(", %.2f stars on average", mean)
	}
	bars := output.Histogram{}
	for _, row := range r.counts.Ratings() {
		if len(r.filter.Ratings) == 0 || slices.Contains(r.filter.Ratings, row.Rating) {
			bars.Add(starsOf(row.Rating), row.Count)
		}
	}
	out := screen.Fold(head+"\n") + "\n" + bars.On(screen)
	if len(r.languages) > 0 {
		table := output.NewTable("LANGUAGE", "COMMENTS", "SHARE", "AVERAGE")
		for _, row := range r.languages {
			mean, _ := row.counts.Average()
			total := row.counts.Total()
			table.Row(output.Printable(row.name), output.English.Sprint(total), output.Share(total, r.counts.Total()), fmt.Sprintf("%.2f", mean))
		}
		out += "\n" + table.On(screen)
	}
	out += "\n"
	for _, row := range [][2]string{{"latest comment", timeOr(r.latest, "none")}, {"counted up to", r.upToText(now)}} {
		out += screen.Hang(screen.Faint(row[0]), 16, row[1])
	}
	return out
}

// upToText says how fresh the counts are.
func (r rated) upToText(now time.Time) string {
	switch {
	case isDated(r.filter):
		return "now: a range of dates is counted each time"
	case r.upTo == nil:
		return "unknown: talkback stream --status says why"
	}
	return fmt.Sprintf("%s, %s ago", timeText(*r.upTo), lagText(max(0, now.Sub(*r.upTo))))
}

// Explain prints how a page of comments is read.
type Explain struct {
	Product string `help:"Product whose comments are listed." required:"" placeholder:"espresso-machine"`
	FilterFlags
	Order   string `help:"Order of the list: ${enum} (default: ${default})." enum:"newest-first,oldest-first,highest-rated,lowest-rated,most-helpful" default:"newest-first" placeholder:"ORDER"`
	First   int    `help:"Page size, 0 to ${max_page} comments (default: ${default})." default:"20" placeholder:"20"`
	FromEnd bool   `help:"Read the last comments of the list, or those just before --before, instead of the first."`
	After   string `help:"Only comments after this one in the list, as on the next page. In an order by rating or votes, its rating follows, or its helpful votes less the others: ID/5." placeholder:"ID"`
	Before  string `help:"Only comments before this one in the list, given as for --after." placeholder:"ID"`
	Page    int    `help:"Number of the page, from 1; not with a cursor or the end of the list. 0 is no number." placeholder:"N"`
	PagesFlag
}

// Run reads the page like a warm server, which has the product's counts. It prints the plans that
// were considered, the reads that were made, and what they cost, but no comment.
func (c *Explain) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	q, err := c.query()
	if err != nil {
		return usage(err)
	}
	return c.PagesFlag.withStore(ctx, flags, "talkback explain", term, func(store *dynamo.Store) error {
		return c.explain(ctx, store, q, term)
	})
}

func (c *Explain) explain(ctx context.Context, store *dynamo.Store, q comment.Query, term Terminal) error {
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
	_, err = io.WriteString(term.Out, explained(page.Plan(), output.ScreenOf(term.Out)))
	return err
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

// placeOf returns the place of a comment in a list, nil if no id is given.
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
		return nil, fmt.Errorf("%s: give the comment's rating, or its helpful votes less the others, behind a slash (%s/5) in orders by these, and in no other", flag, id)
	}
	if keyed {
		key, err := strconv.ParseInt(number, 10, 32)
		switch {
		case err == nil && order == comment.MostHelpful:
			key = max(0, key) // comments without helpful votes are by date
		case err != nil || comment.CheckRating(int(key)) != nil:
			return nil, fmt.Errorf("%s: %q is no rating from 1 to 5, and no number of votes", flag, number)
		}
		place.Key = int32(key)
	}
	return place, nil
}

// explained formats a plan as tables.
func explained(plan comment.QueryPlan, screen output.Screen) string {
	result := fmt.Sprintf("The page shows %d comments. Waves: %d, calls: %d, scanned: %d, read units: %.1f of at most %.0f, milliseconds: %.1f\n",
		plan.ItemsReturned, plan.Waves, plan.Queries, plan.ItemsRead, plan.ReadUnits, plan.MostUnits, plan.Milliseconds())
	return screen.Fold(positionText(plan)) + plansTable(plan.Candidates, screen.Style).On(screen) + "\n" +
		readsTable(plan, screen.Style).On(screen) + "\n" + screen.Fold(result)
}

// positionText tells what the index of page numbers was asked for, and how a page by number was found; ""
// if there is nothing to tell.
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

func plansTable(candidates []comment.PlanCandidate, style output.Style) *output.Table {
	table := output.NewTable("PLAN", "PARTITIONS", "ESTIMATED UNITS", "PRICE", "")
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

func readsTable(plan comment.QueryPlan, style output.Style) *output.Table {
	table := output.NewTable("READ", "INDEX", "LIMIT", "CALLS", "SCANNED", "RETURNED", "UNITS")
	for _, r := range plan.Reads {
		table.Row(output.Printable(r.PartitionKey), r.Index, strconv.Itoa(r.Limit), strconv.Itoa(r.Queries),
			strconv.Itoa(r.ItemsRead), strconv.Itoa(r.ItemsKept), fmt.Sprintf("%.1f", r.ReadUnits))
	}
	for _, skip := range plan.Skipped {
		table.Row(output.Printable(skip.PartitionKey), skip.Index, style.Faint("skipped: empty at "+skip.AsOf.UTC().Format(time.TimeOnly)))
	}
	return table
}
