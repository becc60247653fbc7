package dynamo

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// The change number of a product rises with each change. It never falls, even after the product was
// forgotten, or one with an early change after one with a late change.
func TestNumbersOfChanges(t *testing.T) {
	c := newChanges()
	numbers := []uint64{c.number("42")}
	change := func(product string) {
		c.note(product, time.Unix(1, 0))
		numbers = append(numbers, c.number("42"))
	}
	change("42")
	change("43")
	change("42")
	for other := range remembered {
		c.note("other "+strconv.Itoa(other), time.Unix(2, 0))
	}
	if c.products.Contains("42") {
		t.Fatal("it is still remembered")
	}
	numbers = append(numbers, c.number("42"))
	change("42")
	for i, rises := range []bool{true, false, true, false, true} {
		before, after := numbers[i], numbers[i+1]
		if after < before || rises && after == before {
			t.Errorf("numbers %v", numbers)
		}
	}
	c = newChanges()
	c.note("early", time.Unix(1, 0))
	c.note("late", time.Unix(2, 0))
	c.products.Remove("late") // as if it were the one that was asked for least recently
	c.products.Remove("early")
	if got := c.number("42"); got != 2 {
		t.Errorf("number %d after two changes", got)
	}
}

// What changed is remembered for long: the product, and the cells of its comments. It keeps nothing
// else in memory of the answer in which it came.
func TestChangedProductsAreKeptAlone(t *testing.T) {
	const answers, size = 32, 1 << 20
	c, m, remembered := newChanges(), newMoves(), newMemory(nil, 0, newChanges(), nil)
	for what, note := range map[string]func(product string, cell comment.Cell){
		"changes": func(product string, _ comment.Cell) { c.note(product, time.Unix(1, 0)) },
		"moves": func(product string, cell comment.Cell) {
			m.note(product, move{at: time.Unix(1, 0), from: cell, to: comment.Cell{Language: cell.Language, Rating: 2}})
		},
		"newest comments": func(product string, cell comment.Cell) {
			stats := comment.Stats{}
			stats.Add(comment.Cell{Language: "de", Rating: 1}, 1)
			remembered.products.Add(strings.Clone(product), recollection{stats: stats, newest: new(layout.Bounds)})
			remembered.noteChange(product, comment.Position{}, &cell)
		},
	} {
		before := commenttest.Heap()
		for i := range answers {
			answer := strings.Repeat(fmt.Sprintf("%02dde", i), size/4)
			note(answer[:2], comment.Cell{Language: comment.Language(answer[2:4]), Rating: 1})
		}
		if grown := commenttest.Heap() - before; grown > answers*size/4 {
			t.Errorf("%s of %d answers keep %d bytes in memory", what, answers, grown)
		}
	}
	runtime.KeepAlive([]any{c, m, remembered})
}

// lagging is a table of product 42 in memory. A comment may be edited before each of its Queries. A
// Query sees its index as it was up to lag edits ago, and each Query has its own lag.
type lagging struct {
	client
	lag  int
	edit func() // between reads

	mu     sync.Mutex
	random *rand.Rand
	states []map[comment.ID]comment.Comment // after each edit, the first before any
}

func (l *lagging) now() map[comment.ID]comment.Comment { return l.states[len(l.states)-1] }

func (l *lagging) put(c comment.Comment) {
	next := maps.Clone(l.now())
	next[c.ID] = c
	l.states = append(l.states, next)
}

// UpdateItem implements client. It applies an update as layout.Update writes it.
func (l *lagging) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	it := layout.Encode(l.now()[layout.IDOfKey(in.Key)])
	set, remove, _ := strings.Cut(*in.UpdateExpression, "REMOVE ")
	for _, part := range strings.Split(strings.TrimPrefix(strings.TrimSpace(set), "SET "), ", ") {
		if attr, value, found := strings.Cut(part, " = "); found {
			it[attr] = in.ExpressionAttributeValues[value]
		}
	}
	for _, attr := range strings.Split(remove, ", ") {
		delete(it, attr)
	}
	c, err := layout.Decode(it)
	l.put(c)
	return &dynamodb.UpdateItemOutput{}, err
}

