package dynamo_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// filledTable creates a table that holds comments.
func filledTable(t *testing.T, endpoint string, comments []comment.Comment) (*dynamodb.Client, string) {
	t.Helper()
	client, table := dynamo.NewTable(t, endpoint)
	must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), comments))(t)
	return client, table
}

// manyNasty returns comments of two products, with contents that are hard to encode.
func manyNasty(seed uint64, count int) []comment.Comment {
	r := rand.New(rand.NewPCG(seed, 9))
	out := make([]comment.Comment, count)
	for i := range out {
		out[i] = commenttest.Nasty(r, []string{"p", "p/en"}[i%2])
	}
	return out
}

// collect reads a scan to its end, and checks that no comment appears twice.
func collect(t *testing.T, scan iter.Seq2[comment.Comment, error]) (map[comment.ID]comment.Comment, error) {
	t.Helper()
	got := map[comment.ID]comment.Comment{}
	for c, err := range scan {
		if err != nil {
			return got, err
		}
		if _, twice := got[c.ID]; twice {
			t.Errorf("%s comes twice", c)
		}
		got[c.ID] = c
	}
	return got, nil
}

func byID(comments []comment.Comment) map[comment.ID]comment.Comment {
	out := make(map[comment.ID]comment.Comment, len(comments))
	for _, c := range comments {
		out[c.ID] = c
	}
	return out
}

// A scan over many calls yields every comment once and unchanged, and no other item of the table.
// While comments are added, edited, moved and deleted, it yields each comment that exists
// throughout.
func TestScanner(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := rand.New(rand.NewPCG(2, 9))
		comments := manyNasty(1, 300)
		for range 20 { // more than one response of each segment can hold
			comments = append(comments, commenttest.Large(r, "large", 250<<10))
		}
		edits, deletes, adds := commenttest.Many(r, "p", 60), commenttest.Many(r, "p", 60), commenttest.Many(r, "p", 60)
		client, table := filledTable(t, endpoint, slices.Concat(comments, edits, deletes))
		putOther(t, client, table, comments[0])
		var writers sync.WaitGroup
		write := func(all []comment.Comment, one func(store *dynamo.Store, c *comment.Comment) error) {
			writers.Go(func() {
				for i := range all {
					if err := one(dynamo.NewStore(client, table, dynamo.Options{}), &all[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		lasting := slices.Concat(comments, edits)
		write(adds, func(s *dynamo.Store, c *comment.Comment) (err error) {
			*c, err = s.Add(t.Context(), *c, "")
			return err
		})
		write(deletes, func(s *dynamo.Store, c *comment.Comment) error { return s.Delete(t.Context(), *c) })
		write(edits, func(s *dynamo.Store, c *comment.Comment) error {
			before := *c
			c.Version, c.Rating, c.Language = before.Version+1, 1+before.Rating%comment.MaxRating, "nl"
			return s.Replace(t.Context(), before, *c)
		})
		for range 2 {
			got := must.Get(collect(t, dynamo.NewScanner(client, table, 2).All(t.Context())))(t)
			for _, c := range lasting {
				if _, found := got[c.ID]; !found {
					t.Errorf("%s is missing", c)
				}
			}
		}
		writers.Wait()
		comments = slices.Concat(comments, edits, adds)

		for _, calls := range []int{0, 1} {
			scanner := dynamo.NewScanner(client, table, calls)
			got, err := collect(t, scanner.All(t.Context()))
			if read := scanner.Scanned(); read <= int64(len(got)) { // there are other items
				t.Errorf("%d calls: %d items read for %d comments", calls, read, len(got))
			}
			if diff := cmp.Diff(byID(comments), got); err != nil || diff != "" {
				t.Errorf("%d calls: %v %s", calls, err, diff)
			}
		}
		for _, product := range []string{"p", "p/en", "large", "nothing"} {
			want := slices.DeleteFunc(slices.Clone(comments), func(c comment.Comment) bool { return c.ProductID != product })
			got, err := collect(t, dynamo.NewScanner(client, table, 0).OfProduct(t.Context(), product))
			if diff := cmp.Diff(byID(want), got); err != nil || diff != "" {
				t.Errorf("product %s: %v %s", product, err, diff)
			}
		}
		if n, _, err := dynamo.NewScanner(client, table, 0).Estimate(t.Context()); err != nil || n < 0 {
			t.Errorf("estimate %d, %v", n, err)
		}
	})
}

// putOther adds items that are not comments. Two of them look similar to comments.
func putOther(t *testing.T, client *dynamodb.Client, table string, c comment.Comment) {
	t.Helper()
	gone, store := c, dynamo.NewStore(client, table, dynamo.Options{})
	gone.ID, gone.Version, gone.UpdatedAt = comment.IDOf(comment.PositionAt(commenttest.Epoch, [10]byte{1})), 1, nil
	must.Get(store.Add(t.Context(), gone, "key"))(t)
	must.Do(t, store.Delete(t.Context(), gone))
	for _, key := range [][2]string{{"P#p", "S"}, {"C#" + c.ID.Position().String(), "X"}, {"XC#1", "C"}} {
		must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: layout.Key(key[0], key[1])}))(t)
	}
}

// A scan yields every comment once and unchanged, whichever of its calls fails, and however. The
// faults are those of the network.
func TestScannerThroughEveryFault(t *testing.T) {
	t.Parallel() // it waits most of the time, for the next try of a call
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		comments := manyNasty(4, 60)
		client, table := filledTable(t, endpoint, comments)
		want := byID(comments)
		for _, fault := range faulttest.Kinds {
			for n, met := 1, true; met; n++ {
				client, network := faulttest.Under(client, faulttest.Nth(n, fault))
				got, err := collect(t, dynamo.NewScanner(client, table, 1).All(t.Context()))
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Fatalf("call %d, %s: %v %s", n, fault, err, diff)
				}
				met = network.Calls() >= n
			}
		}
	})
}

