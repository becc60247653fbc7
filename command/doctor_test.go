package command_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/doctor"
	"github.com/talkback/talkback/internal/dynamotest"
)

// What is printed about a new table: testdata/doctor.golden.
func TestDoctor(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	var out bytes.Buffer
	e.out = &out
	status, said := e.run(t.Context(), "doctor", "--max-connections", "8", "--listen", "0.0.0.0:8080")
	if status != 0 || said != "" {
		t.Errorf("status %d: %s", status, said)
	}
	compareGolden(t, "testdata/doctor.golden", bytes.ReplaceAll(out.Bytes(), []byte(e.table), []byte("comments")))
}

// What is wrong makes the exit status 1, and is the same as JSON.
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
	} {
		var out bytes.Buffer
		e.out = &out
		status, said := e.run(t.Context(), "doctor", append(row.arguments, "--json")...)
		var all []doctor.Finding
		if err := json.Unmarshal(out.Bytes(), &all); err != nil || status != 1 || !strings.Contains(said, "problems found: ") {
			t.Errorf("%s: status %d, %v: %s", row.why, status, err, said)
		}
		found := false
		for _, f := range all {
			found = found || f.Check == row.check && f.Result == doctor.Problem && strings.Contains(f.Found, row.found)
		}
		if !found || strings.Contains(out.String(), `"short"`) {
			t.Errorf("%s: %s", row.why, out.String())
		}
	}
}