func (l *lagging) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c, err := layout.Decode(in.Item)
	l.put(c)
	return &dynamodb.PutItemOutput{}, err
}

// BatchGetItem implements client. Its reads are consistent.
func (l *lagging) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	table := warehouse{comments: slices.Collect(maps.Values(l.now()))}
	return table.BatchGetItem(ctx, in)
}

// seen returns the comments that an index shows after another edit.
func (l *lagging) seen() []comment.Comment {
	l.edit()
	return slices.Collect(maps.Values(l.states[max(0, len(l.states)-1-l.random.IntN(l.lag+1))]))
}

// Find implements pageindex.Index. Its page numbers lag too.
func (l *lagging) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	index := conformance.NewModel()
	for _, c := range l.seen() {
		entry := pageindex.Entry{Product: "42", Position: c.ID.Position(), Cell: new(c.Cell()), Follows: "1"}
		if err := index.Apply(ctx, []pageindex.Entry{entry}); err != nil {
			return pageindex.Found{}, err
		}
	}
	return index.Find(ctx, list, targets)
}

func (l *lagging) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	table := warehouse{comments: l.seen()}
	return table.Query(ctx, in)
}

// editor returns a function that changes the rating, the language or the pictures of a few
// comments, in a store or in another server whose edits the stream reports to it.
func editor(t *rapid.T, l *lagging, store *Store, ids []comment.ID) func() {
	return func() {
		for range l.random.IntN(3) {
			before := l.now()[ids[l.random.IntN(len(ids))]]
			after := before
			after.Version++
			if l.random.IntN(4) == 0 {
				if after.Media = nil; len(before.Media) == 0 {
					after.Media = []comment.Media{{Path: "1.jpg"}}
				}
			} else if l.random.IntN(3) == 0 {
				after.Language = commenttest.Languages[l.random.IntN(3)]
			} else {
				after.Rating = []int{1, 5, 5, 3, 1}[l.random.IntN(5)]
			}
			if l.random.IntN(3) == 0 { // others count votes, which are no edit
				if after = before; after.AllVotes().Net() > 0 {
					after.Votes, after.ImportedVotes = comment.VoteCounts{}, comment.VoteCounts{}
				} else {
					after.Votes = comment.VoteCounts{Helpful: after.AllVotes().NotHelpful + 1 + l.random.IntN(3)}
				}
			} else if l.random.IntN(2) == 0 {
				must.Do(t, store.Replace(context.Background(), before, after))
				continue
			}
			l.put(after)
			record := stream.Record{Created: time.Now(), Old: layout.Encode(before), New: layout.Encode(after)}
			must.Do(t, following(store, nil).Handle(context.Background(), []stream.Record{record}))
		}
	}
}

// Comments are edited back and forth while pages are read, from indexes that lag independently. A
// page has every comment that matched the filter throughout, once and in order. It says correctly
// whether there are comments before and after it.
func TestPagesBesideEdits(t *testing.T) {
	for range commenttest.Times(4, 40) { // times a hundred checks: some errors need an unlikely page
		rapid.Check(t, pageBesideEdits)
	}
}

