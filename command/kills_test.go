package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// kills is how many processes are killed, with one and with two of them at work.
func kills() int {
	return commenttest.Times(6, 150)
}

// counter is a process that counts.
type counter struct {
	t       *testing.T
	process *exec.Cmd
	said    commenttest.Transcript
	group   sync.WaitGroup
}

// startCounter runs `talkback stream`, with page numbers in the given place. Its leases are short,
// so that others soon take over what it leaves.
func startCounter(t *testing.T, a *api, pages place) *counter {
	t.Helper()
	return startStream(t, pages.environ(), "--endpoint", a.session.Address, "--table", a.session.Table, "--lease-time", "300ms")
}

// startStream runs `talkback stream` until it is stopped or killed.
func startStream(t *testing.T, environment []string, arguments ...string) *counter {
	t.Helper()
	c := &counter{t: t, process: exec.Command(binary(t), append([]string{"stream"}, arguments...)...)}
	c.process.Env, c.process.Stderr = environment, &c.said
	must.Do(t, c.process.Start())
	c.group.Go(func() { _ = c.process.Wait() }) // it is killed on purpose
	t.Cleanup(c.kill)
	return c
}

// kill ends the process as a power failure would.
func (c *counter) kill() {
	_ = c.process.Process.Kill() // it may have ended
	c.group.Wait()
}

// stop interrupts the process, once it counts. Interrupting it during its start is an error.
func (c *counter) stop() {
	c.t.Helper()
	must.Wait(c.t, "the process counts", func() bool { return strings.Contains(c.said.String(), "Talkback counts comments.") })
	if err := c.process.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatalf("%v\n%s", err, &c.said)
	}
	c.group.Wait()
	if !c.process.ProcessState.Success() {
		c.t.Errorf("status %v\n%s", c.process.ProcessState, &c.said)
	}
}

// Processes that count are killed in the midst of it, again and again, while comments are added,
// edited and deleted. In the end, the counts are exact.
func TestCountersAreKilled(t *testing.T) {
	t.Parallel()
	for workers := 1; workers <= 2; workers++ {
		t.Run(fmt.Sprintf("%d at work", workers), func(t *testing.T) {
			t.Parallel()
			newMassacre(t, workers, inTable).run(kills())
		})
	}
}

// massacre is a table whose counters are killed.
type massacre struct {
	*api
	t       *testing.T
	pages   place
	random  *rand.Rand
	scribe  *scribe
	bulk    *commenttest.Model // of comments that are added and deleted in large numbers
	crew    []*counter
	changes string // of the statistics, as last seen
	struck  int    // kills that left changes to count
}

func newMassacre(t *testing.T, workers int, pages place) *massacre {
	t.Helper()
	a := newAPI(t, dynamotest.Dynoxide(t))
	m := &massacre{api: a, t: t, pages: pages, random: commenttest.Rand(t), scribe: newScribe(a), bulk: commenttest.NewModel(), crew: make([]*counter, workers)}
	for i := range m.crew {
		m.crew[i] = startCounter(t, a, pages)
	}
	return m
}

// run kills processes. It goes on beyond the number until a quarter of them, or one, came before
// everything was counted: the machine decides how soon a kill strikes.
func (m *massacre) run(kills int) {
	enough := max(1, kills/4)
	if len(m.crew) > 1 {
		enough = 0 // the other process goes on counting
	}
	done := 0
	for ; done < kills || m.struck < enough && done < 10*kills; done++ {
		m.write(150, 90)
		var writing sync.WaitGroup
		writing.Go(func() {
			for range 6 {
				m.scribe.writeAnywhere()
			}
		})
		m.untilCounting()
		for range m.random.IntN(10) {
			m.changes = m.seen() // a moment more
		}
		victim := m.random.IntN(len(m.crew))
		m.crew[victim].kill()
		writing.Wait()
		if m.total() != len(m.bulk.All())+len(m.scribe.model.All()) {
			m.struck++
		}
		m.crew[victim] = startCounter(m.t, m.api, m.pages)
	}
	m.drained(time.Now())
	m.untilNumbered()
	for _, c := range m.crew {
		c.stop()
	}
	m.checkPages()
	for _, c := range m.bulk.All() {
		m.scribe.model.Insert(c)
	}
	m.scribe.checkCounted()
	m.t.Logf("%d kills, %d of them before all was counted, %d comments in the end", done, m.struck, len(m.scribe.model.All()))
	if m.struck < enough {
		m.t.Errorf("only %d of %d kills struck in the midst of counting: this proves little", m.struck, done)
	}
}

