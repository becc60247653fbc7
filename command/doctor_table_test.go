package command

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// examinerOf returns an examiner with a role that lacks a permission; "" for none.
func examinerOf(endpoint, table, lacks string) examiner {
	return refusedExaminer(endpoint, table, lacks, "AccessDeniedException")
}

// refusedExaminer returns an examiner whose calls of an operation are refused with a code.
func refusedExaminer(endpoint, table, refused, code string) examiner {
	client := faulttest.With(call.NewLocalClient(endpoint), func(under faulttest.HTTPClient, operation string, request *http.Request) (*http.Response, error) {
		if operation != refused || refused == "" {
			return under.Do(request)
		}
		return faulttest.Answer(request, http.StatusBadRequest, `{"__type":"com.amazon.coral.service#`+code+`","Message":"inside: it"}`), nil
	})
	return examiner{Client: client, Source: stream.NewSource(stream.NewClient(client), client, table), Table: table, Words: func(err error) string { return err.Error() }}
}

func everyFinding(ctx context.Context, e examiner) []finding {
	all, there := e.shape(ctx, false)
	if !there {
		return all
	}
	return slices.Concat(all, e.permissions(ctx, true), e.ofStream(ctx))
}

// If a role lacks one permission, the findings name it. If it lacks none, they name none. Nothing
// is written in either case.
func TestPermissionsThatAreMissing(t *testing.T) {
	// Calls that need an action of another name. A transaction with one check needs one action.
	actions := map[string]string{"TransactWriteItems": "ConditionCheckItem"}
	for _, name := range []string{
		"", "DescribeTable", "GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "Scan", "TransactWriteItems",
		"DescribeTimeToLive", "UpdateTimeToLive", "DescribeStream", "GetShardIterator", "GetRecords",
	} {
		if actions[name] == "" {
			actions[name] = name
		}
	}
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		table := dynamotest.TableName(t)
		client := call.NewLocalClient(endpoint)
		must.Do(t, dynamo.CreateTable(t.Context(), client, table))
		for name, action := range actions {
			var cures []string
			for _, f := range everyFinding(t.Context(), examinerOf(endpoint, table, name)) {
				if f.Result == resultProblem || f.Result == resultWarning {
					cures = append(cures, f.Cure)
				}
			}
			granted := func(cure string) bool { return strings.HasPrefix(cure, "grant dynamodb:"+action) }
			if name == "" && cures != nil || name != "" && (cures == nil || !slices.ContainsFunc(cures, granted)) {
				t.Errorf("without %q: %q", action, cures)
			}
			if slices.ContainsFunc(cures, func(cure string) bool { return !granted(cure) }) {
				t.Errorf("without %q, others are reported as missing too: %q", action, cures)
			}
		}
		if all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}); err != nil || len(all.Items) != 1 {
			t.Errorf("the table holds %v (%v), want the number of its layout only", all.Items, err)
		}
	})
}

// The cure of a table that is too busy is not a permission, and no part of the engine's words.
func TestBusyTableIsToldByItsCure(t *testing.T) {
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), call.NewLocalClient(endpoint), table))
	all := everyFinding(t.Context(), refusedExaminer(endpoint, table, "GetItem", "ProvisionedThroughputExceededException"))
	all = slices.DeleteFunc(all, func(f finding) bool { return f.Result != resultProblem })
	var checks []string
	for _, f := range all {
		checks = append(checks, f.Check)
		if f.Cure != "wait, or raise the table's capacity, then run talkback doctor again" {
			t.Errorf("%+v", f)
		}
	}
	if !slices.Equal(checks, []string{"layout", "call GetItem"}) {
		t.Errorf("problems with %q", checks)
	}
}

// For a server that does not count, only the permissions that it needs are examined.
func TestFewerPermissionsWithoutCounting(t *testing.T) {
	table := dynamotest.TableName(t)
	endpoint := dynamotest.Dynoxide(t)
	must.Do(t, dynamo.CreateTable(t.Context(), call.NewLocalClient(endpoint), table))
	for _, name := range []string{"BatchWriteItem", "Scan", "TransactWriteItems", "UpdateTimeToLive"} {
		if all := examinerOf(endpoint, table, name).permissions(t.Context(), false); countFindings(all, resultOK) != len(all) {
			t.Errorf("without %s: %+v", name, all)
		}
	}
}

