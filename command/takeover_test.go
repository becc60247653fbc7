package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// countFolder runs `talkback stream` on a data folder, and returns when the process holds the
// lease, with a client of its engine. The lease lasts too long to wait for its end.
func countFolder(t *testing.T, folder string) (*counter, *leases.Leases, *dynamo.Store) {
	t.Helper()
	_ = os.Remove(filepath.Join(folder, "engine.json")) // a killed process leaves it behind
	c := startStream(t, os.Environ(), "--data", folder, "--engine", dynamotest.DynoxideBinary(t), "--lease-time", "1h", "--create-table")
	var record struct{ Endpoint string }
	eventually(t, "the engine answers", func() bool {
		text, err := os.ReadFile(filepath.Join(folder, "engine.json"))
		return err == nil && json.Unmarshal(text, &record) == nil && record.Endpoint != ""
	})
	client := call.NewLocalClient(record.Endpoint)
	leases := leases.NewLeases(client, layout.DefaultTable)
	eventually(t, "the process holds the lease", func() bool {
		_, all, err := leases.Current(t.Context())
		return err == nil && len(all) == 1 && all[0].Owner != "" && all[0].Engine == record.Endpoint
	})
	return c, leases, dynamo.NewStore(client, layout.DefaultTable, dynamo.Options{})
}

// A process that starts on the data folder of one that was killed takes over its shards at once,
// since the engine ended with it. The lease itself would last for an hour.
func TestWhatAKilledProcessReadIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	first, leases, _ := countFolder(t, folder)
	_, before, err := leases.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.kill()

	second, _, store := countFolder(t, folder)
	added := commenttest.Random(commenttest.Rand(t), "globe")
	added.Version, added.UpdatedAt = 1, nil
	if _, err := store.Add(t.Context(), added, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was written after the restart is counted", func() bool {
		stats, _, err := store.StatsOf(t.Context(), []string{"globe"})
		return err == nil && stats["globe"].Counts(comment.Filter{}).Total() == 1
	})
	if before[0].Owner == "" {
		t.Errorf("the first process held nothing: %+v", before)
	}
	second.stop()
}
