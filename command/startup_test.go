package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// talkback runs a command line in this process.
func talkback(ctx context.Context, arguments ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = command.Main(ctx, arguments, command.Terminal{
		In: strings.NewReader(""), Out: &out, Err: &err, Logger: slog.New(slog.NewTextHandler(&err, nil)),
	})
	return status, out.String(), err.String()
}

// A mistake that keeps the server from starting gives one sentence with the cure. The exit status
// is 2 for wrong flags, else 1. No listener says that it answers before. The sentences are in
// testdata/startup.golden; those of any command are in refusals.golden.
func TestWhatKeepsTheServerFromStarting(t *testing.T) {
	endpoint := dynamotest.Dynoxide(t)
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Do(t, closed.Close())
	other := otherTable(t, endpoint)
	manifest := write(t, "manifest.json", `{"ours": "query Ours { price }"}`)
	t.Setenv("PATH", t.TempDir())
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
	} {
		t.Setenv(name, value)
	}

	var got bytes.Buffer
	for _, row := range []struct {
		why       string
		region    string
		profile   string
		arguments []string
		aws       string // a stand-in for DynamoDB on AWS
	}{
		{why: "the port is taken", arguments: []string{"--listen", taken.Addr().String()}},
		{why: "an address of another machine", arguments: []string{"--listen", "192.0.2.1:8080"}},
		{why: "no such address", arguments: []string{"--listen", "nonsense"}},
		{why: "no such port", arguments: []string{"--listen", "127.0.0.1:80x"}},
		{why: "an address with a line break, as echo adds it", arguments: []string{"--listen", "127.0.0.1:8080\n"}},
		{why: "an address with a space", arguments: []string{"--listen", " 127.0.0.1:8080"}},
		{why: "a shop's name with a line break, as echo adds it", arguments: []string{"--shop-name", "Cups\n"}},
		{why: "the local engine is not installed", arguments: []string{"--data", t.TempDir()}},
		{why: "the engine named is not there", arguments: []string{"--data", t.TempDir(), "--engine", "/nowhere/dynoxide"}},
		{why: "the engine named is another program", arguments: []string{"--data", filepath.Join(t.TempDir(), "data"), "--engine", "/bin/true"}},
		{why: "the data folder is a file", arguments: []string{"--data", "/dev/null", "--engine", dynamotest.DynoxideBinary(t)}},
		{why: "nothing answers at the endpoint", arguments: []string{"--endpoint", "http://" + closed.Addr().String()}},
		{why: "no region", arguments: []string{"--aws"}},
		{why: "no credentials", region: "eu-central-1", arguments: []string{"--aws"}},
		{why: "no such profile", region: "eu-central-1", profile: "nowhere", arguments: []string{"--aws"}},
		{why: "a region in quotes, as some files of variables keep them", region: `"eu-central-1"`, aws: endpoint, arguments: []string{"--aws"}},
		{why: "a region with a line break, as echo adds it", region: "eu-central-1\n", aws: endpoint, arguments: []string{"--aws"}},
		{why: "the same at an endpoint", region: "eu-central-1\n", arguments: []string{"--endpoint", endpoint}},
		{why: "a key with a line break", region: "eu-central-1", aws: "key\n", arguments: []string{"--aws"}},
		{why: "a table in another region", region: "eu-central-1", aws: endpoint, arguments: []string{"--aws", "--table", "no-such-table"}},
		{why: "a region that does not answer", region: "eu-nowhere-1", aws: "http://" + closed.Addr().String(), arguments: []string{"--aws"}},
		{why: "no such table", arguments: []string{"--endpoint", endpoint, "--table", "no-such-table"}},
		{why: "a table of another shape", arguments: []string{"--endpoint", endpoint, "--table", other}},
		{why: "a key without its certificate", arguments: []string{"--tls-key", "key.pem"}},
		{why: "a certificate that is not there", arguments: []string{"--tls-cert", "/nowhere/cert.pem", "--tls-key", "/nowhere/key.pem"}},
		{why: "a certificate that is a folder", arguments: []string{"--tls-cert", "/", "--tls-key", "/"}},
		{why: "a certificate that is none", arguments: []string{"--tls-cert", "/dev/null", "--tls-key", "/dev/null"}},
		{why: "no rules for moderation", arguments: []string{"--admin-listen", "127.0.0.1:0", "--moderation", "rules", "--moderation-rules", "/nowhere/rules.json"}},
		{why: "rules that are a folder", arguments: []string{"--moderation", "rules", "--moderation-rules", "/"}},
		{why: "rules without an end", arguments: []string{"--moderation", "rules", "--moderation-rules", "/dev/zero"}},
		{why: "no manifest", arguments: []string{"--admin-listen", "127.0.0.1:0", "--trusted-documents", "/nowhere/manifest.json"}},
		{why: "a manifest with a document that cannot be served", arguments: []string{"--endpoint", "http://127.0.0.1:1", "--trusted-documents", manifest}},
		{why: "trusted documents alone, and none are given", arguments: []string{"--trusted-only"}},
		{why: "a manifest that is a folder", arguments: []string{"--trusted-documents", "/"}},
		{why: "a manifest without an end", arguments: []string{"--trusted-documents", "/dev/zero"}},
		{why: "no template", arguments: []string{"--page-template", "/nowhere/page.html"}},
		{why: "a template that is a folder", arguments: []string{"--page-template", "/"}},
		{why: "a template without an end", arguments: []string{"--page-template", "/dev/zero"}},
		{why: "an origin that is none", arguments: []string{"--cors-origin", "shop.example"}},
		{why: "an origin too many", arguments: []string{"--cors-origin", "https://*.com"}},
		{why: "every origin and no tokens", arguments: []string{"--cors-origin", "https://shop.example", "--cors-origin", "*"}},
		{why: "a moderators' token too short", arguments: []string{"--moderator-token", "hush"}},
		{why: "an algorithm without a key", arguments: []string{"--jwt-algorithm", "EdDSA"}},
		{why: "no public key", arguments: []string{"--jwt-algorithm", "EdDSA", "--jwt-key", "hush"}},
		{why: "visitors without a secret", arguments: []string{"--visitor-votes"}},
		{why: "visitors with a short secret", arguments: []string{"--visitor-votes", "--visitor-secret", "hush"}},
		{why: "visitors with the moderators' secret", arguments: []string{"--visitor-votes", "--visitor-secret", moderatorToken, "--moderator-token", moderatorToken}},
		{why: "a secret of visitors who may not vote", arguments: []string{"--visitor-secret", sharedSecret}},
		{why: "a burst of read units without a limit", arguments: []string{"--client-burst", "5"}},
		{why: "a limit of subscriptions where none are served", arguments: []string{"--client-subscriptions", "3"}},
		{why: "a limit that would refuse everything", arguments: []string{"--max-tokens", "0"}},
	} {
		t.Setenv("AWS_REGION", row.region)
		t.Setenv("AWS_PROFILE", row.profile)
		if row.aws != "" {
			for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
				t.Setenv(name, row.aws)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		arguments := row.arguments
		if arguments[0] != "--listen" {
			arguments = append([]string{"--listen", "127.0.0.1:0"}, arguments...)
		}
		status, stdout, stderr := talkback(ctx, arguments...)
		if ctx.Err() != nil {
			t.Errorf("%s: still running after a minute", row.why)
		}
		cancel()
		if status == 0 || stdout != "" || strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
			t.Errorf("%s: status %d, on standard output %q; want another status and one line on standard error, not\n%s", row.why, status, stdout, stderr)
		}
		if strings.Contains(stderr, "hush") {
			t.Errorf("%s: what is secret is said: %s", row.why, stderr)
		}
		fmt.Fprintf(&got, "# %s\n%d  %s\n", row.why, status, stderr)
	}
	goldentest.Compare(t, "testdata/startup.golden", steady(got.Bytes(), map[string]string{
		taken.Addr().String(): "TAKEN", closed.Addr().String(): "CLOSED", other: "OTHER", endpoint: "ENDPOINT",
	}))
}

