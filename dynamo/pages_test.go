package dynamo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// keepFor is longer than indexLag, so that the two can be told apart.
const keepFor = 10 * time.Second

// visits asks for pages through those that are kept, and counts how often one is read.
type visits struct {
	pages *pages
	reads int
	page  comment.Page
	err   error
}

// visit asks for a page and tells whether it was read, and how old it is said to be.
func (v *visits) visit(t *testing.T, q comment.Query) (read bool, age time.Duration) {
	t.Helper()
	before := v.reads
	page, err := v.pages.through(q, func() (comment.Page, error) {
		v.reads++
		return v.page, v.err
	})
	if !errors.Is(err, v.err) {
		t.Errorf("error %v, want %v", err, v.err)
	}
	return v.reads > before, page.Plan.Kept
}

// atLeisure runs a test of pages in a bubble of time, in which the product was not changed lately.
func atLeisure(t *testing.T, test func(t *testing.T, v *visits)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &visits{pages: newPages(keepFor)}) })
}

// A first page is read once in its age, and says how old it is.
func TestPagesAreKept(t *testing.T) {
	atLeisure(t, func(t *testing.T, v *visits) {
		for second := range 20 {
			read, age := v.visit(t, filtered)
			if want := second%10 == 0; read != want || age != time.Duration(second%10)*time.Second {
				t.Errorf("second %d: read %t, %v old", second, read, age)
			}
			time.Sleep(time.Second)
		}
	})
}

// What is kept is for the same question only, and for those that many ask.
func TestPagesThatAreNotKept(t *testing.T) {
	place := comment.Position{1}
	large := comment.Page{Comments: []comment.Comment{{Text: strings.Repeat("x", largestKept)}, {Title: new("y")}}}
	for _, row := range []struct {
		why   string
		first comment.Query
		page  comment.Page
		err   error
		then  comment.Query
	}{
		{"another product", filtered, comment.Page{}, nil, comment.Query{Product: "43", Filter: filtered.Filter}},
		{"another filter", filtered, comment.Page{}, nil, unfiltered},
		{"a page behind a cursor, which few share", comment.Query{Slice: comment.Slice{After: &place}}, comment.Page{}, nil, comment.Query{Slice: comment.Slice{After: &place}}},
		{"a page before a cursor", comment.Query{Slice: comment.Slice{Before: &place}}, comment.Page{}, nil, comment.Query{Slice: comment.Slice{Before: &place}}},
		{"an error, which may be gone", filtered, comment.Page{}, errors.New("broken"), filtered},
		{"a count that failed", filtered, comment.Page{Counted: &comment.Counted{Err: errors.New("broken")}}, nil, filtered},
		{"more text than may be kept", filtered, large, nil, filtered},
	} {
		t.Run(row.why, func(t *testing.T) {
			atLeisure(t, func(t *testing.T, v *visits) {
				v.page, v.err = row.page, row.err
				v.visit(t, row.first)
				if read, _ := v.visit(t, row.then); !read {
					t.Error("it was not read")
				}
			})
		})
	}
}

// A change of the product ends what is kept of it, also what was being read at that moment, and nothing is kept while an
// index may lack the change.
func TestPagesOfAProductThatChanges(t *testing.T) {
	atLeisure(t, func(t *testing.T, v *visits) {
		v.visit(t, filtered)
		time.Sleep(time.Second)
		v.pages.changed("43")
		if read, _ := v.visit(t, filtered); read {
			t.Error("a change of another product matters")
		}
		v.pages.changed("42")
		for tenth := range 12 {
			if read, _ := v.visit(t, filtered); !read {
				t.Errorf("%d tenths of a second after a change a page of before is shown, or one that may lack it", tenth)
			}
			time.Sleep(time.Second / 10)
		}
		if read, _ := v.visit(t, filtered); read {
			t.Error("a page that was read long after a change is not kept")
		}
	})
	atLeisure(t, func(t *testing.T, v *visits) {
		_, _ = v.pages.through(filtered, func() (comment.Page, error) {
			v.pages.changed("42")
			return comment.Page{}, nil
		})
		time.Sleep(2 * indexLag)
		if read, _ := v.visit(t, filtered); !read {
			t.Error("a page is shown that was read while its product changed")
		}
	})
}

// handled tells what a stream's records became.
type handled func([]stream.Record) error

// Handle implements stream.Handler.
func (h handled) Handle(_ context.Context, records []stream.Record) error { return h(records) }

// What the stream tells of ends what is kept, also when it could not be counted; what is no comment does not.
func TestPagesNoticeTheStream(t *testing.T) {
	c := comment.Comment{ID: comment.IDOf(comment.Position{1}), ProductID: "42", Language: "en", Rating: 4, Version: 1}
	key := func(it item) item { return item{attrPK: it[attrPK], attrSK: it[attrSK]} }
	for _, row := range []struct {
		why    string
		record stream.Record
		read   bool
	}{
		{"a new comment", stream.Record{New: encode(c)}, true},
		{"a deleted comment", stream.Record{Old: encode(c)}, true},
		{"an item about the product", stream.Record{New: productKey("42", statisticsSK)}, false},
		{"a comment that cannot be read", stream.Record{New: key(encode(c))}, false},
		{"another item", stream.Record{New: item{attrPK: &types.AttributeValueMemberS{Value: "?"}}}, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			atLeisure(t, func(t *testing.T, v *visits) {
				broken := errors.New("broken")
				store := &Store{pages: v.pages}
				handler := store.Noticing(handled(func([]stream.Record) error { return broken }))
				v.visit(t, filtered)
				time.Sleep(2 * indexLag)
				if err := handler.Handle(t.Context(), []stream.Record{row.record}); !errors.Is(err, broken) {
					t.Errorf("error %v", err)
				}
				if read, _ := v.visit(t, filtered); read != row.read {
					t.Errorf("read %t, want %t", read, row.read)
				}
			})
		})
	}
}
