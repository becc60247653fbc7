package dynamo

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// keepFor is longer than indexLag, so that the two can be told apart.
const keepFor = 10 * time.Second

// visits is a Store with a page cache. It counts how often a page is read.
type visits struct {
	*Store
	outcome
	reads atomic.Int32
	read  func() // called during each read of a page
}

// outcome is the result of reads.
type outcome struct {
	items []layout.Item
	err   error // of reads of a page
	count error // of reads that count
}

// query answers the reads of a page and counts them.
func (v *visits) query(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	if in.Select == types.SelectCount {
		return &dynamodb.QueryOutput{}, v.count
	}
	v.reads.Add(1)
	if v.read != nil {
		v.read()
	}
	return &dynamodb.QueryOutput{Items: v.items}, v.err
}

// visit asks for a page. It returns whether the page was read, and its age as the plan reports it.
func (v *visits) visit(t *testing.T, q comment.Query) (read bool, age time.Duration) {
	t.Helper()
	before := v.reads.Load()
	page, err := v.Comments(t.Context(), q)
	if !errors.Is(err, v.err) {
		t.Errorf("error %v, want %v", err, v.err)
	}
	return v.reads.Load() > before, page.Plan().Kept
}

// atLeisure runs a test of pages in a synctest bubble, long after the last change of the product.
func atLeisure(t *testing.T, test func(t *testing.T, v *visits)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := &visits{}
		v.Store = NewStore(readOnly{fakeQuerier: &fakeQuerier{query: v.query}}, "comments", Options{PageAge: keepFor})
		test(t, v)
	})
}

// A cached page does not hold on to the items it was read from, which may be much larger than the
// page.
func TestPagesKeepNoReads(t *testing.T) {
	p := newPageCache(keepFor, nil)
	keep := func() weak.Pointer[byte] {
		read := make([]byte, 1<<20)
		p.keep(queryKey{}, sharedPage{Page: comment.Page{Explain: func() comment.QueryPlan {
			return comment.QueryPlan{ItemsReturned: len(read)}
		}}}, time.Now())
		return weak.Make(&read[0])
	}
	still := keep()
	runtime.GC()
	page, found := p.find(queryKey{}, time.Time{})
	if got := page.Plan().ItemsReturned; !found || got != 1<<20 || still.Value() != nil {
		t.Errorf("found %t, plan of %d items, reads held %t; want the plan without the reads", found, got, still.Value() != nil)
	}
}

// A machine that was suspended shows no page from before. It neither takes such a page for proven,
// nor statistics from before for young, even if their times have the reading of a monotonic clock.
func TestPagesAfterSuspension(t *testing.T) {
	p, read := newPageCache(time.Hour, nil), time.Now()
	before := faulttest.Suspended(read, -2*time.Hour)
	for _, row := range []struct {
		read, upTo time.Time
		unchanged  bool
	}{{read, read, true}, {before, read, false}, {read, before, false}} {
		follows := proof(func() (since, upTo time.Time, ok bool) { return since, row.upTo, true })
		if got := follows.unchanged(row.read, time.Time{}); got != row.unchanged {
			t.Errorf("a page read at %v, while changes up to %v are known: unchanged %t", row.read, row.upTo, got)
		}
	}
	for _, age := range []time.Duration{ageOf(read, before, read), ageOf(read, read, before)} {
		if age < 2*time.Hour {
			t.Errorf("statistics from before are %v old", age)
		}
	}
	for _, row := range []struct {
		read  time.Time
		found bool
	}{{read, true}, {before, false}} {
		p.keep(queryKey{}, sharedPage{Page: comment.Page{Explain: func() comment.QueryPlan { return comment.QueryPlan{} }}}, row.read)
		if _, found := p.find(queryKey{}, time.Time{}); found != row.found {
			t.Errorf("a page read at %v: found %t", row.read, found)
		}
	}
}

