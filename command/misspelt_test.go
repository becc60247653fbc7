package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/dynamotest"
)

// A misspelt variable would be ignored silently in favor of the default, so it is refused. Other
// programs' variables are ignored. No value is printed: it may be a token.
func TestMisspeltVariables(t *testing.T) {
	for _, row := range []struct{ why, name, meant string }{
		{"a letter is missing", "TALKBACK_MODERATR_TOKEN", "TALKBACK_MODERATOR_TOKEN"},
		{"two letters changed places", "TALKBACK_LISTNE", "TALKBACK_LISTEN"},
		{"a variable of another command", "TALKBACK_MAX_REJECT", "TALKBACK_MAX_REJECTS"},
		{"lower case", "talkback_listen", "TALKBACK_LISTEN"},
		{"one that is right", "TALKBACK_LISTEN", ""},
		{"one that is right, of another command", "TALKBACK_MAX_REJECTS", ""},
		{"Kubernetes, for a service called talkback", "TALKBACK_SERVICE_HOST", ""},
		{"likewise", "TALKBACK_PORT", ""},
		{"likewise", "TALKBACK_PORT_8080_TCP_ADDR", ""},
		{"the prefix is another", "TALKBCK_LISTEN", ""},
		{"the seed of tests", "TALKBACK_TEST_SEED", ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Setenv(row.name, "hush-hush")
			_, _, said := talkback(t.Context(), "export", "x.csv") // this command is refused
			warning := "talkback: the variable " + row.name + " is not one of Talkback's; did you mean " + row.meant + "?\n"
			if warned := strings.Contains(said, "is not one of"); warned != (row.meant != "") || warned && !strings.HasPrefix(said, warning) {
				t.Errorf("%s: %s", row.name, said)
			}
			if strings.Contains(said, "hush-hush") {
				t.Errorf("the value is told: %s", said)
			}
		})
	}
}

// An error about the value of a variable names the variable, also if the command line is right.
func TestWrongValuesOfVariables(t *testing.T) {
	for _, row := range []struct{ variable, line, want string }{
		{"MAX_BODY=much", "serve", `TALKBACK_MAX_BODY: "much" is not a whole number from 1 on: give one such as 65536; see talkback serve --help`},
		{"MAX_BODY=much", "serve --max-body 5000", `TALKBACK_MAX_BODY: "much" is not a whole number from 1 on: give one such as 65536; see talkback serve --help`},
		{"CREATE_TABLE=much", "import x.csv", `TALKBACK_CREATE_TABLE must be true, 1, yes, false, 0 or no but got "much"; see talkback import --help`},
		{"LOG_LEVEL=much", "show c_1", `TALKBACK_LOG_LEVEL must be one of "debug","info","warn","error" but got "much"; see talkback show --help`},
		{"AWS=much", "show c_1", `TALKBACK_AWS must be true, 1, yes, false, 0 or no but got "much"; see talkback show --help`},
		{"ORDER=much", "explain --product cup", `TALKBACK_ORDER must be one of "newest-first","oldest-first","highest-rated","lowest-rated","most-helpful" but got "much"; see talkback explain --help`},
		{"MAX_TOKENS=0", "serve", `serve: TALKBACK_MAX_TOKENS must be at least 1, not 0: with less, no request is served; see talkback serve --help`},
		{"MAX_IN_FLIGHT=4", "serve --min-in-flight 8", `serve: --min-in-flight 8 is above TALKBACK_MAX_IN_FLIGHT 4: lower the one, or raise the other; see talkback serve --help`},
		{"AWS=true", "show c_1 --endpoint http://localhost:8000", `--endpoint and TALKBACK_AWS can't be used together; see talkback show --help`},
		{"MAP=body=text", "import x.csv", `TALKBACK_MAP body=text: give FIELD=COLUMN with one of the fields [id product rating language title text author authorName createdAt status reply replyName replyDate verified votes media]`},
		{"TLS_CERT=cert.pem", "serve", `TALKBACK_TLS_CERT needs its private key: give the file by --tls-key`},
		{"ENDPOINT=much", "show c_01HZ0000000000000000000000 --table comments", `TALKBACK_ENDPOINT much is not an address: give one such as http://localhost:8000`},
		{"TABLE=a", "verify --table b", `--table: "b" cannot be the name of a table: give 3 to 255 letters, digits, underscores, hyphens and dots, such as comments`},
		{"LISTEN=:80", "serve --lisen :90", `unknown flag --lisen, did you mean "--listen"?; see talkback serve --help`},
	} {
		t.Run(row.variable, func(t *testing.T) {
			name, value, _ := strings.Cut(row.variable, "=")
			t.Setenv("TALKBACK_"+name, value)
			status, _, said := talkback(t.Context(), strings.Fields(row.line)...)
			if status != 2 || said != "talkback: "+row.want+"\n" {
				t.Errorf("%d: %s, want %s", status, said, row.want)
			}
		})
	}
	t.Setenv("TALKBACK_LOG_LEVEL", "info")
	if _, _, said := talkback(t.Context(), "show", "c_1", "--log-level", "much"); !strings.HasPrefix(said, "talkback: --log-level must be one of") {
		t.Errorf("a wrong flag beside a variable: %s", said)
	}
}

