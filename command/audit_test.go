package command_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
)

// auditChecks is how many checks the pinned version of the audit makes. A lower number means that
// checks were lost.
const auditChecks = 61

// Every check of graphql-http's audit passes, also those that the draft leaves open. The authors of
// GraphQL over HTTP wrote that npm package.
func TestAuditOfGraphQLOverHTTP(t *testing.T) {
	t.Parallel()
	folder := must.Get(filepath.Abs("../.cache/graphql-http"))(t)
	_, missing := os.Stat(filepath.Join(folder, "node_modules", "stamp"))
	node, err := exec.LookPath("node")
	if missing != nil || err != nil {
		provisiontest.LeaveOut(t, fmt.Errorf("the audit of GraphQL over HTTP: node is not on PATH, or .cache/graphql-http does not exist; %w", provisiontest.ErrNotInstalled))
	}
	a := newAPI(t, dynamotest.Dynoxide(t))
	audit := exec.CommandContext(t.Context(), node, "../internal/provision/graphql-http/audit.cjs", folder, a.server.URL+"/graphql")
	audit.Stderr = os.Stderr
	out := must.Get(audit.Output())(t)
	checks := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); checks++ {
		var check struct{ ID, Name, Result string }
		if err := json.Unmarshal(lines.Bytes(), &check); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if check.Result != "ok" {
			t.Errorf("%s %s: %s", check.ID, check.Name, check.Result)
		}
	}
	if checks != auditChecks {
		t.Errorf("%d checks were made, want %d", checks, auditChecks)
	}
}