// The page cache answers the same query only, and holds only pages that many clients ask for.
func TestPagesThatAreNotKept(t *testing.T) {
	place := comment.Position{1}
	broken := errors.New("broken")
	large := commenttest.Large(commenttest.Rand(t), "42", 2*largestKept)
	replied := commenttest.Large(commenttest.Rand(t), "42", largestKept/2)
	replied.Reply = &comment.Reply{Text: strings.Repeat("reply", largestKept/5), Name: "shop", CreatedAt: replied.CreatedAt(), Version: 1}
	counted := filtered
	counted.Count = comment.CountTotal
	for _, row := range []struct {
		why   string
		first comment.Query
		read  outcome
		then  comment.Query
	}{
		{"another product", filtered, outcome{}, comment.Query{Product: "43", Filter: filtered.Filter}},
		{"another filter", filtered, outcome{}, unfiltered},
		{"a page after a cursor, which few clients share", comment.Query{Slice: comment.Slice{After: comment.At(place)}}, outcome{}, comment.Query{Slice: comment.Slice{After: comment.At(place)}}},
		{"a page before a cursor", comment.Query{Slice: comment.Slice{Before: comment.At(place)}}, outcome{}, comment.Query{Slice: comment.Slice{Before: comment.At(place)}}},
		{"an error, which may be gone", filtered, outcome{err: broken}, filtered},
		{"a count that failed", counted, outcome{count: broken}, counted},
		{"more text than may be kept", paged, outcome{items: []layout.Item{layout.Encode(large)}}, paged},
		{"more text with the replies", paged, outcome{items: []layout.Item{layout.Encode(replied)}}, paged},
	} {
		t.Run(row.why, func(t *testing.T) {
			atLeisure(t, func(t *testing.T, v *visits) {
				v.outcome = row.read
				v.visit(t, row.first)
				if read, _ := v.visit(t, row.then); !read {
					t.Error("it was not read")
				}
			})
		})
	}
}

// Comments that were fetched by id are cached as pages are: none is large, or 256 of them would
// take 64 MB.
func TestLargeNamedComments(t *testing.T) {
	n := &namedComments{proof: (&followed{since: time.Now().Add(-time.Hour), lag: heartbeats, all: true}).follows, changes: newChanges(), kept: newLRU[namedKey, namedComment](pagesKept, nil)}
	small, large := commenttest.Large(commenttest.Rand(t), "42", largestKept/2), commenttest.Large(commenttest.Rand(t), "42", 2*largestKept)
	pictured := commenttest.Large(commenttest.Rand(t), "42", largestKept/2)
	pictured.Media = []comment.Media{{Alt: strings.Repeat("alt", largestKept/3)}}
	n.keep(map[comment.ID]*comment.Comment{small.ID: &small, large.ID: &large, pictured.ID: &pictured}, false, time.Now())
	if others, found := n.find([]comment.ID{small.ID, large.ID, pictured.ID}, false); found[small.ID] == nil || len(found) != 1 || len(others) != 2 {
		t.Errorf("%d comments are cached, want the small one", len(found))
	}
}

// paged asks for comments. The other queries ask for none: their pages report whether there are
// any.
var paged = comment.Query{Product: "42", Slice: comment.Slice{Size: 1}}

// A change of the product drops its cached pages, and those being read at that moment. No page is
// cached while an index may lack the change.
func TestPagesOfAProductThatChanges(t *testing.T) {
	atLeisure(t, func(t *testing.T, v *visits) {
		v.visit(t, filtered)
		time.Sleep(time.Second)
		v.changed("43")
		if read, _ := v.visit(t, filtered); read {
			t.Error("a change of another product drops the page")
		}
		v.changed("42")
		for tenth := range 12 {
			if read, _ := v.visit(t, filtered); !read {
				t.Errorf("%d tenths of a second after a change, a page is shown that may lack it", tenth)
			}
			time.Sleep(time.Second / 10)
		}
		if read, _ := v.visit(t, filtered); read {
			t.Error("a page that was read long after a change is not kept")
		}
	})
	atLeisure(t, func(t *testing.T, v *visits) {
		v.read = func() { v.changed("42") }
		v.visit(t, filtered)
		v.read = nil
		time.Sleep(2 * indexLag)
		if read, _ := v.visit(t, filtered); !read {
			t.Error("a page is shown that was read while its product changed")
		}
	})
}

