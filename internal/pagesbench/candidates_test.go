package pagesbench

import (
	"context"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
	"github.com/talkback/talkback/pageindex/redis"
	"github.com/talkback/talkback/pageindex/relational"
)

// candidate is a store to measure.
type candidate struct {
	name string
	open func(t *testing.T) subject
	// written opens one for more comments than can be built in time, nil if all can be built.
	written func(t *testing.T) subject
}

// mostBuilt is the largest number of comments that is built for a candidate that can also be
// written.
const mostBuilt = 100_000

// Store is the part of a pageindex.Store that is measured.
type Store interface {
	pageindex.Index
	Apply(ctx context.Context, entries []pageindex.Entry) error
	Build(ctx context.Context) (pageindex.Build, error)
}

// subject is an empty store to measure that stays open until the test ends.
type subject struct {
	Store
	// build fills the store, and returns the time that took, 0 if it differs from a rebuild. Nil
	// uses Build, Add and Finish.
	build func(t *testing.T, entries []pageindex.Entry) time.Duration
	// size returns the number of bytes that the store takes.
	size func(t *testing.T) int64
	// units returns the write units consumed so far. It is nil for a store without units.
	units func() float64
	// changes is the number of times that each change is measured, 0 for the usual number.
	changes int
}

// candidates are the stores, in the order of the report.
var candidates = []candidate{
	{name: "table", open: openTable},
	{name: "markers", open: openMarkers, written: openWrittenMarkers},
	{name: "redis", open: openRedis},
	{name: "sqlite", open: openSQLite},
	{name: "postgres", open: openPostgres},
	{name: "files", open: openFiles},
	{name: "s3", open: openS3},
}

// closer is the method that all stores have.
type closer interface{ Close() error }

// until closes a store when the test ends.
func until[S closer](t *testing.T, s S, err error) S {
	t.Helper()
	must.Do(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openSQLite(t *testing.T) subject {
	folder := t.TempDir()
	s, err := relational.OpenSQLite(t.Context(), filepath.Join(folder, "pages.db"))
	return subject{Store: until(t, s, err), size: bytesIn(folder)}
}

func openFiles(t *testing.T) subject {
	folder := t.TempDir()
	s, err := objects.OpenFolder(t.Context(), folder)
	return subject{Store: until(t, s, err), size: bytesIn(folder)}
}

func openS3(t *testing.T) subject {
	server := s3test.Start(t)
	server.Environment(t)
	s, err := objects.OpenBucket(t.Context(), "s3://"+s3test.Bucket+"/measured")
	return subject{Store: until(t, s, err), size: bytesIn(server.Path("measured"))}
}

// bytesIn returns a function that returns the total size of the files in a folder.
func bytesIn(folder string) func(t *testing.T) int64 {
	return func(t *testing.T) (sum int64) {
		must.Do(t, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				sum += must.Get(entry.Info())(t).Size()
			}
			return err
		}))
		return sum
	}
}

func openRedis(t *testing.T) subject {
	server := redistest.Start(t)
	client := goredis.NewClient(&goredis.Options{Addr: server.Address()})
	t.Cleanup(func() { client.Close() })
	s, err := redis.Open(t.Context(), server.URL(), "comments")
	used := func(t *testing.T) int64 {
		info := must.Get(client.Info(t.Context(), "memory").Result())(t)
		_, rest, _ := strings.Cut(info, "used_memory:")
		digits, _, _ := strings.Cut(rest, "\r\n")
		bytes, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.Fatalf("how much memory Redis uses: %v", err)
		}
		return bytes
	}
	empty := used(t)
	return subject{Store: until(t, s, err), size: func(t *testing.T) int64 { return used(t) - empty }}
}

func openPostgres(t *testing.T) subject {
	target := postgrestest.Database(t)
	s, err := relational.OpenPostgres(t.Context(), target, "comments")
	return subject{Store: until(t, s, err), size: func(t *testing.T) (sum int64) {
		db := connect(t, target)
		row := db.QueryRow(t.Context(), `SELECT SUM(pg_total_relation_size(oid)) FROM pg_class
			WHERE relkind = 'r' AND relnamespace = 'talkback_comments'::regnamespace`)
		must.Do(t, row.Scan(&sum))
		return sum
	}}
}

// connect connects to a database until the test ends.
func connect(t *testing.T, target string) *pgx.Conn {
	t.Helper()
	db := must.Get(pgx.Connect(t.Context(), target))(t)
	t.Cleanup(func() { db.Close(context.WithoutCancel(t.Context())) })
	return db
}
