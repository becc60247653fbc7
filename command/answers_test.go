package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Each folder of testdata/api holds data.jsonl, which is loaded into an empty table and counted,
// and operations. An operation is NAME.graphql, with NAME.variables.json if it takes variables, and
// the answer NAME.json. They run in the order of their names on one table, so later ones see what
// mutations changed. A new case is a new file; -update writes its answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	data, err := filepath.Glob("testdata/api/*/data.jsonl")
	if err != nil || len(data) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		for _, file := range data {
			folder := filepath.Dir(file)
			t.Run(filepath.Base(folder), func(t *testing.T) {
				a := newAPI(t, endpoint)
				comments := readComments(t, file)
				a.load(comments...)
				a.count(arrived(comments...)...)
				operations, err := filepath.Glob(filepath.Join(folder, "*.graphql"))
				if err != nil || len(operations) == 0 {
					t.Fatalf("no operations: %v", err)
				}
				for _, operation := range operations {
					a.checkAnswer(t, operation)
				}
			})
		}
	})
}

func (a *api) checkAnswer(t *testing.T, operation string) {
	t.Helper()
	query := must.Get(os.ReadFile(filepath.Clean(operation)))(t)
	name := strings.TrimSuffix(operation, ".graphql")
	var variables map[string]any
	if raw, err := os.ReadFile(filepath.Clean(name + ".variables.json")); err == nil {
		must.Do(t, json.Unmarshal(raw, &variables))
	}
	goldentest.Compare(t, name+".json", pretty(t, a.ask(string(query), variables)))
}

// readComments reads comments as an import would.
func readComments(t testing.TB, file string) []comment.Comment {
	t.Helper()
	source := must.Get(reviewfile.Open(file, nil))(t)
	defer source.Close()
	reader := must.Get(reviewfile.NewReader(source, reviewfile.Options{Format: reviewfile.FormatOf(file)}))(t)
	var out []comment.Comment
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must.Do(t, err)
		out = append(out, row.Comment)
	}
}

// pretty formats JSON for people.
func pretty(t *testing.T, value any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(value))
	return out.Bytes()
}
