package redis

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// follow returns the position of a record.
func follow(n int) stream.Position { return stream.PositionOf("2026-01-01", fmt.Sprint(n)) }

// victimVariable is the environment variable that names the server for the writing process.
const victimVariable = "TALKBACK_TEST_REDIS_VICTIM"

// perBatch is the number of comments that each batch changes, always the same ones.
const perBatch = 300

// A process that is killed while it writes loses nothing acknowledged, and leaves no half of a
// batch.
func TestWriterIsKilled(t *testing.T) {
	if target := os.Getenv(victimVariable); target != "" {
		writeForEver(t, target)
	}
	server := redistest.Start(t)
	s := openStore(t, server.URL())
	r := commenttest.Rand(t)
	for range commenttest.Times(10, 100) {
		acknowledged := runAndKill(t, server.URL(), 1+r.IntN(12))
		for batch := acknowledged; ; batch++ {
			if batch > acknowledged+1 {
				t.Fatalf("it holds neither batch %d, which was acknowledged last, nor the one after it", acknowledged)
			}
			if holds(t, s, batch) {
				break
			}
		}
		server.Must(t, "FLUSHALL")
	}
}

// runAndKill runs a writing process, kills it after some batches, and returns the number of the
// last acknowledged batch.
func runAndKill(t *testing.T, target string, after int) int {
	t.Helper()
	writer := exec.Command(os.Args[0], "-test.run=^TestWriterIsKilled$")
	writer.Env = append(os.Environ(), victimVariable+"="+target)
	out, err := writer.StdoutPipe()
	must.Do(t, err)
	must.Do(t, writer.Start())
	last := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if last == after {
			must.Do(t, writer.Process.Kill())
		}
	}
	_ = writer.Wait() // it was killed
	return last
}

// writeForEver writes batches and prints the number of each acknowledged one.
func writeForEver(t *testing.T, target string) {
	s := openStore(t, target)
	for batch := 1; ; batch++ {
		must.Do(t, s.Apply(t.Context(), batchOf(batch)))
		fmt.Println(batch)
	}
}

// batchOf returns entries that move all comments to the cells of a batch.
func batchOf(batch int) (out []pageindex.Entry) {
	for i := range perBatch {
		e := entry(i, batch*perBatch)
		e.Cell = &comment.Cell{Language: commenttest.Languages[batch%4], Rating: 1 + (batch+i)%comment.MaxRating}
		out = append(out, e)
	}
	return out
}

// holds reports whether the store holds exactly the comments of a batch, by its counts and by its
// sets.
func holds(t *testing.T, s *Store, batch int) bool {
	t.Helper()
	filter := comment.Filter{Languages: []comment.Language{commenttest.Languages[batch%4]}}
	here, err := s.Find(t.Context(), pageindex.List{Product: product, Filter: filter, Order: comment.OldestFirst}, []pageindex.Target{{Rank: perBatch, Exact: true}})
	must.Do(t, err)
	whole, err := s.Find(t.Context(), all, []pageindex.Target{{Rank: 150, Exact: true}})
	must.Do(t, err)
	return here.Counts.Total() == perBatch && whole.Counts.Total() == perBatch && whole.Boundaries[0].Rank == 150
}
