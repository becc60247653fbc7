package command_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// A server that stops leaves what its plans learnt in the table.
func TestServerKeepsWhatPlansLearnt(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	a := newAPI(t, endpoint)
	for p := range 8 {
		a.load(commenttest.Many(commenttest.Rand(t), fmt.Sprint("product-", p), 3)...)
	}
	s := startServer(t, "--endpoint", endpoint, "--table", a.session.Table, "--no-count")
	for p := range 8 {
		if answer := s.ask(fmt.Sprintf(`{ product(id: "product-%d") { comments(first: 20) { nodes { id } } } }`, p)); !strings.Contains(answer, `"c_`) {
			t.Fatal(answer)
		}
	}
	s.signal(syscall.SIGTERM)
	if status, said := s.wait(); status != 0 || strings.Contains(said, "level=WARN") {
		t.Errorf("status %d:\n%s", status, said)
	}
	kept, err := a.session.Client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(a.session.Table), Key: layout.StreamKey("PLANS", "PRIOR#1"), ConsistentRead: aws.Bool(true),
	})
	if err != nil || !strings.Contains(layout.NewReader(kept.Item).Text("tally"), `"products":8,`) {
		t.Errorf("the table holds %v, %v", kept, err)
	}
}
