package dynamo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// A new table is recognized, and drops expired items. If a process ends after it created the table
// but before it set the time to live, the next process sets it.
func TestTableIsMadeAndRecognized(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		for _, begun := range []bool{false, true} {
			client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
			if begun {
				dynamotest.CreateTable(t, client, layout.Definition(table))
				if on, err := dynamo.DropsExpired(t.Context(), client, table); on || err != nil {
					t.Fatalf("at first: %v, %v", on, err)
				}
			}
			for range 2 {
				must.Do(t, dynamo.CreateTable(t.Context(), client, table))
				must.Do(t, dynamo.CheckTable(t.Context(), client, table))
				if on, err := dynamo.DropsExpired(t.Context(), client, table); !on || err != nil {
					t.Errorf("begun %v: %v, %v", begun, on, err)
				}
			}
		}
	})
}

// Whichever answer is lost, the table is created: the client retries, and recognizes its own table.
func TestTableIsMadeThoughAnswersAreLost(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		for lost, calls := 1, 1; lost <= calls; lost++ {
			client, network := faulttest.Under(call.NewLocalClient(endpoint), faulttest.Nth(lost, faulttest.AnswerLost))
			if err := dynamo.CreateTable(t.Context(), client, dynamotest.TableName(t)); err != nil {
				t.Errorf("the answer to call %d is lost: %v", lost, err)
			}
			calls = network.Calls()
		}
	})
}

// Processes that start together are throttled, and start all the same. A process that reaches no
// table, or something that is not DynamoDB, fails at once.
func TestTableIsCheckedThoughThrottled(t *testing.T) {
	t.Parallel() // it waits most of the time, for the next try of a call
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	for _, row := range []struct {
		fault  faulttest.Fault
		fails  int // number of calls that meet the fault
		passes bool
	}{
		{faulttest.Throttled, 7, true}, {faulttest.ThrottledOtherwise, 7, true},
		{faulttest.Refused, 1000, false}, {faulttest.AnswerShort, 1000, false},
	} {
		faults := func(call int) faulttest.Fault {
			if call <= row.fails {
				return row.fault
			}
			return faulttest.None
		}
		spoiled, network := faulttest.Under(client, faults)
		if err := dynamo.CheckTable(t.Context(), spoiled, table); (err == nil) != row.passes || network.Calls() > 8 {
			t.Errorf("%s: after %d calls: %v", row.fault, network.Calls(), err)
		}
		if !row.passes {
			continue
		}
		spoiled, network = faulttest.Under(client, faults)
		if err := dynamo.CheckLayout(t.Context(), spoiled, table); err != nil {
			t.Errorf("%s: of its layout, after %d calls: %v", row.fault, network.Calls(), err)
		}
	}
}

// A table with a similar but wrong definition would give wrong answers, so it is refused at
// startup. A server that runs is not ready either, unless only the stream is another one, or off.
func TestTableOfAnotherShape(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, row := range []struct {
		why    string
		change func(*dynamodb.CreateTableInput)
		says   string
	}{
		{"another key", func(in *dynamodb.CreateTableInput) { in.KeySchema = in.KeySchema[:1] }, "its key is PK instead of PK + SK"},
		{"no stream", func(in *dynamodb.CreateTableInput) { in.StreamSpecification = nil }, "it has no stream of NEW_AND_OLD_IMAGES"},
		{"keys alone in the stream", func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification.StreamViewType = types.StreamViewTypeKeysOnly
		}, "it has no stream of NEW_AND_OLD_IMAGES"},
		{"an index less", func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes = in.GlobalSecondaryIndexes[1:] }, "it has no index byLangAndRating"},
		{"an index with another key", func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[1].KeySchema = in.GlobalSecondaryIndexes[2].KeySchema
		}, "the key of its index byLang is R + PK instead of L + PK"},
		{"an index that does not carry what a list shows", func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[3].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
		}, `its index all does not carry attribute "l"`},
	} {
		input := layout.Definition(dynamotest.TableName(t))
		row.change(input)
		dropUnusedAttributes(input)
		dynamotest.CreateTable(t, client, input)
		err := dynamo.CheckTable(t.Context(), client, *input.TableName)
		if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "--table") {
			t.Errorf("%s: %v; want a sentence that says %q and names the cure", row.why, err, row.says)
		}
		uncounted := strings.Contains(row.says, "no stream")
		if err := dynamo.NewStore(client, *input.TableName, dynamo.Options{}).Ready(t.Context()); (err == nil) != uncounted {
			t.Errorf("%s: a server that runs is ready: %v", row.why, err)
		}
	}
}

// The projection of an index cannot change once it has comments, so each index of comments also
// projects reserved names. The boards and the index of authors project only their keys.
func TestProjections(t *testing.T) {
	for _, index := range layout.Definition("").GlobalSecondaryIndexes {
		kind, carried := types.ProjectionTypeInclude, "l r h t U a n v u o k y i q d x"
		if *index.IndexName == "boards" || *index.IndexName == "byAuthor" {
			kind, carried = types.ProjectionTypeKeysOnly, ""
		}
		if p := index.Projection; p.ProjectionType != kind || strings.Join(p.NonKeyAttributes, " ") != carried {
			t.Errorf("index %s projects %s %v, want %s %s", *index.IndexName, p.ProjectionType, p.NonKeyAttributes, kind, carried)
		}
	}
}

// dropUnusedAttributes removes the attribute definitions that no key uses, which DynamoDB would
// refuse.
func dropUnusedAttributes(input *dynamodb.CreateTableInput) {
	used := map[string]bool{}
	note := func(schema []types.KeySchemaElement) {
		for _, element := range schema {
			used[*element.AttributeName] = true
		}
	}
	note(input.KeySchema)
	for _, index := range input.GlobalSecondaryIndexes {
		note(index.KeySchema)
	}
	input.AttributeDefinitions = slices.DeleteFunc(input.AttributeDefinitions, func(d types.AttributeDefinition) bool { return !used[*d.AttributeName] })
}