// A table that a template made, and that functions alone count, gets the number of its layout by
// the rebuild at the start. Without it, a release of another layout would write to the table.
func TestRebuildNotesTheLayout(t *testing.T) {
	t.Parallel()
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	dynamotest.CreateTable(t, client, layout.Definition(table))
	if status, _, stderr := talkback(t.Context(), "rebuild", "--endpoint", endpoint, "--table", table); status != 0 {
		t.Fatal(stderr)
	}
	got := must.Get(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: layout.Key("SETTINGS", "LAYOUT")}))(t)
	if version := layout.NewReader(got.Item).Number("v"); version != dynamo.LayoutVersion {
		t.Errorf("the table has layout %d", version)
	}
}

// steady replaces what differs from run to run.
func steady(text []byte, names map[string]string) []byte {
	for value, name := range names {
		text = bytes.ReplaceAll(text, []byte(value), []byte(name))
	}
	text = regexp.MustCompile(`existing: [^)]+`).ReplaceAll(text, []byte("existing: TABLES"))
	text = regexp.MustCompile(`pid \d+`).ReplaceAll(text, []byte("pid PID"))
	return regexp.MustCompile(regexp.QuoteMeta(filepath.Clean(os.TempDir()))+`/[^ ,;:"]+`).ReplaceAll(text, []byte("TEMP"))
}

