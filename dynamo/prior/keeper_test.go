package prior

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// oneItem is a table that holds nothing else than the item of what was learnt.
type oneItem struct {
	mu     sync.Mutex
	item   layout.Item
	gets   int
	puts   int
	get    func() error // called before each read
	put    func() error // called before each write
	record []time.Time  // of writes
}

func (s *oneItem) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.mu.Lock()
	s.gets++
	get := s.get
	s.mu.Unlock()
	if get != nil {
		if err := get(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &dynamodb.GetItemOutput{Item: maps.Clone(s.item)}, ctx.Err()
}

func (s *oneItem) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	if s.put != nil {
		if err := s.put(); err != nil {
			return nil, err
		}
	}
	before, wanted := s.item[attrChanges], in.ExpressionAttributeValues[":before"]
	if fmt.Sprint(numberOf(before)) != fmt.Sprint(numberOf(wanted)) {
		return nil, &types.ConditionalCheckFailedException{}
	}
	s.item, s.record = in.Item, append(s.record, time.Now())
	return &dynamodb.PutItemOutput{}, ctx.Err()
}

func numberOf(value types.AttributeValue) string {
	if n, ok := value.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

// server is a process that learns.
type server struct {
	*Learner
	log  bytes.Buffer
	stop func()
}

// start starts a process, and returns once its keeper waits.
func (s *oneItem) start(t *testing.T) *server {
	one := &server{Learner: NewLearner()}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	one.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the work ended with %v", err)
		}
	})
	t.Cleanup(one.stop)
	keeper := Keeper{Client: s, Table: "comments", Learner: one.Learner, Logger: slog.New(slog.NewTextHandler(&one.log, nil))}
	go func() {
		ended <- keeper.Beside(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	synctest.Wait()
	return one
}

// see has a process see so many products with one comment each.
func (s *server) see(from string, products int) {
	for i := range products {
		s.Count(fmt.Sprint(from, i), comment.Stats{"de": {0, 1, 0, 0, 0}})
	}
}

func (s *server) learnt() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish()
	return s.Prior().Learnt
}

// warnings counts the lines of the log.
func (s *server) warnings() int {
	synctest.Wait() // the keeper is waiting, and writes no line
	return strings.Count(s.log.String(), "\n")
}

var (
	denied    = &smithy.GenericAPIError{Code: "AccessDeniedException", Fault: smithy.FaultClient}
	throttled = &types.ProvisionedThroughputExceededException{}
)

// A process begins with what those before it learnt, of which the last save is at their end.
func TestAProcessBeginsWithWhatWasLearnt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table oneItem
		one := table.start(t)
		one.see("a", 40)
		one.stop()
		two := table.start(t)
		if got := two.learnt(); got != 40 {
			t.Errorf("begins with what %d products taught, want 40", got)
		}
		if shares := two.Prior().Ratings; shares[1] < 0.05 {
			t.Errorf("ratings are %v, though all comments had two stars", shares)
		}
	})
}

// Servers add what they learn, and learn from each other at every save. Each saves every ten to
// twenty minutes, if it learnt something.
func TestServersAddWhatTheyLearn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table oneItem
		servers := []*server{table.start(t), table.start(t), table.start(t)}
		const hours = 5
		for hour := range hours {
			for i, s := range servers {
				s.see(fmt.Sprint(hour, i, "-"), 30)
			}
			time.Sleep(time.Hour)
		}
		for _, s := range servers {
			s.see("last", productsWorthSaving)
			s.stop()
		}
		last := table.start(t)
		if got, want := last.learnt(), len(servers)*(hours*30+productsWorthSaving); got != want {
			t.Errorf("%d products are known, want %d", got, want)
		}
		if most := len(servers) * (hours + 1); len(table.record) > most {
			t.Errorf("%d writes, though there were news %d times", len(table.record), most)
		}
		if own := hours*30 + productsWorthSaving; servers[0].learnt() <= own {
			t.Errorf("a server knows %d products and saw %d itself", servers[0].learnt(), own)
		}
	})
}

// While products keep coming, a server writes at most once in ten minutes.
func TestSavesAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table oneItem
		s := table.start(t)
		for i := range 120 {
			s.see(fmt.Sprint(i, "-"), 10)
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		for i := 1; i < len(table.record); i++ {
			if pause := table.record[i].Sub(table.record[i-1]); pause < saveEvery {
				t.Errorf("two writes within %v", pause)
			}
		}
		if len(table.record) < 5 {
			t.Errorf("%d writes in two hours", len(table.record))
		}
	})
}

