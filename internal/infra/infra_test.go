package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// root is the root of the repository.
const root = "../.."

// What is committed is what would be generated.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for path, generate := range files() {
		want := must.Get(generate())(t)
		if got, err := os.ReadFile(filepath.Join(root, path)); !bytes.Equal(got, want) {
			t.Errorf("%s is not what the definition of the table makes of it (%v): run make generate", path, err)
		}
	}
}

// cfn-lint finds nothing in the templates, that of SAM transformed.
func TestTemplatesAreValid(t *testing.T) {
	linter := provisiontest.Fetched(t, "the check of templates for CloudFormation", ".cache/cfn-lint/bin/cfn-lint")
	run := exec.Command(linter, "table.json", "count.json", "api.json", "sam.json")
	run.Dir = filepath.Join(root, "infra")
	if said, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// By default the table outlives its stack, and one that takes its place, and can be restored.
func TestTableIsKept(t *testing.T) {
	raw := must.Get(cloudFormation())(t)
	var template struct {
		Parameters map[string]struct{ Default string }
		Resources  struct {
			Comments struct {
				DeletionPolicy, UpdateReplacePolicy string
				Properties                          struct {
					DeletionProtectionEnabled        map[string]string
					PointInTimeRecoverySpecification struct{ PointInTimeRecoveryEnabled map[string]string }
				}
			}
		}
	}
	must.Do(t, json.Unmarshal(raw, &template))
	table := template.Resources.Comments
	if table.DeletionPolicy != "Retain" || table.UpdateReplacePolicy != "Retain" {
		t.Errorf("the table is lost with its stack: %+v", table)
	}
	for _, by := range []map[string]string{table.Properties.DeletionProtectionEnabled, table.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled} {
		if template.Parameters[by["Ref"]].Default != "true" {
			t.Errorf("a protection is off by default: %v", by)
		}
	}
}

// Every parameter of the whole that a part has too is handed on to it, with the same default.
func TestWholeHandsParametersOn(t *testing.T) {
	type template struct {
		Parameters map[string]struct{ Default any }
		Resources  map[string]struct {
			Properties struct {
				Location   string
				Parameters map[string]any
			}
		}
	}
	read := func(name string) (out template) {
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(root, "infra", name)))(t), &out))
		return out
	}
	whole := read("sam.json")
	for _, part := range whole.Resources {
		for name, parameter := range read(part.Properties.Location).Parameters {
			if given, known := whole.Parameters[name]; known && (part.Properties.Parameters[name] == nil || given.Default != parameter.Default) {
				t.Errorf("sam.json does not hand %s on to %s, or has another default", name, part.Properties.Location)
			}
		}
	}
}

// Functions, what invokes the counting one, and alarms have the same settings by CloudFormation as
// by Terraform.
func TestBothHaveTheSameSettings(t *testing.T) {
	upper, setting := regexp.MustCompile(`\B[A-Z]`), regexp.MustCompile(`\b(\w+) += ("[^"]*"|\[[^\n]*\]|[\w-]+)[,\n]`)
	short := map[string]string{"metric_name": "metric", "evaluation_periods": "periods", "treat_missing_data": "missing"}
	apart := map[string]bool{"Code": true, "AlarmDescription": true, "ComparisonOperator": true, "Dimensions": true, "AlarmActions": true, "OKActions": true}
	for _, row := range []struct{ template, resource, module, from, to string }{
		{"count.json", "Function", "count.tf", `"aws_lambda_function" "count"`, "\n}\n"},
		{"count.json", "Mapping", "count.tf", `"aws_lambda_event_source_mapping" "stream"`, "\n}\n"},
		{"count.json", "Schedule", "count.tf", `"aws_scheduler_schedule" "count"`, "\n}\n"},
		{"count.json", "FailuresAlarm", "alarms.tf", " failures = {", "\n      }\n"},
		{"count.json", "LagAlarm", "alarms.tf", " lag = {", "\n      }\n"},
		{"api.json", "Function", "api.tf", `"aws_lambda_function" "api"`, "\n}\n"},
		{"api.json", "BusyAlarm", "alarms.tf", " busy = {", "\n      }\n"},
	} {
		var template struct {
			Resources map[string]struct{ Properties map[string]any }
		}
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(root, "infra", row.template)))(t), &template))
		_, block, _ := strings.Cut(string(must.Get(os.ReadFile(filepath.Join(root, "infra", "terraform", row.module)))(t)), row.from)
		block, _, _ = strings.Cut(block, row.to)
		module := map[string]string{}
		for _, found := range setting.FindAllStringSubmatch(block+"\n", -1) {
			module[found[1]] = found[2]
		}
		for property, value := range template.Resources[row.resource].Properties {
			if _, nested := value.(map[string]any); nested || apart[property] {
				continue
			}
			name := strings.ToLower(upper.ReplaceAllString(property, "_$0"))
			got, want := cmp.Or(module[short[name]], module[name]), string(must.Get(json.Marshal(value))(t))
			if got != want {
				t.Errorf("%s of %s is %s in %s, and %s in %s", property, row.resource, want, row.template, got, row.module)
			}
		}
	}
}

