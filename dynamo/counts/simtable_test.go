package counts_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// What the simulated table takes: latencies of DynamoDB within a region, and the write units that
// one partition has in a second.
const (
	readTakes      = 6 * time.Millisecond
	writeTakes     = 16 * time.Millisecond
	partitionUnits = 1000
	unitsPerItem   = 2 // of a transaction, up to 1 KB
	simLabel       = "2026-01-01T00:00:00.000"
)

// simTable is a table in memory, with its stream and its leases. A transaction that meets another
// one at an item is canceled, as is one of a partition that has no write units left. A canceled
// transaction costs what it would have cost.
type simTable struct {
	counts.VoteWriter // what the tests do not call

	mu       sync.Mutex
	items    map[string]layout.Item
	writing  map[string]bool // items of transactions under way
	units    map[string]float64
	refilled time.Time
	counted  map[string]time.Time // when the marker of a comment was written, by its position
	tries    int
	canceled map[string]int // transactions, by reason

	shards               [][]stream.Record
	heartbeats           map[stream.Position]stream.Heartbeat
	leases               map[string]stream.Lease
	state                stream.State
	records, deadLetters int

	votes             [layout.VoteSlices][]layout.Item // of one comment
	readsFree         time.Time                        // when the partition of the votes has a read unit again
	voteReads, totals int                              // read units of votes, and writes of their counts
}

func newSimTable(shards int) *simTable {
	return &simTable{
		items: map[string]layout.Item{}, writing: map[string]bool{}, units: map[string]float64{}, refilled: time.Now(),
		counted: map[string]time.Time{}, canceled: map[string]int{}, shards: make([][]stream.Record, shards),
		heartbeats: map[stream.Position]stream.Heartbeat{}, leases: map[string]stream.Lease{},
		state: stream.State{Complete: true, Since: time.Now()},
	}
}

func textOf(it layout.Item, attr string) string { return layout.NewReader(it).Text(attr) }

func keyOf(it layout.Item) string { return textOf(it, layout.AttrPK) + "|" + textOf(it, layout.AttrSK) }

func (s *simTable) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if err := task.Wait(ctx, readTakes); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]layout.Item{}}
	for table, wanted := range in.RequestItems {
		for _, key := range wanted.Keys {
			if it := s.items[keyOf(key)]; it != nil {
				out.Responses[table] = append(out.Responses[table], it)
			}
		}
	}
	return out, nil
}

// TransactWriteItems writes puts and checks conditions.
func (s *simTable) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := task.Wait(ctx, writeTakes/2); err != nil {
		return nil, err
	}
	keys, err := s.prepare(in.TransactItems)
	if err != nil {
		return nil, err
	}
	time.Sleep(writeTakes / 2) // whether or not the caller waits for it
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, write := range in.TransactItems {
		delete(s.writing, keys[i])
		if write.Put == nil {
			continue
		}
		s.items[keys[i]] = write.Put.Item
		if position, marker := strings.CutPrefix(textOf(write.Put.Item, layout.AttrSK), layout.MarkerSKPrefix); marker && s.counted[position].IsZero() {
			s.counted[position] = time.Now()
		}
	}
	return &dynamodb.TransactWriteItemsOutput{}, ctx.Err()
}

// prepare locks the items of a transaction, or says why it is canceled.
func (s *simTable) prepare(writes []types.TransactWriteItem) (keys []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refill()
	s.tries++
	reasons, canceled := make([]types.CancellationReason, len(writes)), false
	for i, write := range writes {
		condition, values, it := "", layout.Item(nil), layout.Item(nil)
		if write.Put != nil {
			it, condition, values = write.Put.Item, aws.ToString(write.Put.ConditionExpression), write.Put.ExpressionAttributeValues
		} else {
			it, condition, values = write.ConditionCheck.Key, *write.ConditionCheck.ConditionExpression, write.ConditionCheck.ExpressionAttributeValues
		}
		key := keyOf(it)
		keys = append(keys, key)
		partition := textOf(it, layout.AttrPK)
		reason := "None"
		switch {
		case s.units[partition] > partitionUnits-unitsPerItem:
			reason = "ThrottlingError"
		case s.writing[key]:
			reason = "TransactionConflict"
		case !holds(condition, values, s.items[key]):
			reason = "ConditionalCheckFailed"
		}
		if reason != "ThrottlingError" {
			s.units[partition] += unitsPerItem
		}
		if reason != "None" {
			s.canceled[reason]++
			canceled = true
		}
		reasons[i].Code = aws.String(reason)
	}
	if canceled {
		return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
	}
	for _, key := range keys {
		s.writing[key] = true
	}
	return keys, nil
}

// refill gives each partition the units of the time that passed. The caller holds the lock.
func (s *simTable) refill() {
	passed := time.Since(s.refilled).Seconds() * partitionUnits
	s.refilled = time.Now()
	for partition := range s.units {
		if s.units[partition] -= passed; s.units[partition] <= 0 {
			delete(s.units, partition)
		}
	}
}

// holds reports whether an item meets a condition: some that are joined by OR, each of some that
// are joined by AND.
func holds(condition string, values, it layout.Item) bool {
	return condition == "" || slices.ContainsFunc(strings.Split(condition, " OR "), func(all string) bool {
		return !slices.ContainsFunc(strings.Split(all, " AND "), func(term string) bool { return !holdsTerm(term, values, it) })
	})
}

