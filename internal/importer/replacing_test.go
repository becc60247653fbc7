package importer

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Of comments with the same ID the first counts, even if they are in different chunks. So importing
// a file twice changes nothing.
func TestReplacingByRepeatedComments(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	all := commenttest.Many(commenttest.Rand(t), "cup", 3)
	again := all[0]
	again.Text += " (another)"
	for run, want := range [][2]dynamo.LoadCounts{
		{{Written: 2, Repeated: 1}, {Written: 1, Repeated: 2}},
		{{Existing: 2, Repeated: 1}, {Existing: 1, Repeated: 2}},
	} {
		loader := restore.NewLoader(client, table, 0)
		loader.Replace, loader.Lines = true, true
		for i, chunk := range [][]comment.Comment{{all[0], all[1], again}, {again, all[2], all[1]}} {
			got, err := Replacing{Loader: loader}.Load(t.Context(), chunk)
			if diff := cmp.Diff(want[i], got); err != nil || diff != "" {
				t.Errorf("run %d, chunk %d: %v %s", run, i, err, diff)
			}
		}
		found := must.Get(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: layout.CommentKey(all[0].ID)}))(t)
		if c, err := layout.Decode(found.Item); err != nil || c.Text != all[0].Text {
			t.Errorf("run %d: the text is %q, %v; want %q", run, c.Text, err, all[0].Text)
		}
	}
}

// If a chunk failed and is given again, it is loaded, and not taken for a repeated one.
func TestReplacingAgainAfterAnError(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	chunk := commenttest.Many(commenttest.Rand(t), "cup", 3)
	replacing := Replacing{Loader: restore.NewLoader(client, table, 1)}
	replacing.Loader.Replace, replacing.Loader.Lines = true, true
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replacing.Load(ended, chunk); err == nil {
		t.Fatal("nothing failed")
	}
	if got, err := replacing.Load(t.Context(), chunk); err != nil || got != (dynamo.LoadCounts{Written: 3}) {
		t.Errorf("%+v, %v", got, err)
	}
}
