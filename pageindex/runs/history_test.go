package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/pageindex"
)

// world is a table with the index of one product, and the markers that it must agree with.
type world struct {
	r         *rand.Rand
	markers   markers
	sorted    []comment.Position // of the markers
	head      Head
	directory []byte
	log       map[uint64][]byte
	chunks    map[Key][]byte
	// far is the distance between comments: 1 for all in one millisecond.
	far       int
	languages []comment.Language
	// traits gives comments traits.
	traits bool
	// merged and torn count the merges that succeeded and gave up, split the runs that they split,
	// and ended the chunks left by merges that ended early.
	merged, torn, split, ended int
	// past are some earlier moments.
	past []moment
}

// markers are the cells that comments are counted in, with which all else must agree.
type markers map[comment.Position]comment.Cell

// counts returns the counts of all comments.
func (m markers) counts() comment.Stats {
	counts := comment.Stats{}
	for _, cell := range m {
		counts.Add(cell, 1)
	}
	return counts
}

// all returns the positions in ascending order.
func (m markers) all() []comment.Position {
	return slices.SortedFunc(maps.Keys(m), comment.Position.Compare)
}

// moment is the readable state at some moment.
type moment struct {
	head      Head
	directory Directory
	log       []Entry
	markers   markers
	sorted    []comment.Position
}

func newWorld(r *rand.Rand) *world {
	w := &world{r: r, markers: markers{}, log: map[uint64][]byte{}, chunks: map[Key][]byte{}}
	w.far, w.languages = []int{1, 50, 1e9}[r.IntN(3)], someLanguages
	w.traits = r.IntN(2) == 0
	if r.IntN(3) == 0 { // more than the rows of the directory
		w.languages = commenttest.ManyLanguages(comment.MaxLanguageRows * 3 / 2)
	}
	// A product may have been counted before it has an index.
	before := []int{0, 10, 3000}[r.IntN(3)]
	if len(w.languages) > comment.MaxLanguageRows {
		before = 3000
	}
	for range before {
		w.markers[w.somewhere()] = w.someCell()
	}
	highest := comment.Position{}
	if w.sorted = w.markers.all(); len(w.sorted) > 0 {
		highest = w.sorted[len(w.sorted)-1]
	}
	w.head = Start(w.markers.counts(), highest, begun)
	return w
}

func (w *world) somewhere() comment.Position {
	p := comment.FirstAt(begun.Add(time.Duration(w.r.IntN(w.far)) * time.Millisecond))
	binary.BigEndian.PutUint64(p[8:], w.r.Uint64())
	return p
}

func (w *world) someCell() comment.Cell {
	cell := comment.Cell{Language: w.languages[w.r.IntN(len(w.languages))], Rating: 1 + w.r.IntN(comment.MaxRating)}
	if w.traits {
		cell.Traits = comment.Traits(w.r.IntN(comment.TraitSets))
		if w.r.IntN(2) == 0 {
			cell.Traits = 0
		}
	}
	return cell
}

// commit counts a transaction's changes: new comments anywhere or above all others, edits and
// deletes.
func (w *world) commit() {
	var at []comment.Position
	kind, size := w.r.IntN(6), 1+w.r.IntN(100)
	there := w.sorted
	for range size {
		switch {
		case kind < 2 || len(there) == 0:
			at = append(at, w.somewhere())
		case kind == 2: // above all others
			last := there[len(there)-1]
			binary.BigEndian.PutUint64(last[:8], binary.BigEndian.Uint64(last[:8])+uint64(len(at)+1))
			at = append(at, last)
		default:
			at = append(at, there[w.r.IntN(len(there))])
		}
	}
	slices.SortFunc(at, comment.Position.Compare)
	var changes []Change
	for _, p := range slices.Compact(at) {
		c := Change{Position: p}
		if cell, found := w.markers[p]; found {
			c.From = &cell
		}
		if cell := w.someCell(); c.From == nil || kind < 4 {
			c.To = &cell
		}
		if delete(w.markers, p); c.To != nil {
			w.markers[p] = *c.To
		}
		changes = append(changes, c)
	}
	w.apply(changes)
	w.sorted = w.markers.all()
}

func (w *world) apply(changes []Change) {
	var entry *Entry
	if w.head, entry = w.head.Apply(changes); entry != nil {
		w.log[entry.Number] = entry.Encode()
	}
}