func pageBesideEdits(t *rapid.T) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	first := map[comment.ID]comment.Comment{}
	for _, c := range commenttest.Voted(random, commenttest.Many(random, "42", rapid.SampledFrom([]int{2, 3, 4, 6, 10, 40}).Draw(t, "comments"))) {
		c.Text = "" // it takes time and does not matter
		first[c.ID] = c
	}
	l := &lagging{lag: rapid.IntRange(0, 6).Draw(t, "lag"), random: random, states: []map[comment.ID]comment.Comment{first}}
	known := planner.Knowledge{}
	options := Options{Knowledge: func(comment.Query) planner.Knowledge { return known }}
	byRank := rapid.Bool().Draw(t, "by rank")
	if byRank {
		options.PageNumbers = l
	}
	store := NewStore(l, "comments", options)
	ids := slices.Sorted(maps.Keys(first))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	l.edit = editor(t, l, store, ids[:min(len(ids), 12)])
	l.edit()

	q := comment.Query{Product: "42", Filter: commenttest.AnyFilter(t)}
	q.Filter.Ratings = rapid.SampledFrom([][]int{nil, {1, 5}, {1, 3, 5}, {5}, {3, 4}}).Draw(t, "ratings of edits")
	q.Filter.Languages = rapid.SampledFrom([][]comment.Language{
		nil, commenttest.Languages[:1], {"de", "en"}, {"de", "en", "fr"},
	}).Draw(t, "languages of edits")
	q.Order = commenttest.AnyOrder(t)
	q.Slice.Size = rapid.IntRange(0, 12).Draw(t, "size")
	q.Slice.FromEnd = rapid.Bool().Draw(t, "from the end")
	if at := commenttest.AnyPlace(t, q.Order, first[ids[random.IntN(len(ids))]]); rapid.Bool().Draw(t, "with a cursor") {
		if q.Slice.After = at; q.Slice.FromEnd {
			q.Slice.After, q.Slice.Before = nil, at
		}
	}
	if rapid.Bool().Draw(t, "zero skip") { // counts from before the edits
		known = planner.Knowledge{Stats: commenttest.NewModel(slices.Collect(maps.Values(first))...).Stats("42"), Trusted: true}
	}
	if byRank { // no comment of such a size is read along
		known.Sizes = planner.Sizes{Any: planner.ItemSize{Mean: 1 << 20, Deviation: 1}}
	}
	began := max(0, len(l.states)-1-l.lag)
	page := must.Get(store.Comments(context.Background(), q))(t)
	checkBesideEdits(t, q, page, l.states[began:])
}

// checkBesideEdits compares a page with all states of the table that it may have been read from.
func checkBesideEdits(t *rapid.T, q comment.Query, page comment.Page, states []map[comment.ID]comment.Comment) {
	place := q.Order.PlaceOf
	before := func(a, b comment.Place) bool { return q.Order.Compare(a, b) < 0 }
	var shown []comment.ID
	for i, c := range page.Comments {
		if shown = append(shown, c.ID); i > 0 && !before(place(page.Comments[i-1]), place(c)) {
			t.Fatalf("%v is out of order\n%s", shown, page.Plan().Summary())
		}
	}
	full, last := len(shown) == q.Slice.Size, len(shown)-1
	var nextAlways, nextEver, previousAlways, previousEver bool
	for id := range states[0] {
		on, inFront, behind := during{always: true}, during{always: true}, during{always: true}
		for _, state := range states {
			c := state[id]
			fits := q.Filter.Allows(c)
			isInFront := q.Slice.After != nil && !before(*q.Slice.After, place(c))
			isBehind := q.Slice.Before != nil && !before(place(c), *q.Slice.Before)
			if full && !isInFront && !isBehind { // beyond the end of a full page
				isInFront = q.Slice.FromEnd && (last < 0 || before(place(c), place(page.Comments[0])))
				isBehind = !q.Slice.FromEnd && (last < 0 || before(place(page.Comments[last]), place(c)))
			}
			on.note(fits && !isInFront && !isBehind)
			inFront.note(fits && isInFront)
			behind.note(fits && isBehind)
		}
		switch listed := slices.Contains(shown, id); {
		case listed && !on.ever:
			t.Fatalf("%s is among %v, where it never belonged", id, shown)
		case on.always && !listed:
			t.Fatalf("%s is missing from %v, though it fits %+v throughout\n%s", id, shown, q.Filter, page.Plan().Summary())
		}
		nextAlways, nextEver = nextAlways || behind.always, nextEver || behind.ever
		previousAlways, previousEver = previousAlways || inFront.always, previousEver || inFront.ever
	}
	if page.HasNext && !nextEver || !page.HasNext && nextAlways {
		t.Fatalf("hasNextPage %t of %v\n%s", page.HasNext, shown, page.Plan().Summary())
	}
	if page.HasPrevious && !previousEver || !page.HasPrevious && previousAlways {
		t.Fatalf("hasPreviousPage %t of %v\n%s", page.HasPrevious, shown, page.Plan().Summary())
	}
}