// A cached page is as old as its read, whichever caller of a shared read caches it. No caller
// shares a read that began before a change that the Store wrote or heard from the stream.
func TestPagesThatAreSharedAndKept(t *testing.T) {
	for why, change := range map[string]func(*testing.T, *Store){
		"written here":           func(_ *testing.T, s *Store) { s.wrote("42") },
		"reported by the stream": func(t *testing.T, s *Store) { tell(t, s, stream.Record{New: layout.Encode(some)}) },
	} {
		t.Run(why, func(t *testing.T) {
			atLeisure(t, func(t *testing.T, v *visits) {
				var group sync.WaitGroup
				v.read = func() { time.Sleep(4 * time.Second) }
				group.Go(func() { v.visit(t, filtered) })
				time.Sleep(time.Second)
				change(t, v.Store)
				group.Go(func() { v.visit(t, filtered) })
				time.Sleep(2 * indexLag)
				group.Go(func() { v.visit(t, filtered) })
				group.Wait()
				if reads := v.reads.Load(); reads != 2 {
					t.Errorf("%d reads; want one of before the change, and one of after it that two share", reads)
				}
				if read, age := v.visit(t, filtered); !read {
					t.Errorf("a page of %v ago is shown, which was being read when an index might have lacked the change", age)
				}
				time.Sleep(time.Second)
				if read, age := v.visit(t, filtered); read || age != 5*time.Second {
					t.Errorf("read %t, %v old; want what was read 5 s ago", read, age)
				}
			})
		})
	}
}

// edited is the comment some after an edit. No page of the tests shows it.
var edited = func() comment.Comment { c := some; c.Rating, c.Version = 3, 2; return c }()

// some is a comment of the product in the tests.
var some = comment.Comment{ID: comment.IDOf(comment.Position{1}), ProductID: "42", Language: "en", Rating: 4, Version: 1}

// tell has the stream deliver a record to a store.
func tell(t *testing.T, s *Store, record stream.Record) {
	t.Helper()
	if err := following(s, nil).Handle(t.Context(), []stream.Record{record}); err != nil {
		t.Error(err)
	}
}

// following returns a counter that a store follows. Its table is empty, and calls end with err.
func following(s *Store, err error) *counts.Counter {
	return counts.NewCounter(emptyTable{err: err}, "comments", counts.CounterOptions{Follower: s})
}

type emptyTable struct {
	counts.VoteWriter
	err error
}

// BatchGetItem finds nothing.
func (e emptyTable) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{}, e.err
}

// TransactWriteItems keeps nothing.
func (e emptyTable) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, e.err
}

// A record of the stream drops cached pages of its product, even if the change could not be
// counted. A record that is not about a comment does not.
func TestPagesNoticeTheStream(t *testing.T) {
	key := func(it layout.Item) layout.Item {
		return layout.Item{layout.AttrPK: it[layout.AttrPK], layout.AttrSK: it[layout.AttrSK]}
	}
	for _, row := range []struct {
		why    string
		record stream.Record
		read   bool
	}{
		{"a new comment", stream.Record{New: layout.Encode(some)}, true},
		{"a deleted comment", stream.Record{Old: layout.Encode(some)}, true},
		{"a comment replaced with a tombstone", stream.Record{Old: layout.Encode(some), New: layout.Tombstone(some.ID, "", time.Now())}, true},
		{"an edited comment", stream.Record{Old: layout.Encode(some), New: layout.Encode(edited)}, true},
		{"an item about the product", stream.Record{New: layout.ProductKey("42", "S")}, false},
		{"a comment that cannot be read", stream.Record{New: key(layout.Encode(some))}, false},
		{"another item", stream.Record{New: layout.Item{layout.AttrPK: &types.AttributeValueMemberS{Value: "?"}}}, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			atLeisure(t, func(t *testing.T, v *visits) {
				broken := errors.New("broken")
				counter := following(v.Store, broken)
				v.visit(t, filtered)
				time.Sleep(2 * indexLag)
				if err := counter.Handle(t.Context(), []stream.Record{row.record}); errors.Is(err, broken) != row.read {
					t.Errorf("error %v", err)
				}
				if read, _ := v.visit(t, filtered); read != row.read {
					t.Errorf("read %t, want %t", read, row.read)
				}
			})
		})
	}
}

// followed is a stream that a process reads: since when, how far it lags, and whether it reads all.
type followed struct {
	since time.Time
	lag   func() time.Duration
	all   bool
}

func (f *followed) follows() (since, upTo time.Time, ok bool) {
	return f.since, time.Now().Add(-f.lag()), f.all
}

// heartbeats is how far a watermark lags that moves every two seconds, a second late.
func heartbeats() time.Duration {
	return time.Second + time.Duration(time.Now().UnixMilli()%2000)*time.Millisecond
}

