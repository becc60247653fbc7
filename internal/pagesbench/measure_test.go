package pagesbench

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/planbench"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

var (
	measureCounts = flag.String("counts", "", "numbers of comments to measure with, such as 1000,100000")
	only          = flag.String("store", "", "measure this store alone, or the rivals alone")
	out           = flag.String("out", "", "write the table to this file with .csv, and the plot with .svg")
)

func TestMain(m *testing.M) {
	flag.Parse()
	status := dynamotest.Run(m)
	postgrestest.Stop()
	os.Exit(status)
}

const (
	// pageSize is how many comments a page shows.
	pageSize = 10
	// tries is how often a jump is measured, fewTries how often OFFSET is, which takes long, and
	// changes how often a change is.
	tries, fewTries, changes = 15, 5, 40
)

// row is a figure.
type row struct {
	Comments  int
	Store     string
	Operation string
	Filter    string
	Page      int     // 0 for what is no jump
	Time      float64 // in milliseconds, the median; 0 where it was not measured
	Calls     float64
	Units     float64 // read capacity units
	Bytes     int64
}

// Operations.
const (
	jump    = "jump"
	head    = "insert at the head"
	middle  = "insert in the middle"
	remove  = "delete in the middle"
	build   = "build"
	storage = "storage"
	// overHTTP is a page and the number of comments, as a client gets them.
	overHTTP = "page with its comments and totalCount"
)

// list is a list of comments and what it holds.
type list struct {
	pageindex.List
	name      string
	positions []comment.Position // in the order of the list
}

// pages are the pages to jump to.
func (l list) pages() []int {
	last := (len(l.positions)-1)/pageSize + 1
	pages := []int{1, 10, 1000, last}
	pages = slices.DeleteFunc(pages, func(page int) bool { return page > last })
	slices.Sort(pages)
	return slices.Compact(pages)
}

func (l list) page(n int) []comment.Position {
	from := (n - 1) * pageSize
	return l.positions[from:min(from+pageSize, len(l.positions))]
}

// lists are the same comments under no filter and under three.
func lists(t *testing.T, comments []comment.Comment) []list {
	from, to := time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	named := []list{
		{name: "none"},
		{name: "4 and 5 stars", List: pageindex.List{Filter: comment.Filter{Ratings: []int{4, 5}}}},
		{name: "German, 4 and 5 stars", List: pageindex.List{Filter: comment.Filter{Languages: []comment.Language{"de"}, Ratings: []int{4, 5}}}},
		{name: "German, 4 and 5 stars, 19 months", List: pageindex.List{Filter: comment.Filter{
			Languages: []comment.Language{"de"}, Ratings: []int{4, 5}, CreatedAfter: &from, CreatedBefore: &to,
		}}},
	}
	for i := range named {
		l := &named[i]
		filter, err := l.Filter.Normalize()
		if err != nil {
			t.Fatal(err)
		}
		l.Product, l.Filter, l.Order = comments[0].ProductID, filter, comment.NewestFirst
		for _, c := range comments {
			if filter.Allows(c) {
				l.positions = append(l.positions, c.ID.Position())
			}
		}
		slices.SortFunc(l.positions, func(a, b comment.Position) int { return b.Compare(a) })
	}
	return named
}

// entriesOf are comments as a build adds them.
func entriesOf(comments []comment.Comment) []pageindex.Entry {
	entries := make([]pageindex.Entry, len(comments))
	for i, c := range comments {
		cell := c.Cell()
		entries[i] = pageindex.Entry{Product: c.ProductID, Position: c.ID.Position(), Cell: &cell, Follows: follows(i)}
	}
	return entries
}

func follows(n int) stream.Position {
	return stream.PositionOf("2026-11-22T08:00:00.000", strconv.Itoa(n))
}

// measure measures all ways with so many comments.
func measure(t *testing.T, count int) (rows []row) {
	comments := planbench.Generate(count, 1)
	lists, entries := lists(t, comments), entriesOf(comments)
	for _, c := range candidates {
		if *only != "" && c.name != *only {
			continue
		}
		if c.most > 0 && count > c.most {
			t.Logf("%s is not measured with %d comments", c.name, count)
			continue
		}
		t.Run(fmt.Sprint(c.name, " ", count), func(t *testing.T) {
			began := time.Now()
			rows = append(rows, measureStore(t, c, lists, entries)...)
			t.Logf("%s with %d comments: %v", c.name, count, time.Since(began).Round(time.Second))
		})
	}
	if *only != "" && *only != "rivals" {
		return rows
	}
	t.Run(fmt.Sprint("rivals ", count), func(t *testing.T) {
		whole := newWholeRows(t, comments)
		rows = append(rows, measureRivals(t, lists, comments, whole)...)
		if count <= mostServed {
			rows = append(rows, measureServed(t, lists[1], comments, whole)...)
		}
	})
	return rows
}

