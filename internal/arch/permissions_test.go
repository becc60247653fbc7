package arch

import (
	"encoding/json"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	dynamoPath  = module + "/dynamo"
	commandPath = module + "/command"
	lambdaPath  = module + "/cmd/talkback-lambda"
	sdkPath     = "github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// What the documents and templates allow is what the code calls, no less and no more.
func TestPermissions(t *testing.T) {
	p := loadProgram(t, dependenciesOf(t, commandPath, lambdaPath)...)
	t.Run("role of the function", func(t *testing.T) {
		want := map[string]string{"sqs:SendMessage": "Failures"} // what is given up on goes there
		for _, action := range actionsIn(p.reach(p.function(t, lambdaPath+".main"))) {
			want["dynamodb:"+action] = "table/${TableName}"
		}
		// Lambda itself reads the stream, as this role.
		// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
		for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator"} {
			want["dynamodb:"+action] = "StreamArn"
		}
		want["dynamodb:ListStreams"] = `"*"`
		if diff := cmp.Diff(want, granted(t, "../../infra/lambda.json", want)); diff != "" {
			t.Errorf("infra/lambda.json grants other actions than the function takes (-takes +granted):\n%s", diff)
		}
	})
	t.Run("doctor tries what a server does", func(t *testing.T) {
		commands := actionsOfCommands(t, p)
		for _, action := range commands["serve"] {
			if !slices.Contains(commands["doctor"], action) {
				t.Errorf("talkback doctor does not try %s", action)
			}
		}
	})
	t.Run("table in docs/operate/aws.md", func(t *testing.T) {
		if diff := cmp.Diff(actionsOfCommands(t, p), documented(t)); diff != "" {
			t.Errorf("docs/operate/aws.md lists other actions than the commands take (-takes +listed):\n%s", diff)
		}
	})
}

// dependenciesOf are packages and those of this module that they depend on.
func dependenciesOf(t *testing.T, paths ...string) []string {
	t.Helper()
	all := slices.Clone(paths)
	for _, p := range packages(t) {
		if slices.Contains(paths, p.ImportPath) {
			all = append(all, slices.DeleteFunc(p.Deps, func(d string) bool { return !strings.HasPrefix(d, module+"/") })...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// granted are the actions that the policies of a template allow, each with what it is allowed on:
// the part of the resource that is wanted, or the whole of another.
func granted(t *testing.T, template string, wanted map[string]string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Resources map[string]struct {
			Properties struct {
				Policies []struct {
					PolicyDocument struct {
						Statement []struct{ Action, Resource json.RawMessage }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, statement := range parsed.Resources["Role"].Properties.Policies[0].PolicyDocument.Statement {
		for _, action := range regexp.MustCompile(`[a-z]+:[A-Za-z*]+`).FindAllString(string(statement.Action), -1) {
			out[action] = string(statement.Resource)
			if strings.Contains(out[action], wanted[action]) {
				out[action] = wanted[action]
			}
		}
	}
	return out
}

// actionsOfCommands are the actions that each command takes, as docs/operate/aws.md names it. What
// only a flag or a mistake asks for has a row of its own.
func actionsOfCommands(t *testing.T, p program) map[string][]string {
	create := p.function(t, dynamoPath+".CreateTable")
	existing := p.function(t, dynamoPath+".TableNames")
	sample := p.function(t, commandPath+".loadSample")
	out := map[string][]string{
		"--create-table":      actionsIn(p.reach(create)),
		"the name is unknown": actionsIn(p.reach(existing)),
		"--sample-data":       actionsIn(p.reach(sample)),
		"serve --no-count":    actionsIn(p.reach(p.function(t, "(*"+commandPath+".Serve).Handler"))),
	}
	for _, name := range []string{"Serve", "Stream", "Import", "Export", "Rebuild", "Verify", "Show", "Stats", "Explain", "Doctor", "Author"} {
		run := p.function(t, "(*"+commandPath+"."+name+").Run")
		out[strings.ToLower(name)] = actionsIn(p.reach(run, create, existing, sample))
	}
	return out
}

// documented are the actions that the table in docs/operate/aws.md lists. A row may be of several
// commands.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/operate/aws.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\n| for | actions of `dynamodb:` |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	code, action := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile("`([A-Za-z]+)`")
	out := map[string][]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		var actions []string
		for _, action := range action.FindAllStringSubmatch(cells[2], -1) {
			actions = append(actions, action[1])
		}
		slices.Sort(actions)
		names := code.FindAllStringSubmatch(cells[1], -1)
		if names == nil {
			names = [][]string{{"", strings.TrimSpace(cells[1])}}
		}
		for _, name := range names {
			out[name[1]] = actions
		}
	}
	return out
}

// actionsIn are the actions of IAM that code takes by calling DynamoDB and its streams. A call of the SDK is known by the type
// that it takes. A transaction takes the actions of what it consists of.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func actionsIn(code map[types.Object]bool) []string {
	actions := map[string]bool{}
	for object := range code {
		switch o := object.(type) {
		case *types.Func:
			if name := callOf(o); name != "" && !strings.HasPrefix(name, "Transact") {
				actions[name] = true
			}
		case *types.Var:
			if action := inTransaction[o.Name()]; o.IsField() && action != "" && strings.HasPrefix(o.Pkg().Path(), sdkPath) {
				actions[action] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(actions))
}

// inTransaction are the fields of types.TransactWriteItem and types.TransactGetItem, and the action
// that each takes.
var inTransaction = map[string]string{
	"Get":            "GetItem",
	"Put":            "PutItem",
	"Update":         "UpdateItem",
	"Delete":         "DeleteItem",
	"ConditionCheck": "ConditionCheckItem",
}

// callOf is the name of the call that a method makes, of the SDK's client or of an interface that the client satisfies.
func callOf(f *types.Func) string {
	params := f.Signature().Params()
	if f.Signature().Recv() == nil || params.Len() < 2 {
		return ""
	}
	pointer, _ := params.At(1).Type().(*types.Pointer)
	if pointer == nil {
		return ""
	}
	input, _ := pointer.Elem().(*types.Named)
	if input == nil || input.Obj().Name() != f.Name()+"Input" || !strings.HasPrefix(input.Obj().Pkg().Path(), sdkPath) {
		return ""
	}
	return f.Name()
}