// What went wrong is logged once if it lasts, and not at all if it passes. Nothing that was learnt
// is lost meanwhile.
func TestWhatKeepsAServerFromSaving(t *testing.T) {
	for _, row := range []struct {
		why      string
		get, put error
		warnings int
		saves    bool // once the fault is over
	}{
		{"writing is denied, as for a read-only deployment", nil, denied, 1, false},
		{"reading is denied too", denied, denied, 2, false},
		{"the table is throttled", throttled, throttled, 0, true},
		{"another server is always quicker", nil, &types.ConditionalCheckFailedException{}, 0, true},
		{"the table cannot be reached", context.DeadlineExceeded, context.DeadlineExceeded, 0, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := oneItem{get: func() error { return row.get }, put: func() error { return row.put }}
				s := table.start(t)
				s.see("a", 30)
				time.Sleep(3 * time.Hour)
				if s.warnings() != row.warnings {
					t.Errorf("want %d warnings:\n%s", row.warnings, &s.log)
				}
				if row.warnings > 0 && table.puts > 1 {
					t.Errorf("%d tries to write, though the first was denied", table.puts)
				}
				if got := s.learnt(); got != 30 {
					t.Errorf("knows %d products, saw 30", got)
				}
				table.mu.Lock()
				table.get, table.put = nil, nil
				table.mu.Unlock()
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(table.record) > 0 != row.saves {
					t.Errorf("%d writes once nothing was in the way", len(table.record))
				}
			})
		})
	}
}

// A damaged or forged item is ignored with one line in the log, and replaced.
func TestDamagedItem(t *testing.T) {
	for _, text := range []string{"{}", "", "{", `{"products":{"products":-1}}`, `{"ratings":{"votes":1,"shares":{"6":1}}}`} {
		synctest.Test(t, func(t *testing.T) {
			table := oneItem{item: itemKey()}
			table.item[attrTally] = layout.Text(text)
			if text == "{}" {
				table.item[attrLarge] = layout.Binary(make([]byte, entryBytes+1))
			}
			s := table.start(t)
			if s.warnings() != 1 || strings.Contains(s.log.String(), "products\":") {
				t.Errorf("want one line that does not quote %s:\n%s", text, &s.log)
			}
			s.see("a", 30)
			s.stop()
			if s.warnings() != 1 {
				t.Errorf("want one line:\n%s", &s.log)
			}
			if got := table.start(t).learnt(); got != 30 {
				t.Errorf("afterwards %d products are known, want 30", got)
			}
		})
	}
}

// A table that does not answer delays neither the work nor its end.
func TestLoadingDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &hanging{}
		s := NewLearner()
		keeper := Keeper{Client: table, Table: "comments", Learner: s, Logger: slog.New(slog.DiscardHandler)}
		began := time.Now()
		if err := keeper.Beside(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > lastSave {
			t.Errorf("took %v", took)
		}
	})
}

// hanging is a table that never answers.
type hanging struct{}

func (hanging) GetItem(ctx context.Context, _ *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) PutItem(ctx context.Context, _ *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Learning and saving at the same time lose nothing.
func TestLearningBesideSaving(t *testing.T) {
	l, stored := NewLearner(), tally{}
	var group sync.WaitGroup
	for part := range 4 {
		group.Go(func() {
			for i := range 100 {
				l.Count(fmt.Sprint(part, "-", i), comment.Stats{"de": {0, 1, 0, 0, 0}})
				l.See(fmt.Sprint(part, "-", i), Seen{Count: 1, Ended: true})
				_, _, _ = l.Prior().Ratings, l.Hint("x"), l.NeedsLanguages("y", 3)
			}
		})
	}
	group.Go(func() {
		for i := range 50 {
			if news, worth := l.take(); worth && i%3 == 0 {
				l.putBack()
			} else if worth {
				stored = stored.plus(news)
				l.saved(stored)
			}
		}
	})
	group.Wait()
	l.publish()
	if got := l.Prior().Learnt; got != 400 {
		t.Errorf("knows %d products, saw 400", got)
	}
}