// A flag that is false selects no engine, as in the file of a container that names all variables.
func TestNoEngineIsSelectedByFalse(t *testing.T) {
	session := newSession(t, dynamotest.Dynoxide(t))
	t.Setenv("TALKBACK_TABLE", session.Table)
	for _, row := range []struct{ aws, endpoint, line string }{
		{"false", session.Address, "stats cup"},
		{"false", "", "stats cup --endpoint " + session.Address},
		{"true", session.Address, "stats cup --aws=false"},
	} {
		t.Run(row.line, func(t *testing.T) {
			t.Setenv("TALKBACK_AWS", row.aws)
			if row.endpoint != "" {
				t.Setenv("TALKBACK_ENDPOINT", row.endpoint)
			}
			if _, out, said := talkback(t.Context(), strings.Fields(row.line)...); !strings.Contains(said, "no approved comment of product") {
				t.Errorf("with TALKBACK_AWS=%s, the table was not read: %s%s", row.aws, out, said)
			}
		})
	}
}

// A command to type, and a name of a file, stay as they are.
func TestVariablesAreNotNamedElsewhere(t *testing.T) {
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.add(draft())
	t.Setenv("TALKBACK_PAGES", "sqlite:"+filepath.Join(t.TempDir(), "pages.db"))
	t.Setenv("TALKBACK_ENDPOINT", a.session.Address)
	t.Setenv("TALKBACK_TABLE", a.session.Table)
	for line, want := range map[string]string{
		"verify":                   "or talkback rebuild --pages; talkback",
		"import shop--table.jsonl": "talkback: shop--table.jsonl cannot be read",
	} {
		if status, _, said := talkback(t.Context(), strings.Fields(line)...); status != 1 || !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
			t.Errorf("%s: %d %s", line, status, said)
		}
	}
}

// Input that is not UTF-8, such as from a terminal of another character set, is taken byte for byte
// as a file's name. It is refused as an author's id.
func TestArgumentsOfAnotherCharacterSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "caf\xe9.jsonl")
	if err := os.WriteFile(file, []byte(`{"product":"cup","rating":5,"language":"en","text":"Good.","createdAt":"2024-05-01"}`), 0o600); err != nil {
		t.Skip(err) // the file system takes UTF-8 names only
	}
	if status, out, said := talkback(t.Context(), "import", "--dry-run", file); status != 0 {
		t.Errorf("the import ended with %d: %s%s", status, out, said)
	}
	for _, what := range []string{"export", "erase"} {
		if status, _, said := talkback(t.Context(), "author", what, "M\xfcller"); status != 2 || !strings.Contains(said, "not valid UTF-8") {
			t.Errorf("author %s ended with %d: %s", what, status, said)
		}
	}
	t.Setenv("TALKBACK_NAME", "M\xfcller")
	if status, _, said := talkback(t.Context(), "import", file); status == 0 || !strings.Contains(said, "UTF-8 of") {
		t.Errorf("the name of a variable: %d %s", status, said)
	}
}
