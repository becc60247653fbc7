package command

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Whichever call of an export or an import meets whichever fault, the file and the table hold every
// comment unchanged and once.
func TestExportAndImportThroughEveryFault(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	r := rand.New(rand.NewPCG(1, 11))
	comments := make([]comment.Comment, 8)
	for i := range comments {
		comments[i] = commenttest.Nasty(r, "p")
	}
	source := emptyTable(t, endpoint)
	if _, err := dynamo.NewLoader(source.Client, source.Table, 0).Load(t.Context(), comments); err != nil {
		t.Fatal(err)
	}
	draws := commenttest.Rand(t)
	for _, fault := range faulttest.Kinds {
		for n, met := commenttest.Stride(draws, 3), true; met; n += commenttest.Stride(draws, 3) {
			where := fmt.Sprintf("call %d, %s", n, fault)
			file := filepath.Join(t.TempDir(), "out.jsonl")
			client, exporting := faulttest.Under(source.Client, faulttest.Nth(n, fault))
			exportTo(t, where, &Session{Client: client, Table: source.Table}, file)

			target := emptyTable(t, endpoint)
			client, importing := faulttest.Under(target.Client, faulttest.Nth(n, fault))
			importFrom(t, where, &Session{Client: client, Table: target.Table}, file, len(comments))
			checkComments(t, where, target.Client, target.Table, comments)
			met = exporting.Calls() >= n || importing.Calls() >= n
		}
	}
}

func emptyTable(t *testing.T, endpoint string) *Session {
	t.Helper()
	s := &Session{Client: call.NewLocalClient(endpoint), Table: dynamotest.TableName(t)}
	if err := dynamo.CreateTable(t.Context(), s.Client, s.Table); err != nil {
		t.Fatal(err)
	}
	return s
}

func exportTo(t *testing.T, where string, session *Session, file string) {
	t.Helper()
	out, err := output.Open(t.Context(), file, false, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	export := &Export{File: file, Calls: 1}
	to := &exporting{session: session, out: out, progress: output.NewProgress(io.Discard, -1, "comments")}
	if _, err := export.write(t.Context(), to); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
}

func importFrom(t *testing.T, where string, session *Session, file string, rows int) {
	t.Helper()
	in, err := importer.Open(t.Context(), file, reviewfile.Options{Format: reviewfile.JSONLines, Restore: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	work := &importer.Import{
		Input: in, Loader: dynamo.NewLoader(session.Client, session.Table, 1), Rejects: importer.PrintRejects(io.Discard),
		Progress: output.NewProgress(io.Discard, -1, "rows"), ChunkRows: 5,
	}
	err = work.Run(t.Context())
	summary, _ := work.Report(nil, 0)
	if want := fmt.Sprintf("%[1]d rows = %[1]d written + 0 already there + 0 repeated in the file + 0 rejected, in ", rows); err != nil || !strings.HasPrefix(summary, want) {
		t.Errorf("%s: %s, %v", where, summary, err)
	}
}

// checkComments compares the table and its widest index with the expected comments.
func checkComments(t *testing.T, where string, client *dynamodb.Client, table string, want []comment.Comment) {
	t.Helper()
	scanner := dynamo.NewScanner(client, table, 1)
	for name, scan := range map[string]func() []comment.Comment{
		"the table": func() []comment.Comment { return all(t, scanner.All(t.Context())) },
		"the index": func() []comment.Comment { return all(t, scanner.OfProduct(t.Context(), "p")) },
	} {
		if diff := cmp.Diff(inOrder(want), inOrder(scan())); diff != "" {
			t.Errorf("%s: %s: %s", where, name, diff)
		}
	}
}

func all(t *testing.T, scan func(yield func(comment.Comment, error) bool)) []comment.Comment {
	t.Helper()
	var out []comment.Comment
	for c, err := range scan {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func inOrder(comments []comment.Comment) []comment.Comment {
	return slices.SortedFunc(slices.Values(comments), func(a, b comment.Comment) int { return a.ID.Position().Compare(b.ID.Position()) })
}
