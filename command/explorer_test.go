package command_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/browsertest"
)

// The explorer's examples, clicked in a real browser on the real server with its sample data: each
// answers without an error and shows what it promises.
func TestExamplesOfTheExplorer(t *testing.T) {
	t.Parallel()
	browser := browsertest.Open(t)
	s := startServer(t, "--data", filepath.Join(t.TempDir(), "data"), "--sample-data")
	for title, shows := range map[string]string{
		"Newest comments":                      `"summary"`,
		"One language":                         `"language": "de"`,
		"Ratings and languages":                `"index": "by`, // which one depends on what is known by then
		"Date range":                           `"createdAt": "2024-`,
		"Latest praise and complaint":          `"latestNegative": {`,
		"Several products":                     `"id": "never-commented-on"`,
		"Statistics":                           `"totalCount": `,
		"Leaderboard":                          `"leaderboard": [`,
		"Comments counted in a range of dates": `"counted": true`,
		"Numbered links":                       `"isCurrent": true`,
	} {
		t.Run(title, func(t *testing.T) {
			answer := browsertest.RunExample(t, browser, s.address, title)
			var parsed struct{ Errors []any }
			if err := json.Unmarshal([]byte(answer), &parsed); err != nil || len(parsed.Errors) > 0 {
				t.Fatalf("%v\n%s", err, answer)
			}
			if !strings.Contains(answer, shows) {
				t.Errorf("the answer does not show %s:\n%s", shows, answer)
			}
		})
	}
}
