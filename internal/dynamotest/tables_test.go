package dynamotest

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// forgetful answers each call that creates a table as if the first answer was lost: the table
// exists already. A table is active when it is described a second time.
type forgetful struct{ made, described int }

func (f *forgetful) CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	f.made++
	return nil, &types.ResourceInUseException{}
}

func (f *forgetful) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	f.described++
	status := types.TableStatusCreating
	if f.described > 1 {
		status = types.TableStatusActive
	}
	return &dynamodb.DescribeTableOutput{Table: &types.TableDescription{TableStatus: status}}, nil
}

func TestTableIsThereWhoseAnswerWasLost(t *testing.T) {
	var engine forgetful
	name := TableName(t)
	CreateTable(t, &engine, &dynamodb.CreateTableInput{TableName: &name})
	if engine.made != 1 || engine.described != 2 {
		t.Errorf("it was made %d times and described %d times, want 1 and 2", engine.made, engine.described)
	}
}
