package command_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Refusals of commands: each row is a command line with the exit status and its last sentence, in
// testdata/refusals.golden. None of them makes a table, a folder or a file.
func TestRefusals(t *testing.T) {
	golden := must.Get(filepath.Abs("testdata/refusals.golden"))(t)
	client := call.NewLocalClient(startEngine(t)) // its own engine, so that its tables are known
	folder := t.TempDir()
	t.Chdir(folder)
	t.Setenv("COLUMNS", "80")
	must.Do(t, dynamo.CreateTable(t.Context(), client, "comments"))
	alone := *client.Options().BaseEndpoint
	for _, name := range []string{"good", "empty"} {
		must.Do(t, os.Mkdir(name, 0o700))
	}
	for name, text := range map[string]string{
		"good/talkback.db": "", "good/engine.json": `{"endpoint": "http://127.0.0.1:1", "shared": true}`,
		"few.csv": fewReviews, "nameless": "what\nis this\n", "there.jsonl": "x",
	} {
		writeFile(t, name, text)
	}
	lock := flock.New(filepath.Join("good", "engine.lock")) // as the process has it that runs an engine
	must.Do(t, lock.Lock())
	defer lock.Close()
	const id = "c_01HZ0000000000000000000000"
	var got bytes.Buffer
	for _, line := range []string{
		// Commands that read make nothing.
		"show " + id + " --data typo",
		"explain --product cup --data typo",
		"export out.jsonl --data typo",
		"verify --data typo",
		"rebuild --data typo",
		"stream --status --data typo",
		"stream --data typo",
		"verify --data empty",
		"show " + id + " --data good",
		"show " + id + " --endpoint ALONE --table coments",
		"explain --product cup --endpoint ALONE --table coments",
		"export out.jsonl --endpoint ALONE --table coments",
		"verify --endpoint ALONE --table coments",
		"rebuild --endpoint ALONE --table coments",
		"stream --status --endpoint ALONE --table coments --create-table",
		"stream --endpoint ALONE --table coments",
		"import reviews.jsonl --endpoint ALONE --table coments",
		"verify --create-table",
		// Tables and engines that cannot be.
		"show " + id + " --endpoint ALONE --table ab",
		"rebuild --endpoint ALONE --table no/slash",
		"verify --endpoint ftp://localhost",
		"verify --endpoint localhost:8000",
		"verify --endpoint http://shop:secret@localhost:8000",
		"verify --aws --endpoint ALONE",
		// Commands and flags that there are none of.
		"sing",
		"versoin",
		"exp",
		"help shwo",
		"help sing",
		"list",
		"serve now",
		"--tabel comments",
		"export out.jsonl --yes",
		"stats cup --x",
		"stats cup --=x",
		"-v",
		"show",
		"show cup",
		"show " + id + " " + id,
		"import",
		"export",
		"explain",
		"stats",
		"stats cup saucer",
		"completion",
		"completion ksh",
		// Files that cannot be read or written.
		"import absent.csv",
		"import nameless",
		"export there.jsonl",
		"export empty",
		"export absent/x.jsonl",
		"export there.jsonl/x.jsonl",
		"export there.jsonl --force --table t",
		"export out.csv",
		"export out.TSV.gz",
		"export out.xlsx",
		"import few.csv --rejects few.csv",
		"cost nothing.json",
		"cost empty",
		"cost /dev/zero",
		"pages build --from nothing.jsonl --to pages",
		"pages build --from empty --to pages",
		// Stores that are away.
		"verify --pages redis://127.0.0.1:1 --endpoint ALONE",
		"rebuild --pages redis://127.0.0.1:1 --endpoint ALONE",
		"rebuild --pages sqlite:/nowhere/pages.db --endpoint ALONE",
		// Places of page numbers that cannot be. A text that may have a password is not repeated.
		"serve --pages ?",
		"stream --pages secret",
		"explain --product cup --pages mysql://secret",
		"verify --pages redis",
		"rebuild --pages redis://",
		"serve --pages redis://:secret%zz@cache:6379",
		"serve --endpoint ALONE --table comments --listen 127.0.0.1:0 --pages redis://cache:6379/nonsense",
		"verify --pages none",
		"rebuild --pages none",
		// Passwords on the command line.
		"serve --client-limits-redis redis://user:hush@cache:6379",
		"serve --client-limits-redis redis://hush@cache:6379",
		"serve --pages rediss://:hush@cache:6379",
		"verify --pages=postgres://user:hush@base/pages",
		"import - --pages postgres://base/pages?password=hush",
		// Lists in variables, with an empty entry.
		"TALKBACK_TRUSTED_DOCUMENTS=, serve",
		"TALKBACK_CORS_ORIGIN=, serve",
		"TALKBACK_TRUSTED_PROXY=, serve",
		"TALKBACK_METRICS=, cost",
		"TALKBACK_EVENTS=, hooks add https://shop.example/hooks --secret-env SHOP_HOOK",
		"TALKBACK_LANGUAGES=, stats cup",
		"TALKBACK_RATINGS=, stats cup",
		"TALKBACK_MAP=, import reviews.csv",
		// The same on the command line.
		"stats cup --languages en,,de",
		"stats cup --ratings ,",
		"stats cup --ratings 4,,5",
		"serve --cors-origin https://shop.example,,https://www.shop.example",
		"serve --trusted-proxy=,10.0.0.7",
		"serve --page-age EMPTY",
		"serve --federation=",
		// Values that cannot be.
		"hooks add https://shop.example/hooks --endpoint ALONE",
		"hooks add https://shop.example/hooks --secret-env TALKBACK_VISITORS_SECRET",
		"hooks add https://shop.example/hooks --secret-env talkback_listen",
		"hooks add http://shop.example --secret-env TALKBACK_HOOK_SECRET",
		"hooks add https://shop.example/hooks --secret-env SHOP_HOOK --give-up 0s",
		"hooks pause ID --give-up 2h",
		"hooks add",
		"hooks pause",
		"hooks list ID",
		"hooks replay ID",
		"hooks pause ID --allow-private",
		"hooks add https://shop.example/hooks --secret-env whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"hooks add https://shop.example/hooks --secret-env SHOP_HOOK --events comment.eaten",
		"hooks add https://shop.example/hooks --secret-env CDN_TOKEN --purge akamai",
		"hooks add https://10.0.0.7/hooks --secret-env SHOP_HOOK",
		"hooks add https://localhost:8443/hooks --secret-env SHOP_HOOK",
		"explain --product c_x",
		"explain --product cup --first many",
		"explain --product cup --first 101",
		"explain --product cup --first",
		"explain --product",
		"serve --pages --listen 127.0.0.1:0",
		"serve --media-base",
		"export out.jsonl --data",
		"stats cup --ratings",
		"serve --create-table=perhaps",
		"explain --product cup --ratings best",
		"explain --product cup --ratings 6",
		"explain --product cup --languages klingonese",
		"explain --product cup --created-after yesterday",
		"explain --product cup --created-after 2024-05-31T9:00:00Z",
		"explain --product cup --created-after 2024-06-01 --created-before 2024-05-01",
		"explain --product cup --after 42",
		"explain --product cup --page=-1",
		"explain --product cup --page 9223372036854775807",
		"explain --product cup --page 2 --from-end",
		"explain --product cup --after c_01000000000000000000000000 --before c_02000000000000000000000000",
		"show " + id + " --endpoint ALONE",
		"import few.csv --max-rejects few",
		"import few.csv --max-rejects 101%",
		"import few.csv --max-rejects 0%",
		"import few.csv --map text",
		"import few.csv --map body=text",
		"import few.csv --map text=a --map TEXT=b",
		"import few.csv --map text=a,b",
		"import few.csv --map language=",
		"import few.csv --language Klingon",
		"import few.csv --language en --detect-language de,fr",
		"import few.csv --language-of UK",
		"import few.csv --language-of UK=Klingon",
		"import few.csv --language-of UK=en --language-of uk=de",
		"import few.csv --format xml",
		"import few.csv --calls=-1",
		"export - --calls=-1",
		"stats c_x",
		"stats cup --languages klingonese",
		"stats cup --ratings 0",
		"stream --lease-time 5",
		"stream --lease-time 1ms",
		"stream --lease-time 2562047h",
		"rebuild --leader-shards 65",
		"verify --calls=-1",
		"rebuild --calls 1001",
		"import reviews.csv --calls 2000000000",
		"import --undo reviews.csv --dry-run",
		"import --undo reviews.csv --replace",
		"import --list --name reviews",
		"export EMPTY",
		"author export a EMPTY",
		"author export a --scan",
		"author erase a file.jsonl",
		"stats EMPTY",
		"cost EMPTY",
		"export out.jsonl --product c_x",
		"serve --max-body=-1",
		"serve --max-in-flight 0",
		"serve --max-in-flight 8 --min-in-flight 9",
		"serve --report-threshold 0",
		"serve --page-age 5",
		"serve --listen 127.0.0.1:0 --client-limits-servers 1001",
		"doctor --client-subscriptions 3",
		"cost --metrics http://127.0.0.1:1/metrics --during 1ms",
		"cost --metrics localhost:9090",
		"health --listen 127.0.0.1:1",
		"verify --data /dev/null",
		"pages build",
		"import " + strings.Repeat("x", 5000) + ".csv",
		"serve --shared-cache=-1s",
		"serve --operation-timeout 0s",
		"serve --operation-timeout 1ns",
		"serve --operation-timeout 2562047h",
		"serve --hsts-age 1ms",
		"serve --keep-audit 400ms",
		"serve --shop-name " + strings.Repeat("x", 101),
		"import reviews.csv --shop-name " + strings.Repeat("x", 101),
		"serve --tls-cert cert.pem",
	} {
		variable, rest, set := strings.Cut(line, "=, ")
		if !set {
			rest = line
		}
		arguments := strings.Fields(strings.ReplaceAll(rest, "ALONE", alone))
		if last := len(arguments) - 1; arguments[last] == "EMPTY" {
			arguments[last] = ""
		}
		if set {
			t.Setenv(variable, ",")
		}
		status, stdout, stderr := talkback(t.Context(), arguments...)
		if set {
			_ = os.Unsetenv(variable) // the test sets it back at its end
		}
		if stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: it printed %q and said %q; want one line on standard error", line, stdout, stderr)
		}
		for _, raw := range []string{"operation error", "api error", "RequestID", "2006-01-02", "bit int", "hush"} {
			if strings.Contains(stderr, raw) {
				t.Errorf("%s: a raw sentence: %s", line, stderr)
			}
		}
		fmt.Fprintf(&got, "%.300s\n\t%d  %s", line, status, stderr)
	}
	text := strings.NewReplacer(alone, "ALONE", folder, "DIR").Replace(got.String())
	goldentest.Compare(t, golden, []byte(text))
	left, err := filepath.Glob("*")
	if there := readFile(t, "there.jsonl"); fmt.Sprint(left) != "[empty few.csv good nameless there.jsonl]" || err != nil || there != "x" {
		t.Errorf("there are %v now, %v, and one has %q", left, err, there)
	}
	if tables := dynamo.TableNames(t.Context(), client); fmt.Sprint(tables) != "[comments]" {
		t.Errorf("there are the tables %v now", tables)
	}
}