func holdsTerm(term string, values, it layout.Item) bool {
	if attr, exists := strings.CutPrefix(term, "attribute_exists("); exists {
		return it[strings.TrimSuffix(attr, ")")] != nil
	}
	if attr, not := strings.CutPrefix(term, "attribute_not_exists("); not {
		return it[strings.TrimSuffix(attr, ")")] == nil
	}
	attr, value, _ := strings.Cut(term, " = ")
	return reflect.DeepEqual(it[attr], values[value])
}

// publish puts a change of an item into the stream. The caller holds the lock.
func (s *simTable) publish(shard int, record stream.Record) stream.Position {
	s.records++
	record.Sequence = strconv.Itoa(s.records)
	record.Position, record.Created = stream.PositionOf(simLabel, record.Sequence), time.Now().Truncate(time.Second)
	s.shards[shard] = append(s.shards[shard], record)
	return record.Position
}

// write changes the rating of a comment. 0 is that of a comment that is not there.
func (s *simTable) write(product string, id comment.ID, before, after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	image := func(rating int) layout.Item {
		if rating == 0 {
			return nil
		}
		it := layout.CommentKey(id)
		it[layout.AttrAll] = layout.Text(layout.ProductPKPrefix + product)
		it[layout.AttrLanguage], it[layout.AttrRating] = layout.Text("en"), layout.Number(int64(rating))
		return it
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id))
	s.publish(int(hash.Sum32())%len(s.shards), stream.Record{Old: image(before), New: image(after), Keys: layout.CommentKey(id)})
}

func shardName(i int) string { return fmt.Sprintf("shard-%02d", i) }

func (s *simTable) Shards(context.Context) (stream.Listing, error) {
	listing := stream.Listing{Label: simLabel}
	for i := range s.shards {
		listing.Shards = append(listing.Shards, stream.Shard{ID: shardName(i)})
	}
	return listing, nil
}

func (s *simTable) Open(_ context.Context, _, shard, after string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := strconv.Atoi(strings.TrimPrefix(shard, "shard-"))
	at := 1 + slices.IndexFunc(s.shards[i], func(r stream.Record) bool { return r.Sequence == after })
	return fmt.Sprint(i, " ", at), nil
}

func (s *simTable) Read(ctx context.Context, _, iterator string) (batch stream.Batch, err error) {
	if err := task.Wait(ctx, readTakes); err != nil {
		return batch, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var shard, at int
	_, _ = fmt.Sscan(iterator, &shard, &at)
	batch.Records = slices.Clone(s.shards[shard][at:min(at+1000, len(s.shards[shard]))])
	batch.Next = fmt.Sprint(shard, " ", at+len(batch.Records))
	return batch, nil
}

func (s *simTable) List(context.Context, string) ([]stream.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.leases)), nil
}

func (s *simTable) Swap(_ context.Context, _ string, old, new stream.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.leases[new.Shard]; there.Owner != old.Owner || there.Counter != old.Counter {
		return comment.Errorf(comment.Conflict, "another process was first")
	}
	s.leases[new.Shard] = new
	return nil
}

func (s *simTable) SendHeartbeat(_ context.Context, heartbeat stream.Heartbeat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, _ := strconv.Atoi(heartbeat.Key)
	position := s.publish(key%len(s.shards), stream.Record{Keys: layout.Key("HEARTBEAT", heartbeat.Key)})
	s.heartbeats[position] = heartbeat
	return nil
}

func (s *simTable) HeartbeatOf(record stream.Record) (stream.Heartbeat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heartbeat, is := s.heartbeats[record.Position]
	return heartbeat, is
}

func (s *simTable) Own(record stream.Record) bool {
	_, heartbeat := s.HeartbeatOf(record)
	return heartbeat
}

func (s *simTable) State(context.Context) (stream.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, nil
}

func (s *simTable) SwapState(_ context.Context, old, new stream.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Version != old.Version {
		return comment.Errorf(comment.Conflict, "another process was first")
	}
	new.Version++
	s.state = new
	return nil
}

func (s *simTable) PutDeadLetter(context.Context, string, stream.DeadLetter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadLetters++
	return nil
}

// GetItem gets an item, without a wait.
func (s *simTable) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &dynamodb.GetItemOutput{Item: s.items[keyOf(in.Key)]}, nil
}

// processedUpTo returns the watermark of all shards.
func (s *simTable) processedUpTo() (time.Time, bool) {
	leases, _ := s.List(context.Background(), simLabel)
	upTo, known := stream.ProcessedUpTo(leases)
	return upTo, known && len(leases) == len(s.shards)
}

// simProcess is a process that counts. After it is killed it writes no lease.
type simProcess struct {
	*simTable
	killed atomic.Bool
	stop   func()
}

func (p *simProcess) Swap(ctx context.Context, label string, old, new stream.Lease) error {
	if p.killed.Load() {
		return context.Canceled
	}
	return p.simTable.Swap(ctx, label, old, new)
}

func (s *simTable) start(t *testing.T) *simProcess {
	p := &simProcess{simTable: s}
	c := &stream.Consumer{
		Source: p, Leases: p, Journal: p, Logger: slog.New(slog.DiscardHandler),
		Handler: counts.NewCounter(s, "comments", counts.CounterOptions{Patience: counts.Patience, VotesAtOnce: counts.VotesAtOnce}).Handle,
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	p.stop = func() { cancel(); <-ended }
	return p
}