// otherTable makes a table that is not one of ours.
func otherTable(t *testing.T, endpoint string) string {
	t.Helper()
	input := layout.Definition(dynamotest.TableName(t))
	input.GlobalSecondaryIndexes = input.GlobalSecondaryIndexes[:2]
	input.AttributeDefinitions = input.AttributeDefinitions[:4]
	input.StreamSpecification = nil
	dynamotest.CreateTable(t, call.NewLocalClient(endpoint), input)
	return *input.TableName
}

// A file that a server reads at its start may be a pipe that nobody writes to. The server can still
// be stopped.
func TestStopAtAPipe(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--tls-key", "/dev/null", "--tls-cert"}, {"--moderation", "rules", "--moderation-rules"}, {"--trusted-documents"}, {"--page-template"},
	} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		must.Do(t, syscall.Mkfifo(pipe, 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		ended := make(chan string, 1)
		go func() {
			status, _, said := talkback(ctx, append(append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...), pipe)...)
			ended <- fmt.Sprint(status, " ", said)
		}()
		var writer *os.File
		must.Wait(t, "the pipe is being read", func() (open bool) {
			var err error
			writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails without a reader
			return err == nil
		})
		defer writer.Close()
		cancel()
		select {
		case said := <-ended:
			if said != "0 Stopped as asked, before it was ready.\n" {
				t.Errorf("%s: status %s", flags, said)
			}
		case <-time.After(patience):
			t.Fatalf("%s: it does not stop", flags)
		}
	}
}

// Where programs read the log, a failure is a line of JSON too.
func TestFailureInJSON(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := talkback(t.Context(), "stats", "p", "--endpoint", "http://127.0.0.1:1", "--log-format", "json", "--log-level", "error")
	var line struct{ Level, Msg, Error string }
	if err := json.Unmarshal([]byte(stderr), &line); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if status != 1 || stdout != "" || line.Level != "ERROR" || !strings.Contains(line.Error, "no engine answers") {
		t.Errorf("status %d, %+v", status, line)
	}
}

// Where programs read the log, a server writes nothing else to standard error: neither a warning of
// a misspelt variable nor how far the sample data is.
func TestServerWritesJSONAlone(t *testing.T) {
	session := newSession(t, dynamotest.Dynoxide(t))
	t.Setenv("TALKBACK_LISTNE", "127.0.0.1:1")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() {
		_, _, stderr := talkback(ctx, "serve", "--endpoint", session.Address, "--table", session.Table, "--listen", "127.0.0.1:0",
			"--log-format", "json", "--sample-data", "--no-count")
		ended <- stderr
	}()
	must.Wait(t, "sample data is in the table", func() bool {
		there, err := dynamo.HasComments(t.Context(), session.Client, session.Table)
		return err == nil && there
	})
	stop()
	stderr := <-ended
	for line := range strings.Lines(stderr) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is no JSON: %s", line)
		}
	}
	if !strings.Contains(stderr, `"variable":"TALKBACK_LISTNE","meant":"TALKBACK_LISTEN"`) {
		t.Errorf("nothing says that a variable is misspelt: %s", stderr)
	}
}