// mostServed is the largest product that the whole server is measured with: the local engine takes
// a minute for 100,000 comments.
const mostServed = 100_000

func measureRivals(t *testing.T, lists []list, comments []comment.Comment, whole wholeRows) (rows []row) {
	walker := newWalker(t, comments)
	for _, l := range lists {
		rows = append(rows, walker.walk(t, len(comments), l, l.pages())...)
		for _, page := range l.pages() {
			rows = append(rows, row{
				Comments: len(comments), Store: "OFFSET over whole rows", Operation: jump, Filter: l.name, Page: page, Calls: 2,
				Time: median(fewTries, func() { whole.page(t, l, page) }),
			})
		}
	}
	return rows
}

func measureStore(t *testing.T, c candidate, lists []list, entries []pageindex.Entry) (rows []row) {
	store, began := c.open(t), time.Now()
	b, err := store.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(entries, 1000) {
		if err := b.Add(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(t.Context(), "measured"); err != nil {
		t.Fatal(err)
	}
	of := row{Comments: len(entries), Store: c.name}
	rows = append(rows, of.as(build, milliseconds(time.Since(began))))
	if store.size != nil {
		size := of.as(storage, 0)
		size.Bytes = store.size(t)
		rows = append(rows, size)
	}
	for _, l := range lists {
		for _, page := range l.pages() {
			rows = append(rows, measureJump(t, store, of, l, page))
		}
	}
	return append(rows, measureChanges(t, store, of, entries)...)
}

// as returns the row of an operation and its time.
func (r row) as(operation string, time float64) row {
	r.Operation, r.Time = operation, time
	return r
}

// measureJump finds the beginning of a page.
func measureJump(t *testing.T, store pageindex.Index, of row, l list, page int) row {
	t.Helper()
	rank := (page - 1) * pageSize
	r := of.as(jump, 0)
	r.Filter, r.Page = l.name, page
	r.Time = median(tries, func() {
		found, err := store.Find(t.Context(), l.List, []pageindex.Target{{Rank: rank}})
		if err != nil {
			t.Fatal(err)
		}
		r.Calls, r.Units = float64(found.Cost.Calls), found.Cost.ReadUnits
		l.check(t, found, rank)
	})
	return r
}

// check fails if the place is not between the comments that its rank says.
func (l list) check(t *testing.T, found pageindex.Found, rank int) {
	t.Helper()
	b := found.Boundaries[0]
	before := 0
	if b.After != nil {
		before, _ = slices.BinarySearchFunc(l.positions, *b.After, func(p, after comment.Position) int {
			if p.Compare(after) >= 0 {
				return -1
			}
			return 1
		})
	}
	if b.Rank > rank || b.Rank != before || found.Counts.Total() != len(l.positions) {
		t.Fatalf("rank %d of %s is found at %d, after %d of %d comments", rank, l.name, b.Rank, before, found.Counts.Total())
	}
}

// measureChanges applies single entries: the newest comment, one in the middle, and the removal of
// one in the middle.
func measureChanges(t *testing.T, store pageindex.Store, of row, entries []pageindex.Entry) []row {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b pageindex.Entry) int { return a.Position.Compare(b.Position) })
	n := len(entries)
	apply := func(position comment.Position, cell *comment.Cell) {
		n++
		entry := pageindex.Entry{Product: entries[0].Product, Position: position, Cell: cell, Follows: follows(n)}
		if err := store.Apply(t.Context(), []pageindex.Entry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	newest, at := sorted[len(sorted)-1].Position, len(sorted)/2
	return []row{
		of.as(head, median(changes, func() { newest = newest.Next(); apply(newest, entries[0].Cell) })),
		of.as(middle, median(changes, func() { at++; apply(sorted[at].Position.Next(), entries[0].Cell) })),
		of.as(remove, median(changes, func() { at--; apply(sorted[at].Position, nil) })),
	}
}

// median returns the median time of some runs in milliseconds.
func median(runs int, run func()) float64 {
	times := make([]time.Duration, runs)
	for i := range times {
		times[i] = timed(run)
	}
	return middleOf(times)
}

func timed(run func()) time.Duration {
	began := time.Now()
	run()
	return time.Since(began)
}

// middleOf returns the median of some times in milliseconds.
func middleOf(times []time.Duration) float64 {
	slices.Sort(times)
	return milliseconds(times[len(times)/2])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Few comments are measured at every test, so that all ways go on working and find what they should.
func TestSmall(t *testing.T) {
	checkReport(t, measure(t, 600))
}

// TestMeasure is `make bench-pages`.
func TestMeasure(t *testing.T) {
	if *measureCounts == "" {
		t.Skip("`make bench-pages` measures")
	}
	var rows []row
	for _, text := range strings.Split(*measureCounts, ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 300 {
			t.Fatalf("-counts %s: give numbers of comments from 300, such as 1000,100000", *measureCounts)
		}
		rows = append(rows, measure(t, count)...)
		write(t, rows) // what comes next takes longer
	}
}
