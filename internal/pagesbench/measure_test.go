package pagesbench

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
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
	// pageSize is the number of comments on a page.
	pageSize = 10
	// tries, fewTries and fewChanges are the numbers of measurements: of a jump, of OFFSET, which
	// is slow, and of a change, unless the store has its own number.
	tries, fewTries, fewChanges = 15, 5, 40
)

// row is a measurement.
type row struct {
	Comments  int64
	Store     string
	Operation string
	Filter    string
	Page      int64   // 0 if it is no jump
	Time      float64 // in milliseconds, the median; 0 if not measured
	Calls     int64
	Units     float64 // read capacity units
	Written   float64 // write capacity units, the mean, beyond those of counting
	Bytes     int64   // of storage, or read by the process in a jump
}

// Operations.
const (
	jump         = "jump"
	insertHead   = "insert at the head"
	insertMiddle = "insert in the middle"
	remove       = "delete in the middle"
	build        = "build"
	storage      = "storage"
	// overHTTP is a page and the number of comments, as a client gets them.
	overHTTP = "page with its comments and totalCount"
)

// list is a list of comments with its content.
type list struct {
	pageindex.List
	name      string
	positions []comment.Position // in the order of the list
}

// pages returns the pages to jump to.
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

// lists returns lists of the same comments without a filter and under three filters.
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
	return fill(t, named, comments)
}

// traited returns the same comments with traits: of a hundred, about 84 are verified and 7 have a
// picture.
func traited(comments []comment.Comment) []comment.Comment {
	out := slices.Clone(comments)
	for i := range out {
		chance := out[i].ID.Position()
		out[i].Verified = chance[13]%100 < 80
		if chance[12]%100 < 6 {
			out[i].Media = []comment.Media{{Path: "kettle.jpg"}}
		}
	}
	return out
}

// traitLists returns the lists of such comments that have a trait.
func traitLists(t *testing.T, comments []comment.Comment) []list {
	return fill(t, []list{
		{name: "verified", List: pageindex.List{Filter: comment.Filter{Verified: new(true)}}},
		{name: "with media", List: pageindex.List{Filter: comment.Filter{WithMedia: new(true)}}},
	}, comments)
}