// For each answer of an engine, or of something in its place, people get a plain sentence: never
// the SDK's own words.
func TestRefusalsOfEngines(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why    string
		status int
		body   string
		says   string
		logs   bool
	}{
		{"wrong credentials", 400, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"inside"}`, "AWS does not accept the credentials: give others by AWS_PROFILE", false},
		{"a wrong signature", 400, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"inside"}`, "AWS does not accept the credentials", false},
		{"old credentials", 400, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"inside"}`, "the credentials have expired", false},
		{"no permission", 400, `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"inside"}`, "the credentials lack a permission", false},
		{"a refusal that nobody foresaw", 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"inside"}`, "the engine refused DescribeTable: ValidationException", true},
		{"a web server's page", 200, "<html>It works!</html>", "not a DynamoDB-compatible engine, HTTP status 200): start it there, or name another by --endpoint", false},
		{"a web server that answers everything", 200, "{}", "not a DynamoDB-compatible engine, HTTP status 200): start it there, or name another by --endpoint", false},
		{"a web server that knows no such page", 404, "<html>inside</html>", "not a DynamoDB-compatible engine, HTTP status 404): start it there, or name another by --endpoint", false},
		{"a web server that says nothing", 404, "", "not a DynamoDB-compatible engine, HTTP status 404): start it there, or name another by --endpoint", false},
		{"a proxy without its server", 502, "<html>inside</html>", "not a DynamoDB-compatible engine, HTTP status 502): start it there, or name another by --endpoint", false},
	} {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(row.status)
			_, _ = io.WriteString(w, row.body) // the client may be gone
		}))
		var stderr, log bytes.Buffer
		status := command.Main(t.Context(), []string{"verify", "--endpoint", front.URL}, command.Terminal{
			In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		front.Close()
		said := stderr.String()
		if status != 1 || !strings.Contains(said, row.says) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: status %d, %s; want %q", row.why, status, said, row.says)
		}
		for _, raw := range []string{"inside", "operation error", "RequestID", "StatusCode", "html"} {
			if strings.Contains(said, raw) {
				t.Errorf("%s: what is inside is said: %s", row.why, said)
			}
		}
		if strings.Contains(log.String(), "inside") != row.logs {
			t.Errorf("%s: the log has %s", row.why, log.String())
		}
	}
}
