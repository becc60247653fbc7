package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/pageindex"
)

// empty is a table without comments.
type empty struct{ call.ScanClient }

// Scan returns nothing.
func (empty) Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return &dynamodb.ScanOutput{}, nil
}

// Query returns nothing.
func (empty) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{}, nil
}

// damaged is a store with comments of products that have none. Each product of an odd number gets
// right when it is compared again.
type damaged struct {
	pageindex.Store
	products int
	asked    map[string]int
}

// Products implements pageindex.Store.
func (d damaged) Products(_ context.Context, tell func(string)) error {
	for n := range d.products {
		tell(fmt.Sprintf("p%03d", n))
	}
	return nil
}

// Find implements pageindex.Index.
func (d damaged) Find(_ context.Context, list pageindex.List, _ []pageindex.Target) (pageindex.Found, error) {
	d.asked[list.Product]++
	if n := list.Product[len(list.Product)-1]; n%2 == 1 && d.asked[list.Product] > 1 {
		return pageindex.Found{}, nil
	}
	return pageindex.Found{Counts: comment.Counts{1}}, nil
}

// busy is an index of which each lookup fails with the next error, until none is left.
type busy struct{ errors *[]error }

// Find implements pageindex.Index.
func (b busy) Find(context.Context, pageindex.List, []pageindex.Target) (found pageindex.Found, err error) {
	if len(*b.errors) > 0 {
		err, *b.errors = (*b.errors)[0], (*b.errors)[1:]
	}
	return found, err
}

// A table that is too busy for some lookups does not end verify --pages; a store that is away does.
func TestVerifyOfPagesWaitsForABusyTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttled, away := comment.Errorf(comment.Throttled, "busy"), comment.Errorf(comment.Unavailable, "away")
		left := []error{throttled, throttled, throttled, throttled, away, throttled}
		for want := range slices.Values([]error{away, nil}) {
			if _, err := (patientIndex{busy{&left}}).Find(t.Context(), pageindex.List{}, nil); !errors.Is(err, want) {
				t.Errorf("the error is %v, want %v", err, want)
			}
		}
	})
}

// full is a table with comments.
type full struct {
	empty
	comments []comment.Comment
}

// Scan returns all comments, as those of the first segment.
func (f full) Scan(_ context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out := &dynamodb.ScanOutput{}
	for _, c := range f.comments {
		if *in.Segment == 0 {
			out.Items = append(out.Items, layout.Encode(c))
		}
	}
	return out, nil
}

// slow is an index that takes its time for each lookup.
type slow struct{ busy }

// Find implements pageindex.Index.
func (s slow) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	time.Sleep(10 * time.Second)
	return s.busy.Find(ctx, list, targets)
}

// verify --pages shows how far its lookups are, not only the scan before them.
func TestVerifyOfPagesShowsItsProgress(t *testing.T) {
	rand := commenttest.Rand(t)
	table := full{comments: slices.Concat(commenttest.Many(rand, "kettle", 1), commenttest.Many(rand, "pot", 2))}
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := &pagesVerifier{index: slow{busy{new([]error)}}, scanner: dynamo.NewScanner(table, "t", 1), out: &out, done: map[string]bool{}}
		if err := v.run(t.Context(), func(int64) {}); err != nil || !strings.HasPrefix(out.String(), "1 comment looked up, 0 comments looked up/s, 33 %, 40s left\n") {
			t.Errorf("%v: %s", err, &out)
		}
	})
}

// However many products of a store of page numbers are damaged, verify --pages waits for changes
// that are under way as long as for one.
func TestVerifyOfManyDamagedProducts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := damaged{products: 500, asked: map[string]int{}}
		v := &pagesVerifier{index: store, store: store, scanner: dynamo.NewScanner(empty{}, "t", 1), out: io.Discard, done: map[string]bool{}}
		began := time.Now()
		if err := v.run(t.Context(), func(int64) {}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 7*time.Second || len(v.drifts) != 250 || v.drifts[0].Product != "p000" || v.drifts[249].Product != "p498" {
			t.Errorf("%d drifts after %s: %v", len(v.drifts), took, v.drifts)
		}
		for product, times := range store.asked {
			if want := map[byte]int{0: pagesTries, 1: 2}[product[3]%2]; times != want {
				t.Errorf("%s is compared %d times, want %d", product, times, want)
			}
		}
	})
}

// Items that are not proper comments are printed by their keys. They are an error even if the rest
// succeeds.
func TestImproperItemsAreAnError(t *testing.T) {
	t.Parallel()
	items := []layout.Improper{{Key: "C#1/C", Reason: "it is none"}}
	for _, row := range []struct {
		why   string
		print func(out *bytes.Buffer) error
		says  string
	}{
		{"verify", func(out *bytes.Buffer) error { return printVerified(out, counts.Verified{Improper: items}, 0) }, "1 item "},
		{"rebuild", func(out *bytes.Buffer) error {
			return printRebuilt(out, counts.RebuildResult{Improper: items, Complete: true}, 0)
		}, "1 item "},
		{"rebuild of what cannot be mended", func(out *bytes.Buffer) error {
			return printRebuilt(out, counts.RebuildResult{Improper: items, Failed: []string{"p"}}, 0)
		}, "refused the statistics of 1 product,"},
		{"export", func(out *bytes.Buffer) error { return printLeftOut(out, items) }, "lacks 1 invalid item:"},
	} {
		var out bytes.Buffer
		err := row.print(&out)
		if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(out.String(), "item C#1/C: it is none") {
			t.Errorf("%s: %v\n%s", row.why, err, out.String())
		}
	}
	for _, fine := range []error{
		printVerified(&bytes.Buffer{}, counts.Verified{}, 0),
		printRebuilt(&bytes.Buffer{}, counts.RebuildResult{Complete: true}, 0),
		printLeftOut(&bytes.Buffer{}, nil),
	} {
		if fine != nil {
			t.Error(fine)
		}
	}
}

// A difference that may only await counting is mentioned beside drifts, and nowhere else.
func TestVerifyTellsWhatIsUnproven(t *testing.T) {
	t.Parallel()
	drifts := []counts.Drift{{Product: "vase", Kind: counts.FurtherMarkers}}
	for _, row := range []struct {
		found counts.Verified
		tells bool
	}{
		{counts.Verified{Drifts: drifts, Unproven: true}, true},
		{counts.Verified{Drifts: drifts}, false},
		{counts.Verified{Unproven: true}, false},
	} {
		var out strings.Builder
		_ = printVerified(&out, row.found, 0) // drift is an error
		if strings.Contains(out.String(), "not counted yet") != row.tells {
			t.Errorf("%+v: %s", row.found, &out)
		}
	}
}
