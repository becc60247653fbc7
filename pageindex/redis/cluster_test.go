package redis

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// master is one of the two servers of a cluster.
type master struct {
	*redistest.Server
	client *goredis.Client
	id     string
}

// moving is the number of slots that move to the second master of a cluster, including the
// product's slot.
const moving = 100

// startCluster starts a cluster of two masters. The first has the slots that are to move.
func startCluster(t *testing.T) (first, second master) {
	t.Helper()
	start := func() master {
		server := redistest.Start(t, "--cluster-enabled", "yes")
		client := goredis.NewClient(&goredis.Options{Addr: server.Address()})
		t.Cleanup(func() { client.Close() })
		return master{server, client, must.Get(client.Do(t.Context(), "CLUSTER", "MYID").Text())(t)}
	}
	first, second = start(), start()
	slot := int(first.client.ClusterKeySlot(t.Context(), product).Val())
	begin := min(max(1, slot-moving/2), 16383-moving)
	first.Must(t, "CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(begin), fmt.Sprint(begin+moving-1))
	second.Must(t, "CLUSTER", "ADDSLOTSRANGE", "0", fmt.Sprint(begin-1), fmt.Sprint(begin+moving), "16383")
	host, port, _ := strings.Cut(second.Address(), ":")
	first.Must(t, "CLUSTER", "MEET", host, port)
	for _, m := range []master{first, second} {
		must.Wait(t, "the servers know each other", func() bool {
			info := m.client.ClusterInfo(t.Context()).Val()
			return strings.Contains(info, "cluster_known_nodes:2") && strings.HasPrefix(info, "cluster_state:ok")
		})
	}
	return first, second
}

// versions returns entries of n comments, in other cells for each version.
func versions(n, version int) (out []pageindex.Entry) {
	for i := range n {
		out = append(out, entry(i, 100*version+7*i+version))
	}
	return out
}

// checkHolds fails unless the product has exactly the comments of entries, each in its cell.
func checkHolds(t *testing.T, s *Store, entries []pageindex.Entry) {
	t.Helper()
	places := pageindex.Places{}
	for _, e := range entries {
		places.Add(*e.Cell, e.Position)
	}
	drifts, err := pageindex.Audit(t.Context(), s, product, places)
	if err != nil || len(drifts) > 0 {
		t.Errorf("%v %v", drifts, err)
	}
}

// Whichever keys of a product have moved to another server of a cluster, entries are applied once,
// or not at all.
func TestKeysMoveOneByOne(t *testing.T) {
	t.Parallel() // it waits most of the time, for keys that move
	first, second := startCluster(t)
	s := openStore(t, first.URL()+"?cluster=true")
	const n = 11
	must.Do(t, s.Apply(t.Context(), versions(n, 0)))
	g := must.Get(s.generations(t.Context()))(t)
	slot := first.client.ClusterKeySlot(t.Context(), s.keys.of(product, g.current)+stateName).Val()
	second.Must(t, "CLUSTER", "SETSLOT", fmt.Sprint(slot), "IMPORTING", first.id)
	first.Must(t, "CLUSTER", "SETSLOT", fmt.Sprint(slot), "MIGRATING", second.id)
	keys := must.Get(first.client.ClusterGetKeysInSlot(t.Context(), int(slot), 1000).Result())(t)
	version := 0
	for _, key := range keys {
		version++
		hurried, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_ = s.Apply(hurried, versions(n, version)) // Apply may be refused
		cancel()
		host, port, _ := strings.Cut(second.Address(), ":")
		must.Do(t, first.client.Migrate(t.Context(), host, port, key, 0, time.Second).Err())
	}
	for _, m := range []master{second, first} {
		m.Must(t, "CLUSTER", "SETSLOT", fmt.Sprint(slot), "NODE", second.id)
	}
	must.Do(t, s.Apply(t.Context(), versions(n, version+1)))
	checkHolds(t, s, versions(n, version+1))
	conformance.Build(t, s, versions(n, version+2), "anew")
	for range 10 { // in whichever order the servers answer
		conformance.CheckCovers(t, s, "anew")
	}
	checkHolds(t, s, versions(n, version+2))
}

// Redis's own tool moves slots while entries are applied.
func TestReshard(t *testing.T) {
	t.Parallel() // it waits most of the time, for redis-cli
	first, second := startCluster(t)
	s := openStore(t, first.URL()+"?cluster=true")
	const n = 200
	must.Do(t, s.Apply(t.Context(), versions(n, 0)))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	resharded := make(chan string, 1)
	go func() {
		out, err := exec.CommandContext(ctx, "redis-cli", "--cluster", "reshard", first.Address(), "--cluster-from", first.id, "--cluster-to", second.id,
			"--cluster-slots", fmt.Sprint(moving), "--cluster-yes", "--cluster-pipeline", "1").CombinedOutput()
		resharded <- fmt.Sprint(err) + lastLines(string(out))
	}()
	version, refused := 0, 0
	for moved := false; !moved; {
		version++
		hurried, cancel := context.WithTimeout(ctx, time.Second)
		if err := s.Apply(hurried, versions(n, version)); err != nil {
			refused++
			if kind := comment.KindOf(err); kind != comment.Unavailable && kind != comment.Timeout {
				t.Error(err)
			}
		}
		cancel()
		select {
		case said := <-resharded:
			if moved = true; !strings.HasPrefix(said, "<nil>") {
				t.Fatal(said)
			}
		default:
		}
	}
	t.Log(strconv.Itoa(version) + " batches, refused: " + strconv.Itoa(refused))
	must.Do(t, s.Apply(t.Context(), versions(n, version+1)))
	checkHolds(t, s, versions(n, version+1))
}

func lastLines(out string) string { return out[max(0, len(out)-300):] }
