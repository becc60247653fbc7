package stream

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// crowd is a stream of many shards, each of which has more records than anyone reads. No record can
// be counted.
type crowd struct {
	*process
	shards int

	mu   sync.Mutex
	read map[string]int // records, by shard
}

// Shards implements Source.
func (c *crowd) Shards(context.Context) (Listing, error) {
	listing := Listing{Label: simLabel}
	for i := range c.shards {
		listing.Shards = append(listing.Shards, Shard{ID: fmt.Sprint("shard ", i)})
	}
	return listing, nil
}

// Open implements Source.
func (c *crowd) Open(_ context.Context, _, shard, _ string) (string, error) { return shard, nil }

// Read implements Source.
func (c *crowd) Read(_ context.Context, _, shard string) (Batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	batch := Batch{Next: shard}
	for range 250 {
		c.read[shard]++
		sequence := strconv.Itoa(c.read[shard])
		batch.Records = append(batch.Records, Record{
			Sequence: sequence, Position: PositionOf(simLabel, sequence), Created: time.Now(),
			Keys: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "0"}},
		})
	}
	return batch, nil
}

// Swap stores a lease, whatever is in the records.
func (c *crowd) Swap(_ context.Context, _ string, _, new Lease) error {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.leases[new.Shard] = new
	return nil
}

// SendHeartbeat sends none.
func (c *crowd) SendHeartbeat(context.Context, Heartbeat) error { return nil }

// HeartbeatOf finds none.
func (c *crowd) HeartbeatOf(Record) (Heartbeat, bool) { return Heartbeat{}, false }

// Own tells that no record is of a lease.
func (c *crowd) Own(Record) bool { return false }

func (c *crowd) wait(_ context.Context, records []Record) error {
	waiting := RecordErrors{}
	for i := range records {
		waiting[i] = errContended
	}
	return waiting
}

// What waits is bounded for a process, however many shards it reads. A process with few shards has
// as many records of each as it may.
func TestWaitingRecordsOfAProcess(t *testing.T) {
	for shards, most := range map[int]int{2: mostWaiting, 64: mostOfProcess / 64} {
		var c *crowd
		inWorld(t, 0, func(t *testing.T, w *world, start starter) {
			start("alone", func(p *process, consumer *Consumer) {
				c = &crowd{process: p, shards: shards, read: map[string]int{}}
				consumer.Source, consumer.Leases, consumer.Handler = c, c, c.wait
			})
			time.Sleep(40 * time.Second)
		})
		for shard, read := range c.read {
			if read < most || read > most+250 {
				t.Errorf("%s of %d shards: %d records were read, want %d", shard, shards, read, most)
			}
		}
		if len(c.read) != shards {
			t.Errorf("%d of %d shards were read", len(c.read), shards)
		}
	}
}
