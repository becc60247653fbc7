package command

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
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

// However many products of a store of page numbers are damaged, verify --pages waits for changes that
// are under way as long as for one.
func TestVerifyOfManyDamagedProducts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := damaged{products: 500, asked: map[string]int{}}
		v := &pagesVerifier{index: store, store: store, scanner: dynamo.NewScanner(empty{}, "t", 1), done: map[string]bool{}}
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