// scanned is a table that answers scans only.
type scanned struct {
	*dynamodb.Client // nil
	scan             func(context.Context, *dynamodb.ScanInput) (*dynamodb.ScanOutput, error)
}

func (s scanned) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return s.scan(ctx, in)
}

// A table that throttles for a while delays a scan, which reads consistently: what was written just
// before would be missing otherwise.
func TestScannerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		table := scanned{scan: func(_ context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
			if time.Since(start) < 3*time.Second || !*in.ConsistentRead {
				return nil, &types.ProvisionedThroughputExceededException{}
			}
			return &dynamodb.ScanOutput{}, nil
		}}
		if _, err := collect(t, dynamo.NewScanner(table, "t", 1).All(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// The number of parallel calls and of pages in memory is bounded: a caller that takes no comments
// stops the scan. A caller that leaves early leaves no goroutine running, or the synctest bubble
// would report it.
func TestScannerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, calls, before := 0, 0, 0, 0
		page := encoded(commenttest.Many(rand.New(rand.NewPCG(5, 9)), "p", 10))
		table := scanned{scan: func(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
			mu.Lock()
			now, calls = now+1, calls+1
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Millisecond) // in the bubble's time
			mu.Lock()
			now--
			mu.Unlock()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return &dynamodb.ScanOutput{Items: page, LastEvaluatedKey: map[string]types.AttributeValue{"PK": page[0]["PK"]}}, nil
		}}
		for range dynamo.NewScanner(table, "t", 3).All(t.Context()) {
			time.Sleep(time.Second) // in the bubble's time
			mu.Lock()
			before = calls
			mu.Unlock()
			break
		}
		if most != 3 || before > 2*3 {
			t.Errorf("%d calls at once, %d in all", most, before)
		}
	})
}

// encoded returns the items of comments as a table stores them.
func encoded(comments []comment.Comment) (items []layout.Item) {
	for _, c := range comments {
		items = append(items, layout.Encode(c))
	}
	return items
}

// segmented is a table with all of its items in the first segment.
func segmented(items []layout.Item) scanned {
	return scanned{scan: func(_ context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
		if *in.Segment != 0 {
			return &dynamodb.ScanOutput{}, nil
		}
		return &dynamodb.ScanOutput{Items: slices.Clone(items)}, nil
	}}
}

