package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// template is the part of infra/count.json that these tests check.
type template struct {
	Parameters map[string]struct{ Default any }
	Resources  struct {
		Function struct {
			Properties struct {
				Handler       string
				Architectures []string
				Environment   struct{ Variables map[string]any }
			}
		}
		Mapping struct {
			Properties struct {
				StartingPosition           string
				BatchSize                  int
				ParallelizationFactor      int
				FunctionResponseTypes      []string
				BisectBatchOnFunctionError bool
				MaximumRetryAttempts       int
				MaximumRecordAgeInSeconds  int
				DestinationConfig          map[string]any
				FilterCriteria             struct{ Filters []struct{ Pattern string } }
			}
		}
		Schedule struct {
			Properties struct {
				ScheduleExpression string
				Target             struct{ Input map[string]string }
			}
		}
		FailuresAlarm, LagAlarm alarm
	}
}

// alarm is an alarm of CloudWatch.
type alarm struct {
	Properties struct {
		Period, EvaluationPeriods int
		TreatMissingData          string
		AlarmActions, OKActions   []map[string]any
	}
}

// scheduledItem is what the schedule writes.
func (f template) scheduledItem(t *testing.T) map[string]types.AttributeValue {
	t.Helper()
	var input struct{ Item map[string]struct{ S string } }
	must.Do(t, json.Unmarshal([]byte(f.Resources.Schedule.Properties.Target.Input["Fn::Sub"]), &input))
	written := map[string]types.AttributeValue{}
	for attribute, value := range input.Item {
		written[attribute] = &types.AttributeValueMemberS{Value: value.S}
	}
	return written
}

func readTemplate(t *testing.T) template {
	t.Helper()
	raw := must.Get(os.ReadFile("../../infra/count.json"))(t)
	var out template
	must.Do(t, json.Unmarshal(raw, &out))
	return out
}

// The template has the settings that the function relies on.
func TestTemplate(t *testing.T) {
	resources := readTemplate(t).Resources
	f, m := resources.Function.Properties, resources.Mapping.Properties
	for why, holds := range map[string]bool{
		"the program is named as `make lambda` names it":     f.Handler == "bootstrap",
		"it is built for this processor":                     slices.Equal(f.Architectures, []string{"arm64"}),
		"the program reads this variable":                    f.Environment.Variables["TALKBACK_TABLE"] != nil,
		"OpenTelemetry reads this one":                       f.Environment.Variables["OTEL_EXPORTER_OTLP_ENDPOINT"] != nil,
		"no record is skipped at the start":                  m.StartingPosition == "TRIM_HORIZON",
		"records come one batch at a time, in their order":   m.ParallelizationFactor == 1 && m.BatchSize > 0,
		"reports are understood":                             slices.Equal(m.FunctionResponseTypes, []string{"ReportBatchItemFailures"}),
		"a batch on which the function dies is split":        m.BisectBatchOnFunctionError,
		"a table in trouble has time to recover":             m.MaximumRetryAttempts == -1,
		"Lambda gives a batch up before the stream drops it": m.MaximumRecordAgeInSeconds > 0 && m.MaximumRecordAgeInSeconds < 24*60*60,
		"a batch that Lambda gives up goes to a destination": m.DestinationConfig["OnFailure"] != nil,
		"the function is not invoked for its own writes":     len(m.FilterCriteria.Filters) == 1,
	} {
		if !holds {
			t.Errorf("not so: %s", why)
		}
	}
}

// Alarms notify the topic, if there is one. Missing data raises the lag alarm, since the schedule
// produces data all the time. It does not raise the failures alarm, since it means an empty queue.
func TestAlarms(t *testing.T) {
	file := readTemplate(t)
	if file.Parameters["AlarmTopic"].Default != "" {
		t.Error("the template has no parameter AlarmTopic that can be left out")
	}
	notify := []map[string]any{{"Fn::If": []any{"HasAlarmTopic", map[string]any{"Ref": "AlarmTopic"}, map[string]any{"Ref": "AWS::NoValue"}}}}
	for name, test := range map[string]struct {
		alarm   alarm
		missing string
	}{
		"FailuresAlarm": {file.Resources.FailuresAlarm, "notBreaching"},
		"LagAlarm":      {file.Resources.LagAlarm, "breaching"},
	} {
		got := test.alarm.Properties
		check.Equal(t, [][]map[string]any{notify, notify}, [][]map[string]any{got.AlarmActions, got.OKActions}, name, "does not notify the topic")
		if got.TreatMissingData != test.missing {
			t.Errorf("%s takes missing data for %s, want %s", name, got.TreatMissingData, test.missing)
		}
	}
	lag := file.Resources.LagAlarm.Properties
	if every := file.Resources.Schedule.Properties.ScheduleExpression; every != "rate(5 minutes)" || lag.Period*lag.EvaluationPeriods < 2*5*60 {
		t.Errorf("at %s, %d s without a report is no alarm", every, lag.Period*lag.EvaluationPeriods)
	}
}