// fill adds its content to each list.
func fill(t *testing.T, named []list, comments []comment.Comment) []list {
	for i := range named {
		l := &named[i]
		filter := must.Get(l.Filter.Normalize())(t)
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

// entriesOf returns comments as a build adds them, which reads a product from its oldest comment
// on.
func entriesOf(comments []comment.Comment) []pageindex.Entry {
	sorted := slices.SortedFunc(slices.Values(comments), func(a, b comment.Comment) int { return a.ID.Position().Compare(b.ID.Position()) })
	entries := make([]pageindex.Entry, len(comments))
	for i, c := range sorted {
		entries[i] = pageindex.Entry{Product: c.ProductID, Position: c.ID.Position(), Cell: new(c.Cell()), Follows: follows(i)}
	}
	return entries
}

func follows(n int) stream.Position {
	return stream.PositionOf("2026-11-22T08:00:00.000", strconv.Itoa(n))
}

// measure measures all ways with count comments.
func measure(t *testing.T, count int) (rows []row) {
	comments := planbench.Generate(count, 1)
	lists, entries := lists(t, comments), entriesOf(comments)
	for _, c := range candidates {
		if *only != "" && c.name != *only {
			continue
		}
		if count > mostBuilt && c.written != nil {
			c.open = c.written
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

// mostServed is the largest product for measurements of the whole server and of traits. The local
// engine takes a minute for 100,000 comments.
const mostServed = 100_000

// measureTraits counts the reads of jumps in lists of comments with a trait. Their times show
// nothing new compared with other lists. The comments are in separate stores, so that the other
// figures are without traits. Page markers are written, which is faster than a build.
func measureTraits(t *testing.T, count int) (rows []row) {
	comments := traited(planbench.Generate(count, 1))
	lists, entries := traitLists(t, comments), entriesOf(comments)
	for _, c := range candidates {
		if *only != "" && c.name != *only {
			continue
		}
		if c.written != nil {
			c.open = c.written
		}
		t.Run(fmt.Sprint(c.name, " with traits ", count), func(t *testing.T) {
			store := c.ready(t)
			store.build(t, entries)
			of := row{Comments: int64(count), Store: c.name}
			for _, l := range lists {
				for _, page := range l.pages() {
					r := measureJump(t, store, of, l, page, 1)
					r.Time = 0
					rows = append(rows, r)
				}
			}
		})
	}
	if *only == "" || *only == "rivals" {
		walker := newWalker(t, comments)
		for _, l := range lists {
			rows = append(rows, walker.walk(t, count, l, l.pages())...)
		}
	}
	return rows
}

func measureRivals(t *testing.T, lists []list, comments []comment.Comment, whole wholeRows) (rows []row) {
	walker := newWalker(t, comments)
	for _, l := range lists {
		rows = append(rows, walker.walk(t, len(comments), l, l.pages())...)
		for _, page := range l.pages() {
			rows = append(rows, row{
				Comments: int64(len(comments)), Store: "OFFSET over whole rows", Operation: jump, Filter: l.name, Page: int64(page), Calls: 2,
				Time: median(fewTries, func() { whole.page(t, l, page) }),
			})
		}
	}
	return rows
}

func measureStore(t *testing.T, c candidate, lists []list, entries []pageindex.Entry) (rows []row) {
	store := c.ready(t)
	of := row{Comments: int64(len(entries)), Store: c.name}
	if took := store.build(t, entries); took > 0 {
		rows = append(rows, of.as(build, milliseconds(took)))
	}
	size := of.as(storage, 0)
	size.Bytes = store.size(t)
	rows = append(rows, size)
	for _, l := range lists {
		for _, page := range l.pages() {
			rows = append(rows, measureJump(t, store, of, l, page, tries))
		}
	}
	return append(rows, measureChanges(t, store, of, entries)...)
}

// ready opens a store that can be built.
func (c candidate) ready(t *testing.T) subject {
	store := c.open(t)
	if store.build == nil {
		store.build = store.buildAnew
	}
	return store
}

// buildAnew builds a store as a rebuild does.
func (store subject) buildAnew(t *testing.T, entries []pageindex.Entry) time.Duration {
	return timed(func() {
		b := must.Get(store.Build(t.Context()))(t)
		for part := range slices.Chunk(entries, 1000) {
			must.Do(t, b.Add(t.Context(), part))
		}
		must.Do(t, b.Finish(t.Context(), "measured"))
	})
}

// as returns the row of an operation and its time.
func (r row) as(operation string, time float64) row {
	r.Operation, r.Time = operation, time
	return r
}

// measureJump finds the beginning of a page several times.
func measureJump(t *testing.T, store pageindex.Index, of row, l list, page, tries int) row {
	t.Helper()
	rank := (page - 1) * pageSize
	r := of.as(jump, 0)
	r.Filter, r.Page = l.name, int64(page)
	r.Time = median(tries, func() {
		before := bytesRead()
		found := must.Get(store.Find(t.Context(), l.List, []pageindex.Target{{Rank: rank}}))(t)
		r.Bytes = max(r.Bytes, bytesRead()-before-bytesOfAsking)
		r.Calls, r.Units = int64(found.Cost.Calls), found.Cost.ReadUnits
		l.check(t, found, rank)
	})
	return r
}

// check fails if the found place does not fit its rank in the list.
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

// settled is the time by which comments at the head are dated ahead. A new index in the table
// treats comments of the next minute as comments in the middle.
const settled = 2 * time.Minute

// orderOfChanges returns the order in which comments are changed: anywhere in the list.
func orderOfChanges(comments int) []int { return rand.New(rand.NewPCG(1, 1)).Perm(comments) }

// measureChanges applies single entries: a newest comment, a comment anywhere in the list, and the
// removal of a comment anywhere.
func measureChanges(t *testing.T, store subject, of row, entries []pageindex.Entry) []row {
	changes := min(cmp.Or(store.changes, fewChanges), len(entries)/8)
	random := orderOfChanges(len(entries))
	newest, at, last := time.Now().Add(settled), -1, len(entries)
	change := func(operation string, entry func() pageindex.Entry) row {
		r, before := of.as(operation, 0), store.writtenUnits()
		r.Time = median(changes, func() {
			e := entry()
			last++
			e.Follows = follows(last)
			must.Do(t, store.Apply(t.Context(), []pageindex.Entry{e}))
		})
		r.Written = (store.writtenUnits() - before) / float64(changes)
		return r
	}
	anywhere := func() pageindex.Entry { at++; return entries[random[at]] }
	rows := []row{
		change(insertHead, func() pageindex.Entry {
			e := anywhere()
			newest = newest.Add(time.Second)
			e.Position = comment.PositionAt(newest, [10]byte(e.Position[6:]))
			return e
		}),
		change(insertMiddle, func() pageindex.Entry { e := anywhere(); e.Position = e.Position.Next(); return e }),
		change(remove, func() pageindex.Entry { e := anywhere(); e.Cell = nil; return e }),
	}
	found, err := store.Find(t.Context(), pageindex.List{Product: entries[0].Product}, nil)
	if total := found.Counts.Total(); err != nil || total != len(entries)+changes {
		t.Fatalf("after all changes there are %d comments (%v), want %d", total, err, len(entries)+changes)
	}
	return rows
}

func (store subject) writtenUnits() float64 {
	if store.units == nil {
		return 0
	}
	return store.units()
}

// bytesOfAsking is the number of bytes that a call of bytesRead itself reads.
var bytesOfAsking = func() int64 { before := bytesRead(); return bytesRead() - before + 32 }() // the answer grows by some digits

// bytesRead returns the number of bytes that this process has read from files and connections, 0 if
// the system does not report it.
func bytesRead() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err == nil {
		_, _ = fmt.Sscanf(string(text), "rchar: %d", &n)
	}
	return n
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

// Every test run measures few comments, so that all ways keep working and find the right places.
func TestSmall(t *testing.T) {
	checkReport(t, append(measure(t, 600), measureTraits(t, 600)...))
}

// Written page markers equal built ones: they take as much storage, and jumps cost the same. Both
// accept the same changes, and find the right places.
func TestWrittenMarkers(t *testing.T) {
	comments := planbench.Generate(600, 1)
	lists, entries := lists(t, comments), entriesOf(comments)
	var rows [2][]row
	for i, open := range []func(*testing.T) subject{openMarkers, openWrittenMarkers} {
		few := func(t *testing.T) subject { o := open(t); o.changes = 4; return o }
		rows[i] = measureStore(t, candidate{name: "markers", open: few}, lists, entries)
	}
	for i, written := range rows[1] {
		built := rows[0][i+1] // after the build
		if of := written.Operation; of != built.Operation || built.Calls != written.Calls || built.Units != written.Units || of == storage && differ(built.Bytes, written.Bytes) {
			t.Errorf("built: %+v, written: %+v", built, written)
		}
	}
}

// differ reports whether two sizes differ by more than a hundredth.
func differ(a, b int64) bool { return a-b > a/100 || b-a > b/100 }

// TestMeasure is `make bench-pages`.
func TestMeasure(t *testing.T) {
	if *measureCounts == "" {
		t.Skip("`make bench-pages` measures")
	}
	var rows []row
	most := 0 // of measurements with traits
	for _, text := range strings.Split(*measureCounts, ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 300 {
			t.Fatalf("-counts %s: give numbers of comments from 300, such as 1000,100000", *measureCounts)
		}
		rows = append(rows, measure(t, count)...)
		if t.Failed() {
			return
		}
		write(t, rows) // the next number takes longer
		if count <= mostServed {
			most = max(most, count)
		}
	}
	if most > 0 {
		rows = append(rows, measureTraits(t, most)...)
	}
	if !t.Failed() {
		write(t, rows)
	}
}
