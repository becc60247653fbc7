package planbench

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

func TestMain(m *testing.M) {
	// rapid would check each property 100 times. A flag on the command line takes precedence.
	if err := flag.Set("rapid.checks", strconv.Itoa(commenttest.Times(25, 300))); err != nil {
		panic(err)
	}
	dynamotest.Main(m)
}

// The table in memory can be trusted because a real engine answers the same: the same items at the
// same price. `make torture` asks both engines. Where an answer ends after a megabyte is not
// compared, since they differ from each other there.
func TestTableAnswersAsEnginesDo(t *testing.T) {
	r := commenttest.Rand(t)
	comments := commenttest.Many(r, "42", 300)
	for i := range comments {
		comments[i].Text += fmt.Sprintf("%*d", r.IntN(2000), i)
	}
	memory := NewTable(comments)
	inputs := make([]*dynamodb.QueryInput, commenttest.Times(100, 400)) // for each engine
	for i := range inputs {
		inputs[i] = anyCall(r, comments)
	}
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		engine, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
		must.Do(t, dynamo.CreateTable(t.Context(), engine, table))
		must.Get(dynamo.NewLoader(engine, table, 0).Load(t.Context(), comments))(t)
		for _, input := range inputs {
			compareAnswers(t, engine, table, memory, *input)
		}
	})
}

// compareAnswers sends a call to both, and continues where each of them says, until one has reached
// the end.
func compareAnswers(t *testing.T, engine *dynamodb.Client, table string, memory *Table, in dynamodb.QueryInput) {
	t.Helper()
	in.TableName = aws.String(table)
	for {
		want := must.Get(engine.Query(t.Context(), &in))(t)
		got := must.Get(memory.Query(t.Context(), &in))(t)
		// Engines differ by a few bytes an item, which may be on either side of a unit's border.
		if diff := cmp.Diff(seen(want), seen(got), cmpopts.EquateApprox(0, 0.5)); diff != "" {
			t.Fatalf("%s of %s filter %s limit %d %v: engine (-) and memory (+) differ: %s",
				*in.KeyConditionExpression, *in.IndexName, aws.ToString(in.FilterExpression), *in.Limit, in.ExpressionAttributeValues, diff)
		}
		if len(want.LastEvaluatedKey) == 0 || len(got.LastEvaluatedKey) == 0 {
			return
		}
		in.ExclusiveStartKey = got.LastEvaluatedKey
	}
}

// answer is the relevant part of an answer. If nothing more follows, an engine may or may not
// report that: both are allowed.
type answer struct {
	Items        []string
	Looked, Kept int32
	Units        float64
}

func seen(out *dynamodb.QueryOutput) answer {
	a := answer{Looked: out.ScannedCount, Kept: out.Count, Units: aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)}
	if a.Looked == 0 {
		a.Units = 0.5 // as Dynoxide reports and AWS bills; DynamoDB Local reports nothing
	}
	for _, it := range out.Items {
		names := map[string]string{}
		for name, value := range it {
			names[name] = text(value)
		}
		a.Items = append(a.Items, fmt.Sprint(names))
	}
	return a
}

// anyCall draws a call as plans and the other ways make it.
func anyCall(r *rand.Rand, comments []comment.Comment) *dynamodb.QueryInput {
	c := comments[r.IntN(len(comments))]
	partition := []layout.Partition{
		{Index: layout.All},
		{Index: layout.ByLang, Language: c.Language},
		{Index: layout.ByRating, Rating: c.Rating},
		{Index: layout.ByLangAndRating, Language: c.Language, Rating: c.Rating},
	}[r.IntN(4)]
	filter := comment.Filter{Languages: commenttest.Languages[:r.IntN(3)]}
	for rating := 1; rating <= comment.MaxRating; rating++ {
		if r.IntN(2) == 0 {
			filter.Ratings = append(filter.Ratings, rating)
		}
	}
	var from *comment.Position
	if r.IntN(2) == 0 {
		from = new(comments[r.IntN(len(comments))].ID.Position())
	}
	in := plainInput(partition, "42", filter, from, 1+r.IntN(60))
	in.ScanIndexForward = aws.Bool(r.IntN(2) == 0)
	return in
}

// A call that the table does not support is refused, so that no measurement relies on a wrong
// answer.
func TestTableRefusesWhatItDoesNotKnow(t *testing.T) {
	table := NewTable(Generate(3, 1))
	for _, row := range []struct {
		why    string
		change func(*dynamodb.QueryInput)
	}{
		{"no such index", func(in *dynamodb.QueryInput) { in.IndexName = aws.String("byAuthor") }},
		{"the key of another index", func(in *dynamodb.QueryInput) { in.IndexName = aws.String(string(layout.ByLang)) }},
		{"no limit", func(in *dynamodb.QueryInput) { in.Limit = nil }},
		{"another condition of the key", func(in *dynamodb.QueryInput) {
			in.KeyConditionExpression = aws.String("A = :p AND begins_with(PK, :p)")
		}},
		{"another filter", func(in *dynamodb.QueryInput) { in.FilterExpression = aws.String("r > :p") }},
	} {
		in := plainInput(layout.Partition{Index: layout.All}, generatedProduct, comment.Filter{}, nil, 5)
		if out, err := table.Query(t.Context(), in); err != nil || out.Count != 3 {
			t.Fatalf("%v, %v", out, err)
		}
		row.change(in)
		if out, err := table.Query(t.Context(), in); err == nil {
			t.Errorf("%s: answered with %d items", row.why, out.Count)
		}
	}
}

// A megabyte ends an answer before its limit does, counted before the filter. The rest follows.
func TestTableEndsAnAnswerAfterAMegabyte(t *testing.T) {
	comments := Generate(8, 1)
	random := commenttest.Rand(t)
	for i := range comments {
		comments[i].Text = commenttest.Large(random, "", 255<<10).Text
	}
	table := NewTable(comments)
	in := plainInput(layout.Partition{Index: layout.All}, generatedProduct, comment.Filter{Languages: []comment.Language{"xx"}}, nil, 100)
	for _, looked := range []int32{5, 3} {
		out, err := table.Query(t.Context(), in)
		if err != nil || out.ScannedCount != looked || out.Count != 0 || (out.LastEvaluatedKey == nil) != (looked == 3) {
			t.Fatalf("looked at %d, kept %d, goes on at %v, %v; want to have looked at %d", out.ScannedCount, out.Count, out.LastEvaluatedKey, err, looked)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