// A page is shown beyond its age while the stream proves it unchanged, and not a moment longer.
func TestPagesThatAreProven(t *testing.T) {
	late := func() time.Duration { return unheardFor + time.Millisecond }
	settled := filtered
	settled.SettledOnly = true
	for _, row := range []struct {
		why    string
		q      comment.Query
		before func(*visits, *followed) // the page is read
		after  func(*visits, *followed) // a minute later
		then   time.Duration
		read   bool
	}{
		{why: "nothing changed", q: filtered},
		{why: "nothing changed for long", q: filtered, then: provenFor, read: true},
		{why: "another product changed", q: filtered, after: func(v *visits, _ *followed) { v.changed("43") }},
		{why: "it changed", q: filtered, after: func(v *visits, _ *followed) { v.changed("42") }, read: true},
		{why: "an index may have lacked a change", q: filtered, before: func(v *visits, _ *followed) {
			v.changed("42")
			time.Sleep(moveAge - time.Millisecond)
		}, read: true},
		{why: "no index lacks a change for so long", q: filtered, before: func(v *visits, _ *followed) {
			v.changed("42")
			time.Sleep(moveAge)
		}},
		{why: "the stream is late", q: filtered, after: func(_ *visits, f *followed) { f.lag = late }, read: true},
		{why: "another process reads a shard", q: filtered, after: func(_ *visits, f *followed) { f.all = false }, read: true},
		{why: "another process read a shard at that time", q: filtered, after: func(_ *visits, f *followed) {
			f.since = time.Now().Add(-time.Minute)
		}, read: true},
		{why: "settled comments change with time", q: settled, read: true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &followed{since: time.Now(), lag: heartbeats, all: true}
				v := &visits{}
				v.Store = NewStore(readOnly{fakeQuerier: &fakeQuerier{query: v.query}}, "comments", Options{PageAge: time.Second, Following: f.follows})
				time.Sleep(time.Hour)
				if row.before != nil {
					row.before(v, f)
				}
				v.visit(t, row.q)
				time.Sleep(time.Minute)
				if row.after != nil {
					row.after(v, f)
				}
				time.Sleep(row.then)
				if read, _ := v.visit(t, row.q); read != row.read {
					t.Errorf("read %t, want %t", read, row.read)
				}
			})
		})
	}
}

// While the stream proves a page unchanged, a thousand views cost one read per provenFor, however
// close together they come. With an age alone they cost one read per age. With neither, each view
// costs a read.
func TestThousandViews(t *testing.T) {
	const unproven, proven = false, true
	for _, row := range []struct {
		age     time.Duration
		follows bool
		views   int
		each    time.Duration // time between views
		reads   int32
	}{
		{0, unproven, 10, time.Second, 10},
		{0, unproven, 1000, time.Millisecond, 1000},
		{time.Second, unproven, 10, time.Second, 10},
		{time.Second, unproven, 100, 100 * time.Millisecond, 10},
		{time.Second, unproven, 10_000, time.Millisecond, 10},
		{time.Second, proven, 1000, time.Millisecond, 1},
		{time.Second, proven, 1000, 100 * time.Millisecond, 1},
		{time.Second, proven, 1000, time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &followed{since: time.Now(), lag: heartbeats, all: row.follows}
			v := &visits{}
			v.Store = NewStore(readOnly{fakeQuerier: &fakeQuerier{query: v.query}}, "comments", Options{PageAge: row.age, Following: f.follows})
			time.Sleep(time.Hour)
			for range row.views {
				v.visit(t, paged)
				time.Sleep(row.each)
			}
			if got := v.reads.Load(); got != row.reads {
				t.Errorf("%d views, one each %v, kept for %v, proven %t: %d reads, want %d", row.views, row.each, row.age, row.follows, got, row.reads)
			}
		})
	}
}

// An answer may be built from pages up to --page-age old, so Unchanged looks that much further back
// for changes.
func TestUnchanged(t *testing.T) {
	const age = time.Minute
	for since, want := range map[time.Duration]bool{0: false, age: false, age + moveAge - 1: false, age + moveAge + 1: true} {
		synctest.Test(t, func(t *testing.T) {
			f := &followed{since: time.Now(), lag: heartbeats, all: true}
			s := NewStore(readOnly{fakeQuerier: &fakeQuerier{}}, "comments", Options{PageAge: age, Following: f.follows})
			time.Sleep(time.Hour)
			s.changed("42")
			time.Sleep(since)
			if got := s.Unchanged([]string{"41", "42"}, time.Now()); got != want {
				t.Errorf("%v after a change: %t", since, got)
			}
			if began := time.Now(); want {
				time.Sleep(provenFor - age + 1)
				if s.Unchanged([]string{"42"}, began) {
					t.Error("an old answer counts as unchanged")
				}
			}
		})
	}
}