// write adds and deletes comments in large numbers.
func (m *massacre) write(added, deleted int) {
	m.t.Helper()
	var comments []comment.Comment
	for range added {
		c := commenttest.Random(m.random, products[m.random.IntN(len(products))])
		comments = append(comments, c)
		m.bulk.Insert(c)
	}
	m.load(comments...)
	there := m.bulk.All()
	m.random.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
	var requests []types.WriteRequest
	for _, c := range there[:deleted] {
		m.bulk.Delete(c.ID)
		requests = append(requests, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: layout.CommentKey(c.ID)}})
	}
	for batch := range slices.Chunk(requests, 25) {
		output, err := m.session.Client.BatchWriteItem(context.Background(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{m.session.Table: batch},
		})
		if err != nil || len(output.UnprocessedItems) > 0 {
			m.t.Fatal(err, output)
		}
	}
}

// total returns how many comments are counted.
func (m *massacre) total() int {
	m.t.Helper()
	found, failed, err := dynamo.NewStore(m.session.Client, m.session.Table, dynamo.Options{}).StatsOf(context.Background(), products)
	if err != nil || len(failed) > 0 {
		m.t.Fatal(err, failed)
	}
	total := 0
	for _, stats := range found {
		total += stats.Total()
	}
	return total
}

// untilCounting waits until a counter has changed something: usually it has more to do then.
func (m *massacre) untilCounting() {
	m.t.Helper()
	before := m.changes
	must.Wait(m.t, "a counter counts", func() bool {
		m.changes = m.seen()
		return m.changes != before
	})
}

// seen returns the number of changes of each product's statistics.
func (m *massacre) seen() string {
	m.t.Helper()
	var keys []map[string]types.AttributeValue
	for _, product := range products {
		keys = append(keys, layout.ProductKey(product, layout.StatisticsSK))
	}
	output, err := m.session.Client.BatchGetItem(context.Background(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		m.session.Table: {Keys: keys, ProjectionExpression: aws.String("PK, n")},
	}})
	must.Do(m.t, err)
	byProduct := map[string]string{}
	for _, item := range output.Responses[m.session.Table] {
		byProduct[item["PK"].(*types.AttributeValueMemberS).Value] = item["n"].(*types.AttributeValueMemberN).Value
	}
	return fmt.Sprint(byProduct) // sorted
}

// drained waits until everything written before a moment is counted.
func (a *api) drained(before time.Time) {
	a.tb.Helper()
	leases := leases.NewLeases(a.session.Client, a.session.Table)
	must.Wait(a.tb, "all is counted", func() bool {
		upTo, known, err := leases.ProcessedUpTo(context.Background())
		return err == nil && known && !upTo.Before(before)
	})
}

// countFolder runs `talkback stream` on a data folder, and returns when the process holds the
// lease, with a client of its engine. The lease lasts too long to wait for its end.
func countFolder(t *testing.T, folder string) (*counter, *leases.Leases, *dynamo.Store) {
	t.Helper()
	_ = os.Remove(filepath.Join(folder, "engine.json")) // a killed process leaves it behind
	c := startStream(t, os.Environ(), "--data", folder, "--engine", dynamotest.DynoxideBinary(t), "--lease-time", "1h", "--create-table")
	var record struct{ Endpoint string }
	must.Wait(t, "the engine answers", func() bool {
		text, err := os.ReadFile(filepath.Join(folder, "engine.json"))
		return err == nil && json.Unmarshal(text, &record) == nil && record.Endpoint != ""
	})
	client := call.NewLocalClient(record.Endpoint)
	leases := leases.NewLeases(client, layout.DefaultTable)
	must.Wait(t, "the process holds the lease", func() bool {
		_, all, err := leases.Current(t.Context())
		return err == nil && len(all) == 1 && all[0].Owner != "" && all[0].Engine == record.Endpoint
	})
	return c, leases, dynamo.NewStore(client, layout.DefaultTable, dynamo.Options{})
}

// A process that starts on the data folder of one that was killed takes over its shards at once,
// since the engine ended with it. The lease itself would last for an hour. Until then, status and
// doctor say that nobody reads them.
func TestWhatAKilledProcessReadIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	first, leases, _ := countFolder(t, folder)
	_, before, err := leases.Current(t.Context())
	must.Do(t, err)
	first.kill()
	for want, words := range map[string][]string{"shardId-00000001-comments none": {"stream", "--status"}, "no process reads 1 of 1 shards": {"doctor"}} {
		said, _ := exec.Command(binary(t), append(words, "--data", folder, "--engine", dynamotest.DynoxideBinary(t))...).CombinedOutput() // the status follows from what it says
		if !strings.Contains(strings.Join(strings.Fields(string(said)), " "), want) {
			t.Errorf("%v: %s", words, said)
		}
	}

	second, _, store := countFolder(t, folder)
	added := commenttest.Random(commenttest.Rand(t), "globe")
	added.Version, added.UpdatedAt = 1, nil
	must.Get(store.Add(t.Context(), added, ""))(t)
	must.Wait(t, "what was written after the restart is counted", func() bool {
		stats, _, err := store.StatsOf(t.Context(), []string{"globe"})
		return err == nil && stats["globe"].Counts(comment.Filter{}).Total() == 1
	})
	if before[0].Owner == "" {
		t.Errorf("the first process held nothing: %+v", before)
	}
	second.stop()
}
