package clients

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// patience bounds every wait for a program. It is reached only by a failure.
const patience = 5 * time.Minute

// client is a program, in the folder of its name, and what makes it.
type client struct {
	name string
	// needs leaves the test out where the program cannot run. It may be nil.
	needs func(*testing.T)
	// steps are the commands to run, in the client's folder; the last is the program itself.
	steps [][]string
	// manifest is the file of trusted documents that the steps before the program make, empty for
	// none.
	manifest string
}

var clients = []client{
	{"apollo", needClients, [][]string{nodeTest("persisted.test.mjs"), nodeTest("apollo.test.mjs")}, ""},
	{"urql", needClients, [][]string{nodeTest("persisted.test.mjs"), nodeTest("urql.test.mjs")}, ""},
	{"relay", buildRelay, [][]string{nodeTest("relay.test.mjs")}, relayManifest},
	{"codegen", needClients, [][]string{
		{"node", "../node_modules/@graphql-codegen/cli/esm/bin.js", "--config", "codegen.json"},
		{"node", "../node_modules/typescript/bin/tsc", "--project", "."},
		nodeTest("__generated__/built/codegen.test.js"),
	}, "codegen/__generated__/gql/persisted-documents.json"},
	{"gateway", needGateways, [][]string{nodeTest("gateway.test.mjs")}, ""},
	{"genqlient", nil, [][]string{{"go", "test", "-vet=off", "-count=1", "."}}, ""}, // lint.sh has vetted it
}

// The Go client that is committed is what genqlient makes of the schema as it stands.
func TestGeneratedClientIsFresh(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "internal", "clients", "genqlient")
	must.Do(t, os.CopyFS(folder, os.DirFS("genqlient")))
	must.Do(t, os.WriteFile(filepath.Join(dir, "schema.graphqls"), []byte(read(t, "../../schema.graphqls")), 0o600))
	run(t, folder, []string{"go", "generate"})
	if read(t, "genqlient/generated.go") != read(t, filepath.Join(folder, "generated.go")) {
		t.Error("internal/clients/genqlient/generated.go is not what the schema makes: run `make generate`")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}

// nodeTest runs a program of tests, and ends it when these are through: Relay would stay for the
// five minutes for which it keeps what might be asked again.
func nodeTest(program string) []string {
	return []string{"node", "--test-force-exit", "--test-reporter=spec", program}
}

func TestClients(t *testing.T) {
	endpoint := dynamotest.Dynoxide(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.needs != nil {
				c.needs(t)
			}
			serve := tableOf(t, endpoint, c.name)
			environment := []string{"TALKBACK_PRODUCT=" + c.name, "TALKBACK_URL=" + serve("")}
			last := len(c.steps) - 1
			for _, step := range c.steps[:last] {
				run(t, c.name, step, environment...)
			}
			if c.manifest != "" {
				environment = append(environment, "TALKBACK_TRUSTED_URL="+serve(c.manifest))
			}
			run(t, c.name, c.steps[last], environment...)
		})
	}
}

// run runs a command in a folder; unless it succeeds, what it said is the failure. Go shares the
// standard library with the program.
func run(t *testing.T, folder string, command []string, environment ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.Dir = folder
	process.Env = append(append(os.Environ(), provisiontest.AsBuilt()...), environment...)
	if out, err := process.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

// needPackages returns a function that leaves a suite of tests out without the packages of a
// folder.
func needPackages(suite, folder string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		provisiontest.Packages(t, suite, folder, folder)
	}
}

var (
	needClients  = needPackages("the clients' tests", "internal/clients")
	needGateways = needPackages("the gateways' tests", "internal/clients/gateway")
)

// tableOf makes a table of its own, which holds comments on one product. serve starts the whole
// service over it, for all operations or for those of a manifest only, and gives the address of its
// API.
func tableOf(t *testing.T, endpoint, product string) (serve func(manifest string) string) {
	t.Helper()
	session := &command.Session{Client: call.NewLocalClient(endpoint), Table: dynamotest.TableName(t), Address: endpoint}
	must.Do(t, dynamo.CreateTable(t.Context(), session.Client, session.Table))
	must.Get(dynamo.NewLoader(session.Client, session.Table, 0).Load(t.Context(), written(product)))(t)
	count(t, session, written(product))
	store := (&command.Serve{}).Store(session, numbered(t, product), slog.New(slog.DiscardHandler))
	return func(manifest string) string {
		service := command.Serve{OperationTimeout: patience, Federation: true, AutomaticQueries: httpapi.NewAutomaticQueries(1<<20, nil)}
		if manifest != "" {
			var err error
			if service.TrustedDocuments, err = httpapi.OpenTrustedDocuments([]string{manifest}, nil, true, service.DocumentCheck()); err != nil {
				t.Fatal(err)
			}
		}
		server := httptest.NewServer(service.Handler(store, nil, &auth.Guard{}, command.Terminal{
			Err:    io.Discard,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}))
		t.Cleanup(server.Close)
		return server.URL + "/graphql"
	}
}

