package main

import (
	"bytes"
	_ "embed"
	"strings"
	"text/template"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
)

//go:embed table.tf.tmpl
var tableTemplate string

// terraform returns the table as a Terraform resource.
func terraform() ([]byte, error) {
	funcs := template.FuncMap{
		"partition": func(keys []types.KeySchemaElement) string { return *keys[0].AttributeName },
		"sort":      func(keys []types.KeySchemaElement) string { return *keys[1].AttributeName },
		"quoted":    func(names []string) string { return `"` + strings.Join(names, `", "`) + `"` },
	}
	parsed, err := template.New("table.tf").Funcs(funcs).Parse(tableTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, struct{ Table, Expiry, Indexes any }{layout.Definition(""), layout.TimeToLive("").TimeToLiveSpecification, indexNames()})
	return out.Bytes(), err
}
