package arch

import (
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

const (
	dynamoPath  = module + "/dynamo"
	commandPath = module + "/command"
	lambdaPath  = module + "/cmd/talkback-lambda"
	sdkPath     = "github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// The documents and templates allow exactly the actions that the code calls.
func TestPermissions(t *testing.T) {
	p := loadProgram(t, dependenciesOf(t, commandPath, lambdaPath)...)
	t.Run("role of the counting function", func(t *testing.T) {
		want := map[string]bool{"sqs:SendMessage": true} // the dead-letter queue gets records given up on
		for _, action := range actionsIn(p.reach(p.function(t, lambdaPath+".newFunction"))) {
			want["dynamodb:"+action] = true
		}
		// Lambda itself reads the stream, as this role.
		// https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
		for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"} {
			want["dynamodb:"+action] = true
		}
		compareGrants(t, want, "count")
	})
	t.Run("role of the function that answers", func(t *testing.T) {
		want := map[string]bool{}
		for _, action := range actionsIn(p.reach(p.function(t, "(*"+commandPath+".Serve).Handler"))) {
			want["dynamodb:"+action] = true
		}
		compareGrants(t, want, "api")
	})
	commands := actionsOfCommands(t, p)
	t.Run("doctor tries what a server does", func(t *testing.T) {
		for _, action := range commands["serve"] {
			if !slices.Contains(commands["doctor"], action) {
				t.Errorf("talkback doctor does not try %s", action)
			}
		}
	})
	t.Run("table in docs/operate/aws.md", func(t *testing.T) {
		if diff := cmp.Diff(commands, documented(t)); diff != "" {
			t.Errorf("docs/operate/aws.md lists other actions than the commands take (-takes +listed):\n%s", diff)
		}
	})
}

// dependenciesOf returns packages with their dependencies in this module.
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

// compareGrants compares the actions of a function, beside writing its log, with those granted to
// its role. The template grants them, and so does the policy of the same name in the Terraform
// module.
func compareGrants(t *testing.T, want map[string]bool, function string) {
	t.Helper()
	want["logs:CreateLogStream"], want["logs:PutLogEvents"] = true, true
	template := read(t, "../../infra/"+function+".json")
	role := between(template, `"Role": {`, `"Function": {`)
	module := between(read(t, "../../infra/terraform/"+function+".tf"), `"aws_iam_role_policy" "`+function+`"`, "\n}\n") +
		between(read(t, "../../infra/terraform/functions.tf"), `"aws_iam_role_policy" "logs"`, "\n}\n")
	for where, policies := range map[string]string{"infra/" + function + ".json": role, "infra/terraform": module} {
		got := map[string]bool{}
		for _, action := range regexp.MustCompile(`"((?:dynamodb|sqs|logs|s3|kms|lambda):[A-Za-z*]+)"`).FindAllStringSubmatch(policies, -1) {
			got[action[1]] = true
		}
		if everywhere := len(regexp.MustCompile(`Resource"?\s*[:=]\s*"\*"`).FindAllString(policies, -1)); want["dynamodb:ListStreams"] != (everywhere == 1) || everywhere > 1 {
			t.Errorf("%s grants the function %s something on everything: only ListStreams has no resource of its own", where, function)
		}
		if indexes := strings.Contains(policies, "/index/*"); indexes != (function == "api") {
			t.Errorf("%s lets the function %s query the table's indexes: %v; only the one that answers does", where, function, indexes)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s grants the function %s other actions than it takes (-takes +granted):\n%s", where, function, diff)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}

// actionsOfCommands are the actions of each command, as docs/operate/aws.md names it. Actions that
// only a flag or a mistake needs have a row of their own.
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
	for _, name := range []string{"Serve", "Stream", "Import", "Export", "Rebuild", "Verify", "Show", "Stats", "Explain", "Doctor", "Author", "Hooks"} {
		run := p.function(t, "(*"+commandPath+"."+name+").Run")
		out[strings.ToLower(name)] = actionsIn(p.reach(run, create, existing, sample))
	}
	return out
}

// documented are the actions in the table of docs/operate/aws.md. A row may be for several
// commands.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	table := between(read(t, "../../docs/operate/aws.md"), "\n| for | actions of `dynamodb:` |\n|---|---|\n", "\n\n")
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

// actionsIn returns the IAM actions that code needs to call DynamoDB and its streams. A call of the
// SDK is recognized by its input type. A transaction needs the actions of its parts.
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

// inTransaction maps the fields of types.TransactWriteItem and types.TransactGetItem to their
// actions.
var inTransaction = map[string]string{
	"Get":            "GetItem",
	"Put":            "PutItem",
	"Update":         "UpdateItem",
	"Delete":         "DeleteItem",
	"ConditionCheck": "ConditionCheckItem",
}

// callOf returns the name of the call that a method of the SDK's client makes, or one of an
// interface that the client satisfies.
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