// A damaged item ends a scan with an error that names the item. A copy without it would look
// complete.
func TestScannerNamesWhatIsDamaged(t *testing.T) {
	comments := manyNasty(6, 1)
	items := encoded(comments)
	delete(items[0], "n")
	_, err := collect(t, dynamo.NewScanner(segmented(items), "t", 1).All(t.Context()))
	if want := fmt.Sprintf("item of comment %s: attribute", comments[0].ID); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A load writes every comment once, to the table and to each index, and counts it once, whichever
// of its calls fails, and however.
func TestLoadThroughEveryFault(t *testing.T) {
	t.Parallel()                       // it waits most of the time, for the next try of a call
	endpoint := dynamotest.Dynoxide(t) // any engine will do: the faults are the network's
	comments := manyNasty(7, 4)
	for _, fault := range faulttest.Kinds {
		for n, met := 1, true; met; n++ {
			direct, table := filledTable(t, endpoint, comments[:1])
			client, network := faulttest.Under(direct, faulttest.Nth(n, fault))
			got, err := dynamo.NewLoader(client, table, 1).Load(t.Context(), comments)
			if want := (dynamo.LoadCounts{Written: 3, Existing: 1}); err != nil || got != want {
				t.Errorf("call %d, %s: %+v, %v", n, fault, got, err)
			}
			checkEverywhere(t, direct, table, comments, fmt.Sprint("call ", n, ", ", fault))
			met = network.Calls() >= n
		}
	}
}

// checkEverywhere checks that the table and each of its indexes hold the comments, each once, and
// nothing else.
func checkEverywhere(t *testing.T, client *dynamodb.Client, table string, comments []comment.Comment, where string) {
	t.Helper()
	want := map[string]map[string]types.AttributeValue{}
	for _, it := range encoded(comments) {
		want[partitionKey(it)] = it
	}
	for _, index := range []string{"", "all", "byLang", "byRating", "byLangAndRating"} {
		input, without := &dynamodb.ScanInput{TableName: &table}, 0
		if index != "" {
			input.IndexName, without = &index, 3 // the entry lacks the keys of the other three
		}
		output := must.Get(client.Scan(t.Context(), input))(t)
		output.Items = slices.DeleteFunc(output.Items, func(it map[string]types.AttributeValue) bool { return partitionKey(it) == "SETTINGS" })
		if len(output.Items) != len(want) {
			t.Errorf("%s: %q holds %d items, want %d", where, index, len(output.Items), len(want))
		}
		for _, it := range output.Items {
			whole, without := want[partitionKey(it)], without
			for _, key := range []string{"M", "H"} {
				if index != "" && whole[key] != nil {
					without++
				}
			}
			same := !slices.ContainsFunc(slices.Collect(maps.Keys(it)), func(name string) bool { return !reflect.DeepEqual(it[name], whole[name]) })
			if !same || len(it) != len(whole)-without {
				t.Errorf("%s: %q has %v, the comment %v", where, index, dynamotest.JSON(it), dynamotest.JSON(whole))
			}
		}
	}
}

// Comments that are not approved are left out and counted, unless everything is wanted.
func TestScannerHidesWhatIsNotApproved(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "p", 3)
	comments[1].Status, comments[1].Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}, Since: time.Unix(1, 0)}
	items := encoded(comments)
	for _, everything := range []bool{false, true} {
		scanner := dynamo.NewScanner(segmented(items), "t", 1)
		scanner.Everything = everything
		got, err := collect(t, scanner.All(t.Context()))
		if _, there := got[comments[1].ID]; err != nil || there != everything || len(got)+scanner.Hidden() != 3 {
			t.Errorf("everything %v: %d comments and %d hidden, %v", everything, len(got), scanner.Hidden(), err)
		}
		if !everything {
			continue
		}
		if got, err := collect(t, scanner.OfProduct(t.Context(), "p")); err != nil || len(got) != 3 {
			t.Errorf("everything of a product is %d comments, %v: those that are in no index have to be scanned for", len(got), err)
		}
	}
}

// A comment whose text cannot be decompressed is reported, and not part of a copy.
func TestScannerPassesOverDamagedTexts(t *testing.T) {
	items := encoded(commenttest.Many(commenttest.Rand(t), "p", 2))
	items[1][layout.AttrText] = layout.Binary([]byte("damaged"))
	scanner := dynamo.NewScanner(segmented(items), "t", 1)
	var improper []layout.Improper
	scanner.OnImproper = func(item layout.Improper) { improper = append(improper, item) }
	if got, err := collect(t, scanner.All(t.Context())); err != nil || len(got) != 1 || len(improper) != 1 {
		t.Errorf("%d comments, %v reported, %v", len(got), improper, err)
	}
}
