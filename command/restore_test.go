package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/dynamotest"
)

// restored returns a line of an export with a version of a comment.
func restored(version int) string {
	return fmt.Sprintf(`{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"teapot","rating":5,"language":"en","title":null,"text":"Old.","author":"u1","authorName":"Ada","createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":%d}`, version)
}

// A file writes as a customer only if it is imported with --restore, and then only what could have
// been exported.
func TestRestoreIsAskedForByName(t *testing.T) {
	t.Parallel()
	i := newImporter(t, dynamotest.Dynoxide(t))
	file := write(t, "reviews.jsonl", restored(1))
	if status, _, said := i.run(t.Context(), file); status == 0 || !strings.Contains(said, "--restore") {
		t.Errorf("without the flag: status %d, %s", status, said)
	}
	for _, flag := range []string{"--authors-are-customers", "--language=en", "--language-of=x=en", "--map=text=title"} {
		if status, _, said := i.run(t.Context(), file, "--restore", flag); status != 2 || !strings.Contains(said, "leave out --from, --map") {
			t.Errorf("with %s: status %d, %s", flag, status, said)
		}
	}
	if status, _, said := i.run(t.Context(), write(t, "reviews.csv", fewReviews), "--restore", "--dry-run"); status != 1 || !strings.Contains(said, "without --restore") {
		t.Errorf("another file: status %d, %s", status, said)
	}
	damaged := write(t, "damaged.jsonl", strings.Replace(restored(1), `"rating":5`, `"rating":6`, 1))
	for _, flags := range [][]string{nil, {"--max-rejects", "0"}} {
		status, _, said := i.run(t.Context(), append([]string{damaged, "--restore", "--force"}, flags...)...)
		if status != 1 || strings.Contains(said, "--map") || !strings.Contains(strings.ToLower(said), "correct the file, or export it again") {
			t.Errorf("all rows rejected: status %d, %s", status, said)
		}
	}
	i.want(summary(1, 1, 0, 0, 0), file, "--restore")
}

// A comment with the highest possible version can be deleted but not edited.
func TestLastVersion(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	i, a := newImporter(t, endpoint), newAPI(t, endpoint)
	i.table = a.session.Table
	i.want(summary(1, 1, 0, 0, 0), write(t, "export.jsonl", restored(2147483647)), "--restore")
	const id = "c_01HZ0000000000000000000000"
	if got := a.edit(map[string]any{"id": id, "version": 2147483647, "rating": 1}); got.codes() != "OUT_OF_RANGE version" {
		t.Errorf("an edit: %+v", got)
	}
	if got := a.remove(map[string]any{"id": id, "version": 2147483647}); got.codes() != "" || got.Comment.Version != 2147483647 {
		t.Errorf("a delete: %+v", got)
	}
}

// A moderator can delete an item that is no proper comment, and it is no longer counted. No
// customer can delete it, since its author is unknown.
func TestImproperCommentsAreDeleted(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]string{layout.AttrVersion: "2147483648", layout.AttrRating: "9"} {
		t.Run(attribute, func(t *testing.T) {
			a := guarded(t)
			a.watermark = follows{leases.NewLeases(a.session.Client, a.session.Table)}
			a.useClient(a.session.Client)
			defer a.consume(a.session.Client)()
			a.header = "Bearer " + tokenOf(t, "u1", time.Hour)
			id := a.add(draft()).Comment.ID
			kept := a.add(draft()).Comment.ID
			a.drained(time.Now())
			ulid := strings.TrimPrefix(id, "c_")
			if _, err := a.session.Client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName:                 aws.String(a.session.Table),
				Key:                       layout.Item{"PK": layout.Text("C#" + ulid), "SK": layout.Text("C")},
				UpdateExpression:          aws.String("SET #a = :v"),
				ExpressionAttributeNames:  map[string]string{"#a": attribute},
				ExpressionAttributeValues: layout.Item{":v": &types.AttributeValueMemberN{Value: value}},
			}); err != nil {
				t.Fatal(err)
			}
			const remove = `mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { comment { id } userErrors { code } } }`
			input := map[string]any{"input": map[string]any{"id": id}}
			if got := a.ask(remove, input); len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "INTERNAL" {
				t.Errorf("by a customer: %s %+v", got.Data, got.Errors)
			}
			a.header = "Bearer " + moderatorToken
			if got := a.ask(remove, map[string]any{"input": map[string]any{"id": id, "version": 1}}); len(got.Errors) != 1 {
				t.Errorf("with a version: %s %+v", got.Data, got.Errors)
			}
			if got := a.ask(remove, input); len(got.Errors) > 0 || string(got.Data) != `{"deleteComment":{"comment":null,"userErrors":[]}}` {
				t.Errorf("by a moderator: %s %+v", got.Data, got.Errors)
			}
			if got := a.ask(remove, input); string(got.Data) != `{"deleteComment":{"comment":null,"userErrors":[{"code":"NOT_FOUND"}]}}` {
				t.Errorf("again: %s %+v", got.Data, got.Errors)
			}
			if attribute == layout.AttrRating {
				return // the edit by hand could not be counted, so all counts wait for a rebuild
			}
			a.drained(time.Now())
			got := a.ask(`{ product(id: "teapot") { comments(first: 9) { totalCount nodes { id } } } }`, nil)
			if want := `{"product":{"comments":{"totalCount":1,"nodes":[{"id":"` + kept + `"}]}}}`; string(got.Data) != want {
				t.Errorf("counted: %s %+v", got.Data, got.Errors)
			}
		})
	}
}