// The commands in the guide name files, parameters and outputs that exist.
func TestCommandsOfTheGuide(t *testing.T) {
	guide := doctest.Read(t, "docs/operate/aws.md").Text
	for _, path := range regexp.MustCompile(`\binfra/[a-z./-]+[a-z]`).FindAllString(guide, -1) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("the guide names %s: %v", path, err)
		}
	}
	templates := regexp.MustCompile(`(?s)deploy --template(?:-file)? (\S+)(.*?)\n[^ ]`)
	for _, command := range templates.FindAllStringSubmatch(guide, -1) {
		template := must.Get(os.ReadFile(filepath.Join(root, command[1])))(t)
		for _, parameter := range regexp.MustCompile(`\b([A-Z][A-Za-z]+)=`).FindAllStringSubmatch(command[2], -1) {
			if !bytes.Contains(template, []byte(`"`+parameter[1]+`": {`)) {
				t.Errorf("the guide gives %s the parameter %s, which it lacks", command[1], parameter[1])
			}
		}
	}
	variables := must.Get(os.ReadFile(filepath.Join(root, "infra", "terraform", "variables.tf")))(t)
	_, table, _ := strings.Cut(guide, "\n| variable | default | meaning |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[1:] {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			if !bytes.Contains(variables, []byte(`variable "`+name[1]+`" {`)) {
				t.Errorf("the guide names the variable %s, which the module lacks", name[1])
			}
		}
	}
}

// What templates and the example set are variables that the program reads.
func TestVariablesExist(t *testing.T) {
	configuration := doctest.Read(t, "docs/operate/configure.md").Text
	for _, path := range []string{"count.json", "api.json", "terraform/count.tf", "terraform/api.tf", "terraform/examples/shop/main.tf"} {
		text := must.Get(os.ReadFile(filepath.Join(root, "infra", path)))(t)
		for _, name := range regexp.MustCompile(`TALKBACK_[A-Z_]*[A-Z]`).FindAllString(string(text), -1) {
			if name != "TALKBACK_FUNCTION" && !strings.Contains(configuration, "`"+name+"`") {
				t.Errorf("infra/%s sets %s, which docs/operate/configure.md does not have", path, name)
			}
		}
	}
}

// The same program makes the same archive, from which Lambda can run it.
func TestArchiveIsReproducible(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	must.Do(t, os.WriteFile(program, []byte("a program"), 0o600))
	var archives [2][]byte
	for i := range archives {
		path := filepath.Join(folder, "archive.zip")
		must.Do(t, pack(program, path))
		archives[i] = must.Get(os.ReadFile(path))(t)
	}
	packed := must.Get(zip.NewReader(bytes.NewReader(archives[0]), int64(len(archives[0]))))(t)
	if f := packed.File[0]; f.Name != "bootstrap" || f.Mode() != 0o755 || !bytes.Equal(archives[0], archives[1]) {
		t.Errorf("%s has mode %v, and both archives are equal: %v", f.Name, f.Mode(), bytes.Equal(archives[0], archives[1]))
	}
}