// removeMost deletes nine of ten comments, so that runs and chunks are joined.
func (w *world) removeMost() {
	var changes []Change
	for i, p := range w.sorted {
		if cell := w.markers[p]; i%10 != 0 {
			changes = append(changes, Change{Position: p, From: &cell})
			delete(w.markers, p)
		}
	}
	for part := range slices.Chunk(changes, 90) {
		w.apply(part)
	}
	w.sorted = w.markers.all()
}

// read returns the parts of the index as they are now.
func (w *world) read() (Head, Directory, []Entry) {
	head, err := DecodeHead(w.head.Encode())
	directory, err2 := DecodeDirectory(w.directory)
	var log []Entry
	for _, number := range slices.Sorted(maps.Keys(w.log)) {
		entry, err := DecodeEntry(number, w.log[number])
		log, err2 = append(log, entry), errors.Join(err2, err)
	}
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	return head, directory, log
}

func (w *world) markersIn(r Range) []Marker {
	var out []Marker
	for p, cell := range w.markers {
		if p.Compare(r.From) >= 0 && p.Compare(r.Last) <= 0 {
			out = append(out, Marker{Position: p, Cell: cell})
		}
	}
	return out
}

// merge runs one merge, step by step. Between any two steps others commit and merge, and the merge
// may end after each.
func (w *world) merge() iter.Seq[string] {
	return func(yield func(string) bool) {
		err := w.mergeSteps(yield)
		switch {
		case err == nil:
		case errors.Is(err, ErrTorn):
			w.torn++
		default:
			panic(err)
		}
	}
}

var errEnded = fmt.Errorf("ended: %w", ErrTorn)

func (w *world) mergeSteps(step func(string) bool) error {
	head, directory, log := w.read()
	m, err := NewMerge(head, directory, log)
	if err != nil || m.Empty() || m.Postponed() && w.r.IntN(2) == 0 {
		return err
	}
	if !step("read chunks") {
		return errEnded
	}
	for _, key := range m.Chunks() {
		chunk, err := DecodeChunk(w.chunks[key])
		if err := errors.Join(err, m.Load(key, chunk)); err != nil {
			return fmt.Errorf("%w: %w", ErrTorn, err)
		}
	}
	var read [][]Marker
	for _, r := range m.Unsplit() {
		// A query sees some comments before a transaction, and others after it.
		if !step("read some markers") {
			return errEnded
		}
		first := w.markersIn(r)
		middle := w.somewhere()
		if !step("read the other markers") {
			return errEnded
		}
		below := func(m Marker) bool { return m.Position.Compare(middle) < 0 }
		second := slices.DeleteFunc(w.markersIn(r), below)
		first = slices.DeleteFunc(first, func(m Marker) bool { return !below(m) })
		read = append(read, append(first, second...))
	}
	if !step("read the log again") {
		return errEnded
	}
	afterwards, _, later := w.read()
	for i, r := range m.Unsplit() {
		if err := m.Split(r, read[i], afterwards, later); err != nil {
			if _, now, _ := w.read(); now.Version == directory.Version {
				panic(fmt.Sprintf("no other merge was first, and yet: %v", err))
			}
			return err
		}
		w.split++
	}
	return w.write(m, step)
}

func (w *world) write(m *Merge, step func(string) bool) error {
	others := func(key Key) bool { return key.Version != m.before.Version }
	for _, key := range m.Leftover(slices.DeleteFunc(slices.Collect(maps.Keys(w.chunks)), others)) {
		delete(w.chunks, key)
	}
	result := m.Result(w.r.Uint32())
	for key, chunk := range result.Chunks {
		w.chunks[key] = chunk.Encode()
		if !step("write the next chunk, or the directory") {
			w.ended++
			return errEnded
		}
	}
	if now, _ := DecodeDirectory(w.directory); now.Version != m.before.Version {
		for key := range result.Chunks {
			delete(w.chunks, key)
		}
		return fmt.Errorf("another merge was first: %w", ErrTorn)
	}
	w.directory = result.Directory.Encode()
	w.merged++
	if !step("delete entries") {
		return errEnded
	}
	maps.DeleteFunc(w.log, func(number uint64, _ []byte) bool { return number <= result.Directory.Merged })
	return nil
}

// now returns the present state.
func (w *world) now() moment {
	head, directory, log := w.read()
	return moment{head, directory, log, w.markers, w.sorted}
}

// find looks targets up like a reader that read these parts.
func (w *world) find(m moment, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	view, err := NewView(m.head, m.directory, m.log)
	if err != nil {
		return pageindex.Found{}, err
	}
	for {
		found, needs := view.Locate(list, targets)
		if needs.None() || needs.Unsplit {
			return found, nil
		}
		for _, key := range needs.Chunks {
			chunk, err := DecodeChunk(w.chunks[key])
			if err := errors.Join(err, view.Load(key, chunk)); err != nil {
				return pageindex.Found{}, err
			}
		}
		for _, r := range needs.Markers {
			if err := view.Reveal(r, w.markersIn(r)); err != nil {
				return pageindex.Found{}, err
			}
		}
	}
}

