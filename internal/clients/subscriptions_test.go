package clients

import (
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" { // it was started by serving
		ctx, stop := command.Signals()
		defer stop()
		os.Exit(command.Main(ctx, os.Args[1:], command.StandardTerminal()))
	}
	dynamotest.Main(m)
}

// Clients follow the comments of a product at one of two servers, which holds each comment until a
// moderator lets it in. When it stops, they go on at the other.
func TestSubscriptions(t *testing.T) {
	buildRelay(t)
	const most = "15" // two of each client, and one that is refused
	flags := append(followedTable(t), "--max-subscriptions", most, "--moderation", "hold", "--trusted-documents", relayManifest)
	leaving, staying := serving(t, flags...), serving(t, flags...)
	run(t, "subscriptions", nodeTest("subscriptions.test.mjs"),
		"TALKBACK_PRODUCT=kettle", "TALKBACK_SUBSCRIPTIONS="+most, "TALKBACK_LEAVING="+strconv.Itoa(leaving.process.Pid),
		"TALKBACK_URL=http://"+front(t, leaving.host, staying.host)+"/graphql", "TALKBACK_OTHER_URL=http://"+staying.host+"/graphql")
}

// followedTable makes a table whose events are wanted, or the first might be missed. It returns the
// flags that name it.
func followedTable(t *testing.T) []string {
	t.Helper()
	endpoint, name := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	must.Do(t, outbox.New(client, name).Want(t.Context(), "test", time.Hour))
	return []string{"--endpoint", endpoint, "--table", name}
}

// server is the program as a process of its own.
type server struct {
	process *os.Process
	host    string
}

var saysWhere = regexp.MustCompile(`API +http://(\S+)/graphql`)

// serving starts the program, which is that of the tests, and waits until it says where it answers.
func serving(t *testing.T, flags ...string) server {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"}, flags...)...)
	where := servertest.Says(t, process, process.StderrPipe, saysWhere)
	return server{process.Process, where[1]}
}

// front returns an address that leads to the first of some servers that takes connections.
func front(t *testing.T, servers ...string) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(conn, servers)
		}
	}()
	return listener.Addr().String()
}

// pass connects a client with the first server that takes the connection, until one of them is
// gone.
func pass(client net.Conn, servers []string) {
	defer client.Close()
	for _, host := range servers {
		behind, err := net.Dial("tcp", host)
		if err != nil {
			continue
		}
		go func() {
			defer behind.Close()
			_, _ = io.Copy(behind, client)
		}()
		_, _ = io.Copy(client, behind)
		return
	}
}

// relayManifest is the file of trusted documents that Relay's compiler makes.
const relayManifest = "relay/__generated__/persisted.json"

// buildRelay has Relay's compiler make what two tests run.
func buildRelay(t *testing.T) {
	t.Helper()
	needClients(t)
	must.Do(t, relayBuilt())
}

var relayBuilt = sync.OnceValue(func() error {
	process := exec.Command("node", "build.mjs")
	process.Dir = "relay"
	process.Stderr = os.Stderr
	return process.Run()
})
