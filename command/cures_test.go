package command_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// If a table deletes by another attribute than the one of expired items, verify and doctor say so,
// end with status 1 and name the same cure. It is no missing permission.
func TestTimeToLiveOfAnotherAttribute(t *testing.T) {
	e := &exporter{t: t, endpoint: dynamotest.Dynoxide(t), table: dynamotest.TableName(t)}
	client := call.NewLocalClient(e.endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, e.table))
	for _, spec := range []types.TimeToLiveSpecification{
		{Enabled: aws.Bool(false), AttributeName: aws.String("expires")},
		{Enabled: aws.Bool(true), AttributeName: aws.String("other")},
	} {
		must.Get(client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: &e.table, TimeToLiveSpecification: &spec}))(t)
	}
	cure := "aws dynamodb update-time-to-live --table-name " + e.table + " --time-to-live-specification Enabled=false,AttributeName=other"
	for _, name := range []string{"verify", "doctor"} {
		status, out, said := e.run(t.Context(), name)
		if said += out; status != 1 || !strings.Contains(said, cure) || strings.Contains(said, "allow dynamodb:") {
			t.Errorf("%s: status %d, %s", name, status, said)
		}
	}
}