// list returns the comments of a list, and their numbers by rating.
func (m moment) list(list pageindex.List) (positions []comment.Position, counts comment.Counts) {
	for _, p := range m.sorted {
		cell := m.markers[p]
		low, high := list.Filter.Range()
		if list.Filter.AllowsCell(cell) && p.Compare(low) >= 0 && p.Compare(high) <= 0 {
			positions = append(positions, p)
			counts.Add(cell, 1)
		}
	}
	if list.Order == comment.NewestFirst {
		slices.Reverse(positions)
	}
	return positions, counts
}

// check looks up random targets in a random list, and compares with the markers.
func (w *world) check(t *testing.T) {
	t.Helper()
	list := w.someList()
	now := w.now()
	want, _ := now.list(list)
	w.compare(t, now, list, w.someTargets(want), false)
}

// checkTorn is check with a head from another moment than the directory and the log. The lookup
// either reports that they do not fit, or answers for the head's moment. It reads no markers, since
// only their sum shows whether they fit.
func (w *world) checkTorn(t *testing.T) {
	t.Helper()
	mixed, other := w.now(), w.past[w.r.IntN(len(w.past))]
	if w.r.IntN(2) == 0 {
		mixed, other = other, mixed
	}
	mixed.directory, mixed.log = other.directory, other.log
	list := w.someList()
	list.Filter.CreatedAfter, list.Filter.CreatedBefore = nil, nil
	w.compare(t, mixed, list, []pageindex.Target{{Rank: w.r.IntN(len(mixed.markers) + 1)}}, true)
}

func (w *world) compare(t *testing.T, m moment, list pageindex.List, targets []pageindex.Target, torn bool) {
	t.Helper()
	want, counts := m.list(list)
	found, err := w.find(m, list, targets)
	if torn && err != nil {
		return
	}
	if err != nil {
		t.Fatalf("%+v: %v", list, err)
	}
	if found.Boundaries == nil { // a run has to be split first
		return
	}
	if found.Counts != counts {
		t.Fatalf("%+v has %v, want %v", list, found.Counts, counts)
	}
	for i, target := range targets {
		checkBoundary(t, list, want, target, found.Boundaries[i])
	}
}

func checkBoundary(t *testing.T, list pageindex.List, want []comment.Position, target pageindex.Target, got pageindex.Boundary) {
	t.Helper()
	before := 0
	for _, p := range want {
		if got.After != nil && (list.Order == comment.OldestFirst && p.Compare(*got.After) <= 0 || list.Order == comment.NewestFirst && p.Compare(*got.After) >= 0) {
			before++
		}
	}
	rank := min(target.Rank, len(want))
	behind := target.Size > 0 && got.Rank > rank && !target.Exact
	switch {
	case got.Rank != before:
		t.Fatalf("%+v: the boundary at %v has rank %d, want %d", list, got.After, got.Rank, before)
	case target.At != nil && (got.After == nil || *got.After != *target.At):
		t.Fatalf("%+v: got the boundary behind %v, want %v", list, got.After, target.At)
	case target.At == nil && !behind && (got.Rank > rank || target.Exact && got.Rank != rank || rank == 0 && got.After != nil):
		t.Fatalf("%+v: got the boundary %+v, want rank %d, exact: %v", list, got, rank, target.Exact)
	case target.At == nil && rank-got.Rank > MaxReadable:
		t.Fatalf("%+v: %d comments are to be skipped", list, rank-got.Rank)
	}
}

func (w *world) someList() pageindex.List {
	list := pageindex.List{Order: comment.NewestFirst}
	if w.r.IntN(2) == 0 {
		list.Order = comment.OldestFirst
	}
	for range w.r.IntN(4) {
		list.Filter.Languages = append(list.Filter.Languages, w.languages[w.r.IntN(len(w.languages))])
	}
	slices.Sort(list.Filter.Languages)
	list.Filter.Languages = slices.Compact(list.Filter.Languages)
	for rating := range comment.MaxRating - 1 {
		if w.r.IntN(4) == 0 {
			list.Filter.Ratings = append(list.Filter.Ratings, rating+1)
		}
	}
	if w.r.IntN(3) == 0 {
		list.Filter.Verified = new(w.r.IntN(2) == 0)
	}
	if w.r.IntN(3) == 0 {
		list.Filter.CreatedAfter = new(w.somewhere().Time())
	}
	if w.r.IntN(3) == 0 {
		before := w.somewhere().Time().Add(time.Millisecond)
		if list.Filter.CreatedAfter == nil || before.After(*list.Filter.CreatedAfter) {
			list.Filter.CreatedBefore = &before
		}
	}
	return list
}