// The filter passes only the records of comments, of votes and of the schedule's item. The table
// has comments, one with a vote, counts and an idempotency key.
func TestFilter(t *testing.T) {
	client, table := countedTable(t)
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: readTemplate(t).scheduledItem(t)}))(t)
	var pattern map[string]any
	must.Do(t, json.Unmarshal([]byte(readTemplate(t).Resources.Mapping.Properties.FilterCriteria.Filters[0].Pattern), &pattern))
	page := must.Get(client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), ProjectionExpression: aws.String("PK,SK")}))(t)
	kinds := map[string]bool{}
	for _, key := range page.Items {
		pk, sk := key["PK"].(*types.AttributeValueMemberS).Value, key["SK"].(*types.AttributeValueMemberS).Value
		record := map[string]any{"eventName": "INSERT", "dynamodb": map[string]any{
			"Keys": map[string]any{"PK": map[string]any{"S": pk}, "SK": map[string]any{"S": sk}},
		}}
		_, isVote := layout.VoteSlice(key)
		if wanted := strings.HasPrefix(pk, "C#") && sk == "C" || isVote || pk == "STREAM#SCHEDULE"; matches(pattern, record) != wanted {
			t.Errorf("item %s %s: the filter passes it: %v", pk, sk, !wanted)
		}
		kinds[pk[:strings.Index(pk, "#")+1]+sk[:1]] = true
	}
	if want := []string{"C#C", "C#V", "KEY#K", "P#M", "P#S", "STREAM#S"}; !containsAll(kinds, want) {
		t.Errorf("the table holds only %v, this proves little", kinds)
	}
}

// newTable makes a table.
func newTable(t *testing.T) (client *dynamodb.Client, table string) {
	t.Helper()
	client, table = call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	return client, table
}

// countedTable is a table with comments, a vote about one, their statistics and a key.
func countedTable(t *testing.T) (*dynamodb.Client, string) {
	t.Helper()
	client, table := newTable(t)
	store := dynamo.NewStore(client, table, dynamo.Options{})
	var records []stream.Record
	for i, c := range commenttest.Many(commenttest.Rand(t), "mug", 20) {
		key := ""
		if i == 0 {
			key = "a key"
		}
		must.Get(store.Add(t.Context(), c, key))(t)
		if i == 0 {
			vote := comment.CastVote{By: "a customer", Vote: comment.Helpful, At: c.CreatedAt()}
			must.Do(t, store.SetVote(t.Context(), c.ID, comment.CastVote{}, vote))
		}
		output, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "C#" + c.ID.Position().String()}, "SK": &types.AttributeValueMemberS{Value: "C"},
		}})
		must.Do(t, err)
		records = append(records, stream.Record{Position: stream.PositionOf("l", string(rune('1'+i))), New: output.Item})
	}
	must.Do(t, counts.NewCounter(client, table, counts.CounterOptions{}).Handle(t.Context(), records))
	return client, table
}

// The schedule's item changes no counts, and is no consumer's heartbeat.
func TestScheduleCountsAsNothing(t *testing.T) {
	client, table := newTable(t)
	written := readTemplate(t).scheduledItem(t)
	counter := counts.NewCounter(client, table, counts.CounterOptions{})
	record := stream.Record{Position: stream.PositionOf("l", "2"), Keys: written, New: written}
	if err := counter.Handle(t.Context(), []stream.Record{record}); err != nil {
		t.Errorf("it is counted: %v", err)
	}
	if sent, ok := leases.NewLeases(client, table).HeartbeatOf(record); ok {
		t.Errorf("a consumer takes it for its own heartbeat: %v", sent)
	}
}

// matches reports whether a record passes a filter pattern of Lambda's. It supports fields and
// lists of allowed texts and prefixes.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
func matches(pattern, record map[string]any) bool {
	for field, want := range pattern {
		switch want := want.(type) {
		case map[string]any:
			inner, ok := record[field].(map[string]any)
			if !ok || !matches(want, inner) {
				return false
			}
		case []any:
			text, _ := record[field].(string)
			if !slices.ContainsFunc(want, func(allowed any) bool {
				rule, _ := allowed.(map[string]any)
				prefix, isPrefix := rule["prefix"].(string)
				return allowed == record[field] || isPrefix && strings.HasPrefix(text, prefix)
			}) {
				return false
			}
		}
	}
	return true
}

func containsAll(set map[string]bool, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(name string) bool { return !set[name] })
}

// `make lambda` builds what the template names.
func TestMakefileBuildsTheHandler(t *testing.T) {
	raw := must.Get(os.ReadFile("../../Makefile"))(t)
	if !bytes.Contains(raw, []byte("GOOS=linux GOARCH=arm64 go build $(LEAN) -trimpath -tags lambda.norpc,grpcnotrace -ldflags '-s -w' -o bin/bootstrap ./cmd/talkback-lambda")) {
		t.Error("the Makefile builds something else")
	}
}