// count counts the comments as the stream would have them counted, so that statistics are exact.
func count(t *testing.T, session *command.Session, comments []comment.Comment) {
	t.Helper()
	records := make([]stream.Record, len(comments))
	for i, c := range comments {
		at := stream.PositionOf("2024-05-01T00:00:00.000", fmt.Sprint(i+1))
		records[i] = stream.Record{Position: at, Created: time.Now(), New: layout.Encode(c)}
	}
	must.Do(t, counts.NewCounter(session.Client, session.Table, counts.CounterOptions{}).Handle(t.Context(), records))
	must.Do(t, stream.MarkComplete(t.Context(), leases.NewLeases(session.Client, session.Table), stream.State{}, time.Now()))
}

// numbered is an index of page numbers that knows what was written before the programs start.
func numbered(t *testing.T, product string) *conformance.Model {
	t.Helper()
	index := conformance.NewModel()
	for _, c := range written(product) {
		entry := pageindex.Entry{Product: product, Position: c.ID.Position(), Cell: new(c.Cell()), Follows: "1"}
		must.Do(t, index.Apply(t.Context(), []pageindex.Entry{entry}))
	}
	return index
}

// written are the comments that the programs expect: see service.mjs.
func written(product string) []comment.Comment {
	var comments []comment.Comment
	for n, title := range []string{"one", "two", "three", "four", "five", "six", "seven"} {
		at := time.Date(2024, time.May, 1+n, 12, 0, 0, 0, time.UTC)
		comments = append(comments, comment.Comment{
			ID:        comment.IDOf(comment.FirstAt(at)),
			ProductID: product,
			Rating:    1 + n%comment.MaxRating,
			Language:  "en",
			Title:     &title,
			Text:      "Written before.",
			// One customer, whose id is that of the product, and who goes by another name each
			// time: a cache must neither take the two for one thing, nor show all of the customer's
			// comments under the last name.
			Author:  comment.Author{ID: product, Name: "Ada " + title},
			Version: 1,
		})
	}
	return comments
}

// An application in Kotlin pages by cursors, sends hashes and then ids of its manifest instead of
// texts, and subscribes over HTTP and by a socket.
func TestApolloKotlin(t *testing.T) {
	jars := kotlinJars(t)
	built := t.TempDir()
	java := func(class string, arguments ...string) []string {
		// Each runs for seconds, too short for Java's second compiler to pay.
		return append([]string{"java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", strings.Join(append(jars, built), ":"), class}, arguments...)
	}
	run(t, "kotlin", java("Generate.java", "../../../schema.graphqls", built))
	libraries := slices.DeleteFunc(slices.Clone(jars), func(jar string) bool { return strings.Contains(jar, "-compiler-") })
	run(t, "kotlin", java("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target", "17",
		"-cp", strings.Join(libraries, ":"), "-d", built, filepath.Join(built, "sources"), "Main.kt"))
	flags := followedTable(t)
	one := serving(t, append(flags, "--max-subscriptions", "10")...)
	trusting := serving(t, append(flags, "--no-count", "--trusted-only", "--trusted-documents", filepath.Join(built, "manifest.json"))...)
	run(t, "kotlin", java("MainKt"), "TALKBACK_PRODUCT=kettle",
		"TALKBACK_URL=http://"+one.host+"/graphql", "TALKBACK_TRUSTED_URL=http://"+trusting.host+"/graphql")
}

// kotlinJars returns the jars of Apollo Kotlin, its compiler and that of Kotlin.
func kotlinJars(t *testing.T) []string {
	t.Helper()
	jars := must.Get(filepath.Glob(filepath.Join(provisiontest.Root(t), ".cache", "apollo-kotlin", "*.jar")))(t)
	if sums := read(t, "../provision/apollo-kotlin.sha256"); len(jars) != strings.Count(sums, "\n") {
		provisiontest.LeaveOut(t, fmt.Errorf("the test of Apollo Kotlin: .cache/apollo-kotlin is not there, or of other versions; %w", provisiontest.ErrNotInstalled))
	}
	if out, err := exec.Command("java", "--list-modules").Output(); err != nil || !strings.Contains(string(out), "jdk.compiler@") {
		provisiontest.LeaveOut(t, fmt.Errorf("the test of Apollo Kotlin: there is no JDK; %w", provisiontest.ErrNotInstalled))
	}
	return jars
}
