package command

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/talkback/talkback/dynamo"
)

// shape checks that the table can be reached, and is complete: its state, indexes, stream and
// settings. On AWS, it also checks deletion protection. there is false if nothing else about the
// table can be checked.
func (e examiner) shape(ctx context.Context, onAWS bool) (all []finding, there bool) {
	output, err := e.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(e.Table)})
	switch {
	case errors.As(err, new(*types.ResourceNotFoundException)):
		missing := &dynamo.MissingTableError{Table: e.Table, Existing: dynamo.TableNames(ctx, e.Client)}
		if onAWS {
			missing.Region = e.Client.Options().Region
		}
		return []finding{problem("table", missing, ": ")}, false // the existing tables may follow an earlier colon
	case err != nil:
		return []finding{e.refused("DescribeTable", resultProblem, err)}, false
	}
	all = append(all, permitted("DescribeTable"), clockOf(output.ResultMetadata))
	all = append(all, checkState(output.Table)...)
	if err := dynamo.CheckTable(ctx, e.Client, e.Table); err != nil {
		return append(all, problem("table", err, "; ")), false
	}
	all = append(all, newFinding("table", resultOK, "%q has the key, indexes, attributes and stream that it needs", e.Table))
	if onAWS && !aws.ToBool(output.Table.DeletionProtectionEnabled) {
		all = append(all, newFinding("deletion protection", resultWarning, "off: a mistake can delete all comments").
			cured("aws dynamodb update-table --table-name %s --deletion-protection-enabled", e.Table))
	}
	all = append(all, e.layout(ctx))
	return append(all, e.timeToLive(ctx)...), true
}

// layout checks that this program supports the layout of the table's items.
func (e examiner) layout(ctx context.Context) finding {
	const check = "layout"
	err := dynamo.CheckLayout(ctx, e.Client, e.Table)
	switch {
	case err == nil:
		return newFinding(check, resultOK, "its items have layout %d, which this program knows", dynamo.LayoutVersion)
	case denied(err):
		return e.refused("GetItem", resultProblem, err)
	case len(failedCalls(err)) > 0:
		found := e.refused("GetItem", resultProblem, err)
		found.Check = check
		return found
	}
	return problem(check, err, ": ")
}

// problem returns an error as a problem. Its cure is what follows the last separator.
func problem(check string, err error, separator string) finding {
	found, cure := err.Error(), "see to this first, then run talkback doctor again"
	if at := strings.LastIndex(found, separator); at >= 0 {
		found, cure = found[:at], found[at+len(separator):]
	}
	return newFinding(check, resultProblem, "%s", found).cured("%s", cure)
}

// clockOf compares clocks using the metadata of an answer.
func clockOf(metadata middleware.Metadata) finding {
	said, dated := awsmiddleware.GetServerTime(metadata)
	came, received := awsmiddleware.GetResponseAt(metadata)
	if !dated || !received || said.IsZero() {
		return newFinding("clock", resultUnknown, "the engine's answers do not say what time it is")
	}
	return checkClock(said, came)
}

// checkState checks that a table and its indexes are ready.
func checkState(table *types.TableDescription) []finding {
	var all []finding
	if status := table.TableStatus; status != types.TableStatusActive && status != types.TableStatusUpdating {
		all = append(all, newFinding("table", resultProblem, "its state is %s", status).cured("wait until it is ACTIVE"))
	}
	for _, index := range table.GlobalSecondaryIndexes {
		status := index.IndexStatus
		if status != types.IndexStatusActive && status != types.IndexStatusUpdating {
			all = append(all, newFinding("index "+aws.ToString(index.IndexName), resultProblem, "its state is %s, so pages may lack comments", status).
				cured("wait until it is ACTIVE"))
		}
	}
	return all
}

// timeToLive checks that the table deletes expired items.
func (e examiner) timeToLive(ctx context.Context) []finding {
	const check = "time to live"
	on, err := dynamo.DropsExpired(ctx, e.Client, e.Table)
	switch {
	case err != nil && denied(err):
		return []finding{e.refused("DescribeTimeToLive", resultWarning, err)}
	case len(failedCalls(err)) > 0:
		return []finding{newFinding(check, resultProblem, "%s", e.Words(err))}
	case err != nil: // it is on for another attribute
		return []finding{problem(check, err, ": ")}
	case !on:
		return []finding{newFinding(check, resultWarning, "off: the table keeps expired items, and grows").
			cured("restart talkback serve or talkback stream: they switch it on when they start, if they may (dynamodb:UpdateTimeToLive)")}
	}
	return []finding{permitted("DescribeTimeToLive"), newFinding(check, resultOK, "the table deletes expired items")}
}

const (
	// dateStep is the resolution of the header Date.
	dateStep = time.Second
	// countsAllow is how far clocks may differ: docs/design/watermarks.md.
	countsAllow = 2 * time.Second
	// signaturesAllow is the clock difference at which AWS refuses signatures.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
	signaturesAllow = 5 * time.Minute
)

// checkClock compares the time in an answer's Date header with the time when it arrived.
func checkClock(said, came time.Time) finding {
	const check = "clock"
	off, direction := came.Sub(said.Add(dateStep)), "ahead of"
	if came.Before(said) {
		off, direction = said.Sub(came), "behind"
	}
	switch {
	case off <= 0:
		return newFinding(check, resultOK, "agrees with the table's, within a second")
	case off <= countsAllow:
		return newFinding(check, resultOK, "%v %s the table's", off.Round(time.Millisecond), direction)
	case off <= signaturesAllow:
		return newFinding(check, resultWarning, "%v %s the table's: new comments get wrong times", off.Round(time.Second), direction).
			cured("set the clock of this machine, by NTP for example")
	}
	return newFinding(check, resultProblem, "%v %s the table's: AWS refuses requests with such a time", off.Round(time.Second), direction).
		cured("set the clock of this machine, by NTP for example")
}