// during records whether something held always, or ever, while a page was read.
type during struct{ always, ever bool }

func (d *during) note(so bool) { d.always, d.ever = d.always && so, d.ever || so }

// Only comments that the page may have missed are fetched. Each row is a comment that moved; the
// page has ratings 1 and 5, oldest first.
func TestWhatIsFetchedBesideEdits(t *testing.T) {
	at := func(n byte) comment.Position { return comment.Position{15: n} }
	moved := func(version, from, to int) move {
		return move{position: at(5), from: comment.Cell{Language: "en", Rating: from}, to: comment.Cell{Language: "en", Rating: to}, version: version}
	}
	page := func(ids ...byte) (out []comment.Comment) {
		for _, n := range ids {
			out = append(out, comment.Comment{ID: comment.IDOf(at(n))})
		}
		return out
	}
	language := moved(2, 5, 5)
	language.to.Language = "de"
	for _, row := range []struct {
		why     string
		history []move
		taken   []comment.Comment
		want    int
	}{
		{"it may be in neither partition", []move{moved(2, 1, 5)}, page(1, 9), 1},
		{"it came from a partition that was not read", []move{moved(2, 3, 5)}, page(1, 9), 1},
		{"it is there", []move{moved(2, 1, 5)}, page(1, 5, 9), 0},
		{"it went to a partition that was not read", []move{moved(2, 1, 3)}, page(1, 9), 0},
		{"it went and came back", []move{moved(2, 1, 3), moved(3, 3, 1)}, page(1, 9), 1},
		{"it came and went, reported in the wrong order", []move{moved(3, 5, 3), moved(2, 3, 5)}, page(1, 9), 0},
		{"one of two edits that would have made the same version", []move{moved(2, 1, 5), moved(2, 1, 3)}, page(1, 9), 1},
		{"it stayed in its partition", []move{language}, page(1, 9), 0},
		{"it stands behind a full page", []move{moved(2, 1, 5)}, page(1, 2, 3), 0},
		{"it stands at the end of a page that is not full", []move{moved(2, 1, 5)}, page(1, 2), 1},
		{"it stands before the window", []move{moved(2, 1, 5), {position: at(0), from: moved(2, 1, 5).from, to: moved(2, 1, 5).to, version: 2}}, page(5), 0},
		{"it was toggled among many languages", toggledAmongLanguages(moved), page(1, 9), 1},
	} {
		all := newMoves()
		for _, m := range row.history {
			all.note("42", m)
		}
		filter := comment.Filter{Ratings: []int{1, 5}}
		from := at(1)
		w := windowOf(comment.Query{Order: comment.OldestFirst, Slice: comment.Slice{After: comment.At(from)}})
		plan := plannerOf(comment.Query{Product: "42", Filter: filter}, planner.Knowledge{}).Narrow(planner.Request{Window: w, Purpose: comment.ReadPage, Want: 3})
		plan.Filter = filter
		if row.taken[len(row.taken)-1].ID.Position() == at(9) {
			plan.Want = len(row.taken)
		}
		read := new(Store).newRun(t.Context(), boundless(), plan)
		read.brought, read.taken, read.reached = len(row.taken), asRead(row.taken), comment.At(row.taken[len(row.taken)-1].ID.Position())
		last := read.reached
		if read.ended() {
			last = nil
		}
		if got := missing(&plan, read.readAt, all.of("42", time.Time{}), read.taken, last); len(got) != row.want {
			t.Errorf("%s: %d comments are fetched, want %d", row.why, len(got), row.want)
		}
	}
}

// toggledAmongLanguages returns edits of one comment, each to another language.
func toggledAmongLanguages(moved func(version, from, to int) move) (history []move) {
	for version := 2; version < 5*cellsKept; version++ {
		m := moved(version, 1, 5)
		m.to.Language = comment.Language(fmt.Sprintf("x-%d", version))
		history = append(history, m)
	}
	return history
}

