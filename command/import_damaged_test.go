package command_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/imports"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Each item of an import that was damaged by hand is named with the cure and without its values, and other imports are
// listed. An import or an undo of such a name is refused.
func TestDamagedImports(t *testing.T) {
	t.Parallel()
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	if _, err := imports.NewRegistry(a.session.Client, a.session.Table).Begin(t.Context(), "well"); err != nil {
		t.Fatal(err)
	}
	const address = "ada@shop.example"
	damaged := map[string]layout.Item{
		"empty":    {},
		"text":     {"n": layout.Text(address), "b": layout.Number(1)},
		"zero":     {"n": layout.Number(0), "b": layout.Number(1)},
		"negative": {"n": layout.Number(7), "b": layout.Number(1), "w": layout.Number(-5)},
		"large":    {"n": layout.Number(8), "b": layout.Text(strings.Repeat(address, 300<<10/len(address)))},
	}
	for name, item := range damaged {
		for attribute, value := range layout.Key("IMPORTS", "N#"+name) {
			item[attribute] = value
		}
		if _, err := a.session.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(a.session.Table), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	a.names(1, damaged, "IMPORTS/N#", "repair their items", "import", "--list")
	if _, out, _ := a.talkback("import", "--list"); !strings.Contains(out, "well") {
		t.Errorf("the import that is not damaged is not listed:\n%s", out)
	}
	for name, item := range damaged {
		a.names(1, map[string]layout.Item{name: item}, "IMPORTS/N#", "repair the item", "import", "--undo", name, "--yes")
	}
}
