package command_test

import (
	"encoding/json"
	"strings"
	"testing"
)

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
	if status, _, stderr := talkback(t.Context(), "stats", "p", "--log-level", "loud"); status != 2 || !strings.Contains(stderr, "--log-level") {
		t.Errorf("an unknown level: status %d, %s", status, stderr)
	}
}
