package httpapi

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/internal/redisdial"
)

// perQuery is about how much memory a query takes besides its text, in bytes.
const perQuery = 400

// AutomaticQueries remembers the queries that clients registered, up to a number of bytes. It
// forgets the least recently used first. It is safe for concurrent use.
type AutomaticQueries struct {
	limit  int
	shared SharedQueries

	mu   sync.Mutex
	held int                            // bytes
	kept *simplelru.LRU[string, string] // texts by their hashes
}

// SharedQueries remembers queries for several servers. It may forget any. Its calls take little
// time even when it is away. The caller checks the hash of a text that Find returns.
type SharedQueries interface {
	Find(ctx context.Context, hash string) (text string)
	Add(ctx context.Context, hash, text string)
}

// queryBytes returns about how much memory a query takes, in bytes.
func queryBytes(text string) int { return perQuery + len(text) }

// NewAutomaticQueries returns an empty memory of limit bytes. shared may be nil.
func NewAutomaticQueries(limit int, shared SharedQueries) *AutomaticQueries {
	a := &AutomaticQueries{limit: limit, shared: shared}
	kept, err := simplelru.NewLRU(limit/perQuery+1, func(_, text string) { a.held -= queryBytes(text) })
	if err != nil {
		panic(err) // the number is above 0
	}
	a.kept = kept
	return a
}

// Find returns the text with a hash, as hashOf makes it.
func (a *AutomaticQueries) Find(ctx context.Context, hash string) (text string, found bool) {
	if text, found = a.find(hash); found || a.shared == nil {
		return text, found
	}
	text = a.shared.Find(ctx, hash)
	if text == "" || hashOf(text) != hash {
		return "", false
	}
	a.keep(hash, text)
	return text, true
}

func (a *AutomaticQueries) find(hash string) (text string, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept.Get(hash)
}

// Add remembers a text, whose hash the caller has checked. It passes even a known text on to the
// shared memory: some server did not know it, or the client would not have sent it.
func (a *AutomaticQueries) Add(ctx context.Context, hash, text string) {
	if _, known := a.find(hash); !known {
		a.keep(strings.Clone(hash), strings.Clone(text)) // copies do not keep the request in memory
	}
	if a.shared != nil {
		a.shared.Add(ctx, hash, text)
	}
}

// keep remembers a query, unless it is larger than the whole memory.
func (a *AutomaticQueries) keep(hash, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept.Contains(hash) || queryBytes(text) > a.limit {
		return
	}
	a.kept.Add(hash, text)
	for a.held += queryBytes(text); a.held > a.limit; {
		a.kept.RemoveOldest()
	}
}

const (
	// querySlots is how many queries are in Redis at most. The hash of a query selects its slot, so a
	// new query may replace another one, and clients can fill no more than querySlots times
	// longestShared.
	querySlots = 2048
	// longestShared is the longest text in Redis, in bytes.
	longestShared = 16 << 10
	// queryAge is how long a query stays in Redis unless a client sends it again.
	queryAge = 24 * time.Hour
	// redisPatience bounds a call to Redis, which takes less than 1 ms in the same network.
	redisPatience = 50 * time.Millisecond
	// redisPause is how long Redis is not called after a failure.
	redisPause = time.Second
	// redisQuiet is the time after a warning in which no other is logged.
	redisQuiet = time.Minute
)

// QueriesInRedis remembers queries for several servers. It implements [SharedQueries] and is safe
// for concurrent use.
type QueriesInRedis struct {
	client goredis.UniversalClient
	name   redisdial.ServerName
	prefix string
	log    *slog.Logger

	patience time.Duration // bounds a call, for which a request waits

	mu            sync.Mutex
	alone, silent time.Time // until when Redis is not called, and no warning is logged
}

var _ SharedQueries = (*QueriesInRedis)(nil)

// OpenQueriesInRedis returns the memory at a URL such as redis://host:6379/0, which servers of one
// table share. It connects when it is first used.
func OpenQueriesInRedis(target, table string, log *slog.Logger) (*QueriesInRedis, error) {
	client, name, err := redisdial.Dial(target, redisdial.Bounds{Dial: time.Second, Call: redisPatience, Retries: redisdial.NoRetries})
	if err != nil {
		return nil, err
	}
	return &QueriesInRedis{client: client, name: name, prefix: "talkback:queries:" + table + ":", log: log, patience: redisPatience}, nil
}

// Close closes all connections.
func (r *QueriesInRedis) Close() error { return r.client.Close() }

// Find implements [SharedQueries].
func (r *QueriesInRedis) Find(ctx context.Context, hash string) (text string) {
	r.try(ctx, hash, func(ctx context.Context, key string) (err error) {
		text, err = r.client.Get(ctx, key).Result()
		if err == goredis.Nil || goredis.HasErrorPrefix(err, "WRONGTYPE") { // which Add replaces
			return nil
		}
		return err
	})
	return text
}

// Add implements [SharedQueries].
func (r *QueriesInRedis) Add(ctx context.Context, hash, text string) {
	if len(text) > longestShared {
		return
	}
	r.try(ctx, hash, func(ctx context.Context, key string) error {
		return r.client.Set(ctx, key, text, queryAge).Err()
	})
}

// Examine checks that the server permits what Find and Add do. It writes a key that expires after a
// millisecond.
func (r *QueriesInRedis) Examine(ctx context.Context) error {
	key := r.prefix + "examined"
	err := r.client.Get(ctx, key).Err()
	if err == nil || err == goredis.Nil {
		err = r.client.Set(ctx, key, "", time.Millisecond).Err()
	}
	if err != nil {
		return r.name.Failed(err)
	}
	return nil
}

// try calls Redis with the key of a hash, unless Redis is away.
func (r *QueriesInRedis) try(ctx context.Context, hash string, call func(ctx context.Context, key string) error) {
	key, ok := querySlot(r.prefix, hash)
	if !ok || r.away(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.patience)
	defer cancel()
	if err := call(ctx, key); err != nil {
		r.lose(r.name.Failed(err), time.Now())
	}
}

// querySlot returns the key of the slot of a hash. ok is false for a text that is no hash.
func querySlot(prefix, hash string) (key string, ok bool) {
	sum, err := hex.DecodeString(hash)
	if err != nil || len(sum) < 8 {
		return "", false
	}
	return prefix + strconv.FormatUint(binary.BigEndian.Uint64(sum)%querySlots, 10), true
}

func (r *QueriesInRedis) away(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.alone)
}

// lose notes that Redis is away.
func (r *QueriesInRedis) lose(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alone = now.Add(redisPause)
	if now.Before(r.silent) {
		return
	}
	r.silent = now.Add(redisQuiet)
	r.log.Warn("the Redis of persisted queries is away: this server remembers them by itself", "store", string(r.name), "error", err)
}