// Each table has one fault, and one finding names it.
func TestTablesInTrouble(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		for _, row := range []struct {
			why    string
			change func(*dynamodb.CreateTableInput)
			result checkResult
			want   string
		}{
			{"there is none", nil, resultProblem, "does not exist"},
			{"another program's", func(in *dynamodb.CreateTableInput) {
				in.GlobalSecondaryIndexes, in.StreamSpecification = nil, nil
				in.AttributeDefinitions = slices.DeleteFunc(in.AttributeDefinitions, func(a types.AttributeDefinition) bool {
					return *a.AttributeName != layout.AttrPK && *a.AttributeName != layout.AttrSK
				})
			}, resultProblem, "it has no index"},
			{"an index was deleted", func(in *dynamodb.CreateTableInput) {
				in.GlobalSecondaryIndexes = slices.DeleteFunc(in.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndex) bool { return *g.IndexName == string(layout.Boards) })
				in.AttributeDefinitions = slices.DeleteFunc(in.AttributeDefinitions, func(a types.AttributeDefinition) bool {
					return !slices.ContainsFunc(in.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndex) bool {
						return slices.ContainsFunc(g.KeySchema, func(k types.KeySchemaElement) bool { return *k.AttributeName == *a.AttributeName })
					}) && *a.AttributeName != layout.AttrPK && *a.AttributeName != layout.AttrSK
				})
			}, resultProblem, "is not complete: it has no index boards"},
			{"an index lacks an attribute", func(in *dynamodb.CreateTableInput) {
				in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
			}, resultProblem, "does not carry attribute"},
			{"its stream is off", func(in *dynamodb.CreateTableInput) { in.StreamSpecification = nil }, resultProblem, "it has no stream"},
			{"its creator ended before time to live was on", func(*dynamodb.CreateTableInput) {}, resultWarning, "keeps expired items"},
		} {
			table := dynamotest.TableName(t)
			if row.change != nil {
				input := layout.Definition(table)
				row.change(input)
				dynamotest.CreateTable(t, client, input)
			}
			all := everyFinding(t.Context(), examinerOf(endpoint, table, ""))
			i := slices.IndexFunc(all, func(f finding) bool { return f.Result == row.result })
			if i < 0 || !strings.Contains(all[i].Found, row.want) || all[i].Cure == "" {
				t.Errorf("%s: %+v, want a %s: %s", row.why, all, row.result, row.want)
			}
		}
	})
}

// If a table is missing on AWS, the cure mentions other regions.
func TestTableInAnotherRegion(t *testing.T) {
	all, there := examinerOf(dynamotest.Dynoxide(t), dynamotest.TableName(t), "").shape(t.Context(), true)
	if there || len(all) != 1 || !strings.Contains(all[0].Found, "does not exist in ") || !strings.HasPrefix(all[0].Cure, "set AWS_REGION if it is in another region") {
		t.Errorf("%+v", all)
	}
}

// If a table's stream was switched off, a finding says so. After the cure there is no problem left.
func TestStreamIsSwitchedOnAgain(t *testing.T) {
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	switched := func(s types.StreamSpecification) []finding {
		must.Get(client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &table, StreamSpecification: &s}))(t)
		return everyFinding(t.Context(), examinerOf(endpoint, table, ""))
	}
	off := switched(types.StreamSpecification{StreamEnabled: aws.Bool(false)})
	i := slices.IndexFunc(off, func(f finding) bool { return f.Result == resultProblem })
	if i < 0 || !strings.Contains(off[i].Found, "cannot be counted") || !strings.Contains(off[i].Cure, "--stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES") {
		t.Errorf("off: %+v", off)
	}
	on := switched(types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages})
	if countFindings(on, resultProblem) > 0 {
		t.Errorf("on again: %+v", on)
	}
}
