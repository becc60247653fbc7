package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// local has Terraform speak to a local engine alone.
const local = `
provider "aws" {
  region                      = "local"
  access_key                  = "local"
  secret_key                  = "local"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true

  endpoints {
    dynamodb = %q
  }
}
`

// The module is well-formed and valid, its own tests pass, its example is valid, and the table that
// it makes is one that the program takes. By the commands of docs/operate/backup.md it takes over a
// table that DynamoDB restored, with what is in it.
func TestTerraform(t *testing.T) {
	plugins := pluginFolder(t)
	endpoint := dynamotest.Dynoxide(t)
	folder := filepath.Join(t.TempDir(), "infra", "terraform")
	must.Do(t, os.CopyFS(folder, os.DirFS(filepath.Join(root, "infra", "terraform"))))
	terraform := func(in string, arguments ...string) {
		t.Helper()
		run := exec.Command("terraform", arguments...)
		run.Dir = filepath.Join(folder, in)
		// Each run loads the large schema of the provider: collecting garbage less often takes a quarter
		// off.
		run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "GOGC=400"}
		if said, err := run.CombinedOutput(); err != nil {
			t.Fatalf("terraform %s: %v\n%s", strings.Join(arguments, " "), err, said)
		}
	}
	initialize := []string{"init", "-backend=false", "-input=false", "-no-color", "-plugin-dir=" + plugins}
	terraform("", "fmt", "-check", "-diff", "-recursive", "-no-color")
	terraform("", initialize...)
	terraform("", "test", "-no-color")
	terraform("examples/shop", initialize...)
	terraform("examples/shop", "validate", "-no-color")

	table, restored := dynamotest.TableName(t), dynamotest.TableName(t)
	must.Do(t, os.WriteFile(filepath.Join(folder, "provider.tf"), fmt.Appendf(nil, local, endpoint), 0o600))
	client := call.NewLocalClient(endpoint)
	apply := func(table string) {
		t.Helper()
		// The local engine knows no point-in-time recovery, and no other service.
		terraform("", "apply", "-auto-approve", "-input=false", "-no-color", "-var=table_name="+table, "-var=alarms=false", "-var=point_in_time_recovery=false")
		if err := dynamo.CheckTable(t.Context(), client, table); err != nil {
			t.Error(err)
		}
		if on, err := dynamo.DropsExpired(t.Context(), client, table); !on || err != nil {
			t.Errorf("the table keeps expired items: %v", err)
		}
	}
	apply(table)

	bare := layout.Definition(restored)
	bare.StreamSpecification = nil
	must.Get(client.CreateTable(t.Context(), bare))(t)
	must.Do(t, dynamo.NoteLayout(t.Context(), client, restored))
	guide, address := doctest.Read(t, "docs/operate/backup.md").Text, "aws_dynamodb_table.comments"
	for _, command := range []string{"state rm module.talkback.", "import module.talkback."} {
		if !strings.Contains(guide, "\nterraform "+command+address) {
			t.Errorf("the guide lacks terraform %s%s", command, address)
		}
	}
	terraform("", "state", "rm", address)
	terraform("", "import", "-input=false", "-no-color", "-var=table_name="+restored, address, restored)
	apply(restored)
	must.Get(client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}))(t) // it is still there
	key := layout.Key("SETTINGS", "LAYOUT")
	if got := must.Get(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &restored, Key: key}))(t); got.Item == nil {
		t.Error("the restored table was replaced by an empty one")
	}
}

// pluginFolder returns the folder of a mirror of providers, as `terraform providers mirror` makes
// it. Without Terraform or a mirror the test is left out even where the environment variable CI is
// set, for no registry that `make provision` asks has them.
func pluginFolder(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skip("left out: the Terraform suite: terraform is not on PATH")
	}
	for _, folder := range []string{os.Getenv("TF_PLUGIN_DIR"), "/opt/tf-plugins"} {
		if _, err := os.Stat(filepath.Join(folder, "registry.terraform.io", "hashicorp", "aws")); err == nil && folder != "" {
			return folder
		}
	}
	t.Skip("left out: the Terraform suite: there is no mirror of the AWS provider in /opt/tf-plugins, or in the folder that TF_PLUGIN_DIR names")
	return ""
}
