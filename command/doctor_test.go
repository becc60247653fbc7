package command_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/redistest"
)

// foundByDoctor is a finding in JSON.
type foundByDoctor struct{ Check, Result, Found, Cure string }

// The print for a new table is testdata/doctor.golden.
func TestDoctor(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	status, out, said := e.run(t.Context(), "doctor", "--max-connections", "8", "--listen", "0.0.0.0:8080")
	if status != 0 || said != "" {
		t.Errorf("status %d: %s", status, said)
	}
	goldentest.Compare(t, "testdata/doctor.golden", []byte(strings.ReplaceAll(out, e.table, "comments")))
}

// A problem makes the exit status 1, and JSON shows the same problems.
func TestDoctorFindsProblems(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.table = "missing"
	for _, row := range []struct {
		why, check, found string
		arguments         []string
	}{
		{"no such table", "table", `table "missing" does not exist`, nil},
		{"a key without a certificate", "certificate", "--tls-key needs its certificate", []string{"--tls-key", "key.pem"}},
		{"no address", "address", "--listen nowhere is not an address", []string{"--listen", "nowhere"}},
		{"a token that is too short", "writing", "moderator", []string{"--moderator-token", "short"}},
		{"keys that cannot be fetched", "writing", "no signed token is accepted until they are (dial tcp 127.0.0.1:1", []string{"--jwt-algorithm", "ES256", "--jwks-url", "http://127.0.0.1:1/jwks.json"}},
		{"a secret with a space", "writing", "begins or ends with a space", []string{"--jwt-algorithm", "HS256", "--jwt-key", sharedSecret + " "}},
		{"a burst without a limit", "client limits", "--client-burst has no effect", []string{"--client-burst", "5"}},
		{"visitors without a secret", "writing", "TALKBACK_VISITOR_SECRET", []string{"--visitor-votes"}},
		{"visitors without a limit", "writing", "each address any number of times", []string{"--visitor-votes", "--visitor-secret", sharedSecret, "--client-writes", "0"}},
		{"likewise, and a secret with a space", "writing", "each address any number of times", []string{"--visitor-votes", "--visitor-secret", sharedSecret, "--client-writes", "0", "--jwt-algorithm", "HS256", "--jwt-key", sharedSecret + " "}},
		{"visitors where writing is off", "writing", "is off, since no tokens are configured", []string{"--listen", "0.0.0.0:0", "--visitor-votes", "--visitor-secret", sharedSecret}},
	} {
		status, out, said := e.run(t.Context(), "doctor", append(row.arguments, "--json")...)
		var all []foundByDoctor
		if err := json.Unmarshal([]byte(out), &all); err != nil || status != 1 || !strings.Contains(said, "problems found: ") {
			t.Errorf("%s: status %d, %v: %s", row.why, status, err, said)
		}
		found := false
		for _, f := range all {
			found = found || f.Check == row.check && f.Result != "ok" && strings.Contains(f.Found, row.found)
		}
		if !found || strings.Contains(out, `"short"`) {
			t.Errorf("%s: %s", row.why, out)
		}
	}
}

// A store of page numbers that cannot be opened ends no other check.
func TestDoctorBesideAStoreThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	file := filepath.Join(t.TempDir(), "notes.txt")
	must.Do(t, os.WriteFile(file, []byte("Buy bread, and be sure that it is fresh."), 0o600))
	status, out, said := e.run(t.Context(), "doctor", "--json", "--pages", "sqlite:"+file)
	var all []foundByDoctor
	must.Do(t, json.Unmarshal([]byte(out), &all))
	is := map[string]string{}
	for _, f := range all {
		is[f.Check] = f.Result
	}
	if status != 1 || is["page numbers"] != "problem" || is["counts"] != "warning" {
		t.Errorf("status %d: %s%s", status, said, out)
	}
}

// Checks that Ctrl-C interrupts find nothing: neither that all is well nor a problem.
func TestDoctorInterrupted(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if status, out, said := e.run(ctx, "doctor"); status != 1 || out != "" || said != "talkback: the checks were interrupted; run it again\n" {
		t.Errorf("status %d: %s%s", status, said, out)
	}
}

// doctor tries the Redis of client limits as a server uses it, with a user that has the rights
// which the guide names, and no other. It leaves nothing there, and never prints the password.
func TestDoctorTriesRedis(t *testing.T) {
	server := redistest.Start(t)
	_, rights, _ := strings.Cut(doctest.Read(t, "docs/operate/limits.md").Text, "The Redis user needs ")
	rights, _, _ = strings.Cut(rights, "checks that")
	limiter := []string{"ACL", "SETUSER", "limiter", "on", ">hush"}
	for _, words := range regexp.MustCompile("`([+~][^`]*)`").FindAllStringSubmatch(rights, -1) {
		limiter = append(limiter, strings.Fields(words[1])...)
	}
	server.Must(t, limiter...)
	server.Must(t, "ACL", "SETUSER", "counter", "on", ">hush", "~talkback:quota:*", "+ping", "+evalsha", "+eval", "+get", "+set", "+del", "+time")
	server.Must(t, "ACL", "SETUSER", "reader", "on", ">hush", "~*", "+ping", "+get", "+evalsha", "+eval", "+time")
	of := func(user string) string { return "redis://" + user + "hush@" + server.Address() }
	flags := []string{"--client-read-units", "5", "--listen", "127.0.0.1:8080", "--endpoint", dynamotest.Dynoxide(t), "--table", "missing"}
	for _, row := range []struct {
		why, url string
		result   string
		found    string
		more     []string
	}{
		{"no Redis", "", "ok", "5 read units a second and any number of writes for each client", nil},
		{"one that answers", server.URL(), "ok", ", Redis ", nil},
		{"a user who may do what servers do", of("limiter:"), "ok", " counts them", nil},
		{"a user who may not write", of("reader:"), "warning", "cannot be used", nil},
		{"a wrong password", of("limiter:x"), "warning", "(WRONGPASS)", nil},
		{"nothing there", "redis://:hush@127.0.0.1:1", "warning", "each server limits clients by itself", nil},
		{"another scheme", "http://:hush@127.0.0.1", "problem", "--client-limits-redis: the URL of Redis must be", nil},
		{"a user who may not remember queries", of("counter:"), "warning", "cannot be used (NOPERM): each server remembers persisted queries by itself", nil},
		{"no limits", server.URL(), "ok", " remembers persisted queries; there are no limits", []string{"--client-read-units", "0"}},
	} {
		if row.url != "" {
			t.Setenv("TALKBACK_CLIENT_LIMITS_REDIS", row.url)
		}
		_, out, said := talkback(t.Context(), append(append([]string{"doctor", "--json"}, flags...), row.more...)...)
		var all []foundByDoctor
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			t.Fatalf("%s: %v: %s %s", row.why, err, out, said)
		}
		i := slices.IndexFunc(all, func(f foundByDoctor) bool { return f.Check == "client limits" })
		if i < 0 || all[i].Result != row.result || !strings.Contains(all[i].Found, row.found) || (row.result == "warning") != (all[i].Cure != "") || strings.Contains(out, "hush") {
			t.Errorf("%s: %s", row.why, out)
		}
	}
	must.Wait(t, "nothing is left", func() bool { size, _ := server.Do("DBSIZE"); return size == ":0" })
}