func (w *world) someTargets(list []comment.Position) []pageindex.Target {
	var out []pageindex.Target
	for range w.r.IntN(4) {
		at := w.somewhere()
		if len(list) > 0 && w.r.IntN(2) == 0 {
			at = list[w.r.IntN(len(list))]
		}
		rank := w.r.IntN(len(list)*11/10 + 2)
		out = append(out, [][]pageindex.Target{{{Rank: rank}}, {{Rank: rank, Size: 1 + w.r.IntN(100)}}, {{Rank: rank, Exact: true}}, {{At: &at}}}[w.r.IntN(4)]...)
	}
	return out
}

// Whatever is committed between the steps of merges, and wherever merges end, every rank is right.
func TestEveryRankIsRightInEveryHistory(t *testing.T) {
	r := commenttest.Rand(t)
	var merged, torn, split, lookups, shared int
	const steps = 250
	for range commenttest.Times(12, 600) {
		w := newWorld(r)
		var merges []func() (string, bool)
		var stops []func()
		for range steps {
			switch action := r.IntN(10); {
			case action < 3:
				w.commit()
			case action == 3 && len(merges) < 2:
				next, stop := iter.Pull(w.merge())
				merges, stops = append(merges, next), append(stops, stop)
			case len(merges) > 0:
				i := r.IntN(len(merges))
				_, more := merges[i]()
				if !more || r.IntN(60) == 0 {
					stops[i]()
					merges, stops = slices.Delete(merges, i, i+1), slices.Delete(stops, i, i+1)
				}
			}
			if r.IntN(300) == 0 {
				w.removeMost()
			}
			if r.IntN(20) == 0 {
				now := w.now()
				now.markers = maps.Clone(w.markers)
				w.past = append(w.past[max(0, len(w.past)-3):], now)
			}
			w.check(t)
			if len(w.past) > 0 {
				w.checkTorn(t)
			}
			lookups++
		}
		for _, stop := range stops {
			stop()
		}
		w.settle(t)
		merged, torn, split = merged+w.merged, torn+w.torn, split+w.split
		if view, err := NewView(w.read()); err == nil && view.shared {
			shared++
		}
	}
	t.Logf("%d lookups, %d merges, %d others ended early or were late, %d runs split; languages shared a row in %d histories", lookups, merged, torn, split, shared)
}

// settle merges alone, and checks the result.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 3 {
		w.commit()
		for range w.merge() {
		}
	}
	w.check(t)
	_, d, log := w.read()
	if len(log) > 0 && log[len(log)-1].Number <= d.Merged {
		t.Errorf("entry %d is left, and %d is merged", log[0].Number, d.Merged)
	}
	if left := len(w.chunks) - len(d.References) - len(d.Replaced); left > w.ended*40 || w.ended == 0 && left > 0 {
		t.Errorf("%d chunks are left, and %d merges ended while they wrote chunks", left, w.ended)
	}
	bytes := 0
	for _, ref := range d.References {
		if chunk := w.chunks[ref.Key]; len(chunk) != ref.Bytes || len(chunk) > chunkBytes {
			t.Errorf("chunk %s has %d bytes, want %d", ref.Key, len(chunk), ref.Bytes)
		}
		bytes += ref.Bytes
	}
	if len(w.markers) > 5000 && len(w.languages) < 10 && bytes > 40*len(w.markers)/runSize*2 {
		t.Errorf("%d comments take %d bytes in %d chunks", len(w.markers), bytes, len(d.References))
	}
}

// A directory with a wrong sum for a chunk does not fit the chunk.
func TestWrongSum(t *testing.T) {
	run := Run{From: comment.Position{}, End: comment.Position{1}, Counts: comment.Stats{"de": {Counts: comment.Counts{0, 0, 3}}}}
	view := View{rows: map[comment.Language]bool{}}
	view.addDirectory(Directory{References: []Reference{{Run: Run{From: run.From, End: run.End, Counts: comment.Stats{"de": {Counts: comment.Counts{0, 0, 4}}}}}}})
	if err := view.Load(Key{}, Chunk{Runs: []Run{run}}); !errors.Is(err, ErrTorn) {
		t.Error(err)
	}
}