// Moves are remembered for a limited time, and for a limited number of comments.
func TestMovesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, noted := newMoves(), uint64(0)
		note := func(product string) {
			noted++
			next := move{at: time.Now()}
			binary.BigEndian.PutUint64(next.position[8:], noted)
			m.note(product, next)
		}
		note("42")
		time.Sleep(moveAge)
		if young := m.of("42", time.Now()); len(young) != 1 {
			t.Errorf("%d comments, want the one that moved a moment ago", len(young))
		}
		time.Sleep(time.Nanosecond)
		if young := m.of("42", time.Now()); len(young) != 0 {
			t.Errorf("%d comments that moved too long ago", len(young))
		}
		for range movesKept {
			note("43")
			note("42")
		}
		if forty2, forty3 := m.of("42", time.Now()), m.of("43", time.Now()); len(forty2)+len(forty3) != movesKept || len(forty2) != len(forty3) {
			t.Errorf("%d and %d comments, want the last %d", len(forty2), len(forty3), movesKept)
		}
		time.Sleep(2 * moveAge)
		note("44")
		if len(m.byProduct) != 1 || m.latest.Len() != 1 {
			t.Errorf("%d products without moves are remembered", len(m.byProduct))
		}
	})
}

// An author who edits a comment again and again takes the room of one comment. Reads of the product
// do not slow down, and moves of other products stay remembered.
func TestTogglingTakesLittleRoom(t *testing.T) {
	m, now := newMoves(), time.Now()
	m.note("other", move{at: now, version: 2})
	for version := range 2 * movesKept {
		cells := [2]comment.Cell{{Language: "en", Rating: 1}, {Language: comment.Language(fmt.Sprintf("x-%d", version)), Rating: 5}}
		m.note("42", move{at: now, from: cells[version%2], to: cells[1-version%2], version: version})
	}
	toggled := m.of("42", now)
	if len(toggled) != 1 || len(toggled[0].now) != 1 || len(toggled[0].been) > cellsKept+1 {
		t.Errorf("%d comments are remembered, want one of few cells", len(toggled))
	}
	if len(m.of("other", now)) != 1 {
		t.Error("another product's comment is forgotten")
	}
}

// Records of old edits, which a process receives after it was down, are not remembered as moves.
// Records of new edits are, even if clocks differ by minutes.
func TestOldRecordsAreNoMoves(t *testing.T) {
	store := NewStore(nil, "comments", Options{})
	before := commenttest.Random(commenttest.Rand(t), "42")
	before.Rating = 1
	after := before
	after.Rating = 5
	for age, want := range map[time.Duration]int{time.Hour: 0, moveAge: 1, 15 * time.Minute: 1, -15 * time.Minute: 1} {
		store.moves = newMoves()
		tell(t, store, stream.Record{Created: time.Now().Add(-age), Old: layout.Encode(before), New: layout.Encode(after)})
		if got := len(store.moves.of("42", time.Now())); got != want {
			t.Errorf("%v after its edit %d comments are remembered, want %d", age, got, want)
		}
	}
}

// A comment that toggled among many cells may be in any, and no part is known to have held it.
func TestTogglingAmongManyCells(t *testing.T) {
	german := planner.Part{Partition: layout.Partition{Index: layout.ByLang, Language: "de"}}
	for moves, few := range map[int]bool{cellsKept: true, cellsKept + 1: false} {
		var m movedComment
		for i := range moves {
			cell := comment.Cell{Language: "de", Rating: 1 + i%comment.MaxRating, Traits: comment.Traits(i / comment.MaxRating)}
			m.been, m.now = with(m.been, cell), with(m.now, cell)
		}
		for _, language := range []comment.Language{"fr", "de"} { // it may be there, or may have been elsewhere
			p := planner.Plan{Filter: comment.Filter{Languages: []comment.Language{language}}}
			readAt := func(comment.Position) []planner.Part { return []planner.Part{german} }
			if absent := missing(&p, readAt, []movedComment{m}, nil, nil); len(absent) > 0 == few {
				t.Errorf("after %d cells of one language, %v is looked for in %s", moves, absent, language)
			}
		}
	}
}
